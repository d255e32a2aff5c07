// Pages for tests, made by code:
//
//   const page = makePage({ spans: 3000 });                 a report and its columns
//   const [data] = openBytes(encodeData(page.data));        as the page sees them
//   writeFileSync("report.html", fillPage(template, page)); to look at
//
// The numbers of its pages are those of its spans. Everything can be changed before it is encoded.
import type { Field, Layout, Page, ProfileReport, Report, Values } from "../../src/data/report";
import type { ColumnInput, PageInput, ProfileInput } from "./encode";
import { kinds, makeMachine, type Machine } from "./machine";

export interface FixtureOptions {
  seed?: number;
  cores?: number;
  spans?: number;
  ops?: number;
  hertz?: number | null;
  title?: string;
  rename?: (name: string) => string;  // every name of the profile: hostile ones
}

const opKinds = ["MatMul", "Conv2d", "Add", "Softmax", "ForceFormat_Crouton", "DmaLoad"];
export const pathReasons = ["start", "data", "memory reuse", "transfer", "order", "flow", "unit"];

interface Ops {
  strings: string[];
  columns: ColumnInput[];
  kindOf: Int32Array;
}

class Strings {
  readonly all: string[] = [""];
  private places = new Map<string, number>([["", 0]]);

  constructor(private readonly rename: (name: string) => string) {}

  add(name: string): number {
    let place = this.places.get(name);
    if (place === undefined) {
      place = this.all.length;
      this.places.set(name, place);
      this.all.push(this.rename(name));
    }
    return place;
  }
}

function makeOps(count: number, rename: (name: string) => string): Ops {
  const strings = new Strings(rename);
  const column = (): Int32Array => new Int32Array(count);
  const [name, kind, node, shape, types, layer, rowKind, rowLayer] = Array.from({ length: 8 }, column);
  for (let i = 0; i < count; ++i) {
    const of = i % opKinds.length;
    const depth = Math.floor((i * 4) / count);
    name[i] = strings.add(`${opKinds[of]}_${i}`);
    kind[i] = strings.add(`q::${opKinds[of]}`);
    node[i] = strings.add(`/model/layers.${depth}/${opKinds[of]}_${i}`);
    shape[i] = strings.add(`1x${64 << (i % 3)}x128`);
    types[i] = strings.add(i % 2 ? "u8" : "u8, i32");
    layer[i] = strings.add(`layers.${depth}`);
    rowKind[i] = of;
    rowLayer[i] = depth;
  }
  const each = Int32Array.from({ length: count }, (_, i) => i);
  const none = new Int32Array(count).fill(-1);
  const columns = Object.entries({ name, kind, node, shape, types, layer, row_op: each, row_node: each, row_part: none,
                                   row_kind: rowKind, row_layer: rowLayer, row_rule: none })
    .map(([key, values]): ColumnInput => ({ name: `op.${key}`, values }));
  return { strings: strings.all, columns, kindOf: rowKind };
}

const isWork = (kind: number): boolean => kinds[kind] === "op" || kinds[kind] === "transfer";

// Work per row of the ops that `row` counts.
function workBy(machine: Machine, rows: number, row: (op: number) => number): number[] {
  const work = new Array<number>(rows).fill(0);
  const { spans } = machine;
  for (let i = 0; i < spans.count; ++i) {
    if (spans.op[i] >= 0 && isWork(spans.kind[i])) work[row(spans.op[i])] += spans.duration[i];
  }
  return work;
}

function opsPage(by: string, names: string[], work: number[]): Page {
  const total = work.reduce((a, b) => a + b, 0);
  const fields: Field[] = [
    { key: by, label: by, format: "name" },
    { key: "work_share_of_all", label: "share", format: "share" },
    { key: "work", label: "work", format: "ticks" },
  ];
  const rows = names.map((name, i): Values => ({ [by]: name, work: work[i], work_share_of_all: total > 0 ? work[i] / total : null }));
  return { command: `npuscope ops --by ${by} fixture`, scope: "one inference: the median of the 2 after the first", values: { ops: { by, work_total: total, row_count: rows.length, rows } },
           layout: [{ key: "ops", title: `OPS by ${by}`, facts: [{ key: "work_total", label: "work", format: "ticks" }], fields, parts: [] }] };
}

