// How busy units are, which classes of hardware work at once, and how many units: out of page
// "units".
import type { Part } from "../bar/bar";
import type { Data } from "../data/data";
import type { ProfileReport } from "../data/report";
import { ticksText } from "../format/format";
import type { Range } from "../state/store";
import { unitsInRange } from "./in_range";
import type { OverlapInRange } from "./overlap_in_range";
import { fact, find, number, sectionsOf, text, type Section } from "../section/section";

export interface UnitRow {
  name: string;
  parts: Part[];       // busy, waits, idle: they add up to the wall
  busy: number;        // share of wall
  engine: string;      // "hvx"; "" where the timeline does not name the unit
}

const columns: { key: string; label: string; colour: string }[] = [
  { key: "busy", label: "busy", colour: "fill-busy" },
  { key: "waiting_for_dma", label: "DMA wait", colour: "fill-wait-dma" },
  { key: "at_syncs", label: "sync", colour: "fill-wait" },
  { key: "at_barriers", label: "barrier", colour: "fill-barrier" },
  { key: "idle", label: "idle", colour: "fill-idle" },
];

// Work has the colour of its engine.
const enginesByPath = (data: Data): Map<string, string> => new Map(data.head.units.map((unit) => [unit.path, unit.engine]));
const colourIn = (colour: string, engine: string): string => (colour === "fill-busy" && engine !== "" ? `fill-${engine}` : colour);

export function unitRows(report: ProfileReport, data: Data): UnitRow[] {
  const section = unitsSection(report, "units");
  if (section === null) return [];
  const engines = enginesByPath(data);
  return section.rows.map((row) => {
    const engine = engines.get(text(row.unit)) ?? "";
    const parts = columns.map(({ key, label, colour }): Part => ({
      label, colour: colourIn(colour, engine), value: ticksText(report.clock, number(row[key]) ?? 0), share: number(row[`${key}_share_of_wall`]) ?? 0,
    }));
    return { name: text(row.unit), parts, busy: parts[0].share, engine };
  });
}

const keysInRange = ["busy", "dma", "sync", "barrier", "idle"] as const;

// The same of a range of the timeline, the units in the order of the page.
export function unitRowsInRange(report: ProfileReport, data: Data, range: Range): { rows: UnitRow[]; levels: Level[]; merged: boolean } {
  const found = unitsInRange(data, range);
  const length = range.end - range.begin;
  const order = new Map((unitsSection(report, "units")?.rows ?? []).map((row, place) => [text(row.unit), place]));
  const rows = found.units.map((unit): UnitRow => ({
    name: data.head.units[unit.unit].path, busy: unit.busy / length, engine: data.head.units[unit.unit].engine,
    parts: columns.map(({ label, colour }, i): Part => ({ label, colour: colourIn(colour, data.head.units[unit.unit].engine), value: ticksText(report.clock, unit[keysInRange[i]]), share: unit[keysInRange[i]] / length })),
  }));
  rows.sort((a, b) => (order.get(a.name) ?? Infinity) - (order.get(b.name) ?? Infinity) || b.busy - a.busy);
  return { rows, levels: found.levels.map((ticks, units) => levelOf(report, units, ticks, ticks / length, "range")), merged: found.merged };
}

export interface Overlap {
  classes: string[];
  // By two classes: the time in which both worked, as a share of the shorter of their active times.
  // On the diagonal: active time of the class as a share of the longest.
  cells: { share: number; title: string }[][];
}

export function overlapOf(report: ProfileReport): Overlap | null {
  const section = unitsSection(report, "overlap");
  if (section === null || section.rows.length === 0) return null;
  const active = new Map<string, number>();
  for (const row of section.rows) {
    active.set(text(row.a), number(row.active_a) ?? 0);
    active.set(text(row.b), number(row.active_b) ?? 0);
  }
  const classes = [...active].map(([name, ticks]) => ({ name, active: ticks }));
  const both = classes.map(() => classes.map(() => 0));
  const place = (name: string): number => classes.findIndex((each) => each.name === name);
  for (const row of section.rows) {
    const [a, b] = [place(text(row.a)), place(text(row.b))];
    both[a][b] = both[b][a] = number(row.both) ?? 0;
  }
  return matrixOf(report, { classes, both });
}

// Null with less than two classes.
export function matrixOf(report: ProfileReport, { classes, both }: OverlapInRange): Overlap | null {
  if (classes.length < 2) return null;
  const longest = Math.max(1e-9, ...classes.map((each) => each.active));
  const ticks = (value: number): string => ticksText(report.clock, value);
  const cell = (a: number, b: number): { share: number; title: string } => {
    const [one, other] = [classes[a], classes[b]];
    if (a === b) return { share: one.active / longest, title: `${one.name}: active ${ticks(one.active)}` };
    const share = both[a][b] / Math.max(1e-9, Math.min(one.active, other.active));
    return { share, title: `${one.name} and ${other.name}: both active ${ticks(both[a][b])}, ${(100 * share).toFixed(1)} % of the shorter` };
  };
  return { classes: classes.map(({ name }) => name), cells: classes.map((_, a) => classes.map((__, b) => cell(a, b))) };
}

export interface Level {
  units: number;
  share: number;   // of wall, or of the range
  title: string;
}

const levelOf = (report: ProfileReport, units: number, ticks: number, share: number, of: string): Level => ({
  units, share, title: `${units} ${units === 1 ? "unit" : "units"} at work: ${ticksText(report.clock, ticks)}, ${(100 * share).toFixed(1)} % of ${of}`,
});

export function concurrencyOf(report: ProfileReport): { levels: Level[]; average: number | null; max: number | null } | null {
  const section = unitsSection(report, "concurrency");
  if (section === null || section.rows.length === 0) return null;
  const byUnits = new Map(section.rows.map((row) => [number(row.units) ?? 0, row]));
  const max = Math.max(...byUnits.keys());
  const levels = Array.from({ length: max + 1 }, (_, units): Level => {
    const row = byUnits.get(units);
    return levelOf(report, units, number(row?.time) ?? 0, number(row?.share_of_wall) ?? 0, "wall");
  });
  return { levels, average: number(fact(section, "mean_while_active")), max: number(fact(section, "most")) };
}

export interface Imbalance {
  what: string;     // "2 HVX, work"
  excess: number;   // (max - mean) / mean
  min: number;
  mean: number;
  max: number;
  unit: string;
  most: string;
  least: string;
}

export function imbalanceOf(report: ProfileReport): Imbalance[] {
  const section = unitsSection(report, "imbalance");
  return (section?.rows ?? []).map((row) => ({
    what: `${text(row.parts)}, ${text(row.what)}`, excess: number(row.excess_of_mean) ?? 0,
    min: number(row.least) ?? 0, mean: number(row.mean) ?? 0, max: number(row.most) ?? 0,
    unit: text(row.unit), most: text(row.most_loaded), least: text(row.least_loaded),
  }));
}

export function unitsSection(report: ProfileReport, key: string): Section | null {
  const page = report.pages.units;
  return page === undefined ? null : find(sectionsOf(page), key);
}
