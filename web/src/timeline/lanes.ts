// Units as a tree of lanes: devices hold cores, cores their engines. A unit without spans is shown
// only if one below it has some.
import type { ProfileDataHead, UnitHead } from "../data/report";
import { Row } from "./row";
import { splitRows } from "./rows";
import type { Spans } from "./spans";

export interface Lane {
  readonly key: string;  // of its group when it is closed: "unit 3"
  readonly label: string;
  readonly unit: number;  // place in units; -1: a group that is no unit
  readonly engine: string;
  readonly rows: Row[];   // of its own spans
  readonly lanes: Lane[]; // below it
}

function rowsOf(unit: UnitHead, spans: Spans): Row[] {
  if (unit.spans === 0) return [];
  const split = splitRows(spans.start, spans.duration, unit.first_span, unit.spans);
  if (split === null) return [new Row(spans, unit.first_span, unit.spans, null)];
  return split.map((places) => new Row(spans, 0, 0, places));
}

function laneOf(units: readonly UnitHead[], children: number[][], place: number, spans: Spans): Lane | null {
  const lanes = devicesFirst(children[place].map((child) => laneOf(units, children, child, spans)).filter((lane) => lane !== null), units);
  const rows = rowsOf(units[place], spans);
  if (lanes.length === 0 && rows.length === 0) return null;
  const { name, path, engine } = units[place];
  return { key: `unit ${place}`, label: name || path, unit: place, engine, rows, lanes };
}

// Whether a device does anything of it, or below it: traces have a device's queues as threads.
function isOfDevice(lane: Lane, units: readonly UnitHead[]): boolean {
  return units[lane.unit]?.is_device || lane.lanes.some((below) => isOfDevice(below, units));
}

// What the NPU does is looked at first: hosts and their threads stand below it.
function devicesFirst(lanes: Lane[], units: readonly UnitHead[]): Lane[] {
  const first = new Set(lanes.filter((lane) => isOfDevice(lane, units)));
  return [...first, ...lanes.filter((lane) => !first.has(lane))];
}

// Roots of several devices, in a group for each.
function byDevice(roots: Lane[], units: readonly UnitHead[]): Lane[] {
  const outside = new Set(["host", "process", "thread", "device"]);
  const devices = new Set(roots.filter((lane) => !outside.has(lane.engine)).map((lane) => units[lane.unit].device));
  if (devices.size < 2) return roots;
  const out: Lane[] = [];
  const groups = new Map<number, Lane>();
  for (const lane of roots) {
    if (outside.has(lane.engine)) {
      out.push(lane);
      continue;
    }
    const { device } = units[lane.unit];
    let group = groups.get(device);
    if (group === undefined) {
      group = { key: `device ${device}`, label: `device ${device}`, unit: -1, engine: "device", rows: [], lanes: [] };
      groups.set(device, group);
      out.push(group);
    }
    group.lanes.push(lane);
  }
  return out;
}

// The units above a unit, that one last; empty where they do not lead to a root.
export function chain(units: readonly UnitHead[], place: number): number[] {
  const out: number[] = [];
  for (let at = place; at >= 0 && at < units.length; at = units[at].parent) {
    if (out.includes(at)) return [];
    out.unshift(at);
  }
  return out;
}

export function buildLanes(head: ProfileDataHead, spans: Spans): Lane[] {
  const children: number[][] = head.units.map(() => []);
  const roots: number[] = [];
  head.units.forEach((unit, place) => {
    // A unit that is above itself would never be reached.
    if (unit.parent >= 0 && unit.parent < head.units.length && chain(head.units, place).length > 0) children[unit.parent].push(place);
    else roots.push(place);
  });
  const lanes = roots.map((place) => laneOf(head.units, children, place, spans)).filter((lane) => lane !== null);
  return devicesFirst(byDevice(lanes, head.units), head.units);
}

export function* allLanes(lanes: readonly Lane[]): Generator<Lane> {
  for (const lane of lanes) {
    yield lane;
    yield* allLanes(lane.lanes);
  }
}