function showPage(wall: number, hertz: number | null): Page {
  const latency: Layout = {
    key: "latency", title: "LATENCY, median of 2 after the first", facts: [], parts: [],
    fields: [{ key: "part", label: "part", format: "name" }, { key: "warm_median_seconds", label: "warm", format: "seconds" },
             { key: "cold_seconds", label: "cold", format: "seconds" }],
  };
  const about: Layout = {
    key: "about", title: "ABOUT", parts: [], fields: [],
    facts: [{ key: "version", label: "versions", format: "name" }, { key: "device", label: "device", format: "name" },
            { key: "graph", label: "graph", format: "name" }, { key: "inferences", label: "inferences", format: "count" }],
  };
  const wallLayout: Layout = { key: "wall", title: "WHERE THE TIME GOES", parts: [],
    facts: [{ key: "ticks", label: "wall", format: "ticks" }],
    fields: [{ key: "part", label: "part", format: "name" }, { key: "ticks", label: "time", format: "ticks" },
             { key: "share_of_wall", label: "of wall", format: "share" }] };
  const seconds = hertz === null ? null : wall / hertz;
  return { command: "npuscope show fixture", scope: "all 3 inferences together", layout: [about, latency, wallLayout], values: {
    about: { version: "OP_TRACE 1.1.0", device: "HTP", graph: "model", inferences: 3 },
    latency: { warm_median_seconds: 0.0024395, cold_seconds: 0.003907, row_count: 2, rows: [
      { part: "call", warm_median_seconds: 0.0024395, cold_seconds: 0.003907, seconds: null },
      { part: "graph", warm_median_seconds: 0.00001888, cold_seconds: 0.0000863, seconds: null }] },
    wall: { ticks: wall, seconds, row_count: 2, rows: [
      { part: "compute_alone", ticks: wall * 0.75, share_of_wall: 0.75 }, { part: "idle", ticks: wall * 0.25, share_of_wall: 0.25 }] } } };
}

// The path goes from unit to unit: the first work there that starts after the step before.
function steps(machine: Machine): ColumnInput[] {
  const { spans, units } = machine;
  const found: number[][] = [];
  const cursors = units.map((unit) => unit.first_span);
  let time = 0;
  for (let turn = 0; turn < 5000 && units.length > 0; ++turn) {
    const u = turn % units.length;
    const unit = units[u];
    if (unit.parent < 0 || unit.spans === 0) continue;
    let i = cursors[u];
    const end = unit.first_span + unit.spans;
    while (i < end && (spans.start[i] < time || !isWork(spans.kind[i]))) ++i;
    cursors[u] = i;
    if (i === end) break;
    found.push([i, spans.op[i], u, spans.start[i], spans.duration[i], spans.start[i] - time, found.length === 0 ? 0 : 1 + (turn % 6)]);
    time = spans.start[i] + spans.duration[i];
  }
  return ["span", "op", "unit", "start", "duration", "gap", "reason"]
    .map((name, i) => ({ name: `step.${name}`, values: found.map((step) => step[i]), delta: name === "start" }));
}

// A chain of nodes, one for each step of the path, each behind the one before.
function nodes(pathSteps: ColumnInput[]): ColumnInput[] {
  const [, op, unit, start, duration] = pathSteps.map((column) => Array.from(column.values));
  const count = op.length;
  const each = <T>(value: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => value(i));
  return Object.entries({
    "node.kind": each(() => 0), "node.op": op, "node.unit": unit, "node.row": each((i) => i), "node.start": start,
    "node.end": each((i) => start[i] + duration[i]), "node.delay": each(() => 0), "node.unit_before": each(() => -1),
    "node.unit_latency": each(() => 0), "node.links": each((i) => (i > 0 ? 1 : 0)),
    "link.from": each((i) => i - 1).slice(1), "link.reason": each(() => 1).slice(1),
    "link.latency": each((i) => (i > 0 ? start[i] - start[i - 1] - duration[i - 1] : 0)).slice(1),
    "link.part": each(() => -1).slice(1),
  }).map(([name, values]) => ({ name, values }));
}

function flows(machine: Machine): ColumnInput[] {
  const from: number[] = [];
  const to: number[] = [];
  const engines = machine.units.filter((unit) => unit.parent >= 0 && unit.spans > 1);
  engines.slice(1).forEach((unit, i) => {
    const before = engines[i];
    for (let k = 0; k + 1 < Math.min(20, unit.spans, before.spans); ++k) {
      from.push(before.first_span + k);
      to.push(unit.first_span + k + 1);
    }
  });
  return [{ name: "flow.from", values: from }, { name: "flow.to", values: to }];
}

function bandwidth(length: number): ProfileInput["bandwidth"] {
  const buckets = 100;
  const bytes = (phase: number): number[] =>
    Array.from({ length: buckets }, (_, i) => Math.round(1e6 * (1 + Math.sin(i / 7 + phase))));
  return { begin: 0, width: Math.ceil(length / buckets), routes: [{ name: "DDR read", bytes: bytes(0) }, { name: "DDR write", bytes: bytes(2) }] };
}

function profileData(machine: Machine, ops: Ops, opCount: number): ProfileInput {
  const { spans, length } = machine;
  const cut = <T extends Float64Array | Int32Array>(values: T): T => values.subarray(0, spans.count) as T;
  const ones = new Int32Array(spans.count).fill(1);
  const pathSteps = steps(machine);
  const edges = Array.from({ length: Math.max(0, opCount - 1) }, (_, i) => i);
  return {
    begin: "7997466066676", length: spans.count > 0 ? length : 0,
    timeline_begin: 0, timeline_length: spans.count > 0 ? length : 0, flows_left_out: 0, span_total: spans.count, merged_spans: 0, merge_ticks: 0,
    strings: ops.strings, kinds, reasons: pathReasons, units: machine.units, counters: machine.counters,
    bandwidth: spans.count > 0 ? bandwidth(length) : null, path_left_out: spans.count > 0 ? "" : "no spans",
    wall: length, path_begin: 0,
    columns: [
      { name: "span.start", values: cut(spans.start), after: "span.duration" },
      { name: "span.duration", values: cut(spans.duration), encoding: "varint" },
      { name: "span.op", values: cut(spans.op), delta: true },
      { name: "span.kind", values: cut(spans.kind) },
      { name: "span.count", values: ones },
      { name: "span.active", values: cut(spans.duration) },
      { name: "span.bytes", values: cut(spans.bytes) },
      ...ops.columns,
      { name: "edge.from", values: edges }, { name: "edge.to", values: edges.map((i) => i + 1) },
      { name: "edge.kind", values: edges.map((i) => (i % 7 === 3 ? 1 : 0)) },
      ...flows(machine),
      { name: "counter.time", values: machine.counterTimes }, { name: "counter.value", values: machine.counterValues },
      ...pathSteps, ...nodes(pathSteps),
      { name: "finding.of", values: [0, 1] }, { name: "finding.unit", values: [-1, machine.units.length - 1] },
      { name: "finding.begin", values: [0, length / 2] }, { name: "finding.end", values: [length / 10, (length * 3) / 4] },
    ],
  };
}

export function makeProfile(options: FixtureOptions = {}): { report: ProfileReport; data: ProfileInput } {
  const { seed = 1, cores = 2, spans = 3000, ops: opCount = 60, hertz = null, title = "fixture: an invented run", rename = (name) => name } = options;
  const machine = makeMachine({ seed, cores, spans, ops: Math.max(1, opCount) });
  const ops = makeOps(opCount, rename);
  for (const unit of machine.units) {
    unit.name = rename(unit.name);
    unit.path = rename(unit.path);
  }
  const opNames = Array.from(ops.columns[0].values, (place) => ops.strings[place]);
  const report: ProfileReport = {
    title: rename(title), files: [rename("fixture.json")], format: "invented run",
    clock: { name: "PCYCLE", kind: hertz === null ? "unit_cycles" : "timer", unit: hertz === null ? "cycles" : "ticks", hertz },
    clocks: [{ name: "PCYCLE", kind: hertz === null ? "unit_cycles" : "timer", unit: hertz === null ? "cycles" : "ticks", hertz }],
    partial: false, scope: "all 3 inferences together", selection: null, verdict: rename("98.5 % of a warm call is outside the NPU"),
    cautions: [rename("one cold, instrumented inference: read order and overlap from its ops, not latency")],
    pages: {
      show: showPage(machine.length, hertz),
      ops_op: opsPage("op", opNames, workBy(machine, opCount, (op) => op)),
      ops_kind: opsPage("kind", opKinds.map((kind) => rename(`q::${kind}`)), workBy(machine, opKinds.length, (op) => ops.kindOf[op])),
    },
    missing_pages: { memory: "no bytes were recorded" },
    notes: [{ severity: "info", file: "fixture.json", offset: 0, count: 1, message: rename("an invented run") }],
  };
  return { report, data: profileData(machine, ops, opCount) };
}

export function makePage(...profiles: FixtureOptions[]): PageInput {
  const made = (profiles.length > 0 ? profiles : [{}]).map(makeProfile);
  const report: Report = {
    schema_version: 1, npuscope: "0.1.0", command: "report", arguments: ["npuscope", "report", "fixture.json", "-o", "report.html"],
    profiles: made.map((one) => one.report), comparison: null, fleet: null, notes: [],
  };
  return { report, data: made.map((one) => one.data) };
}
