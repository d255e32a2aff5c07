// What `npuscope fleet` says of a store, as spreads of groups, a trend along builds, and pages by their question.
import type { Field, FleetReport, Page } from "../data/report";
import { find, number, sectionsOf, text, type Row, type Section } from "../section/section";

// "npuscope fleet latency fleet.db --by device" is of the question "latency", by "device".
export const questionOf = (page: Page): string => page.command.split(" ")[2] ?? "";

export const pagesOf = (fleet: FleetReport, question: string): Page[] => fleet.pages.filter((page) => questionOf(page) === question);

// Latency of one group of runs; quantities are in the unit of the field.
export interface Spread {
  name: string;
  runs: number;
  p50: number;
  p90: number;
  p99: number;
  min: number;
  max: number;
}

export interface Spreads {
  section: Section;
  field: Field;     // how a quantity is printed
  by: string[];     // "device"
  rows: Spread[];   // in the order of the page: the slowest first
}

const groupFields = (section: Section): Field[] => section.fields.filter((field) => field.key.startsWith("by_"));

const nameOf = (row: Row, by: readonly Field[]): string =>
  by.map((field) => (row[field.key] === null || row[field.key] === undefined ? "not known" : String(row[field.key]))).join(", ");

// Null where the page has no groups with a median.
export function spreadsOf(page: Page): Spreads | null {
  const section = find(sectionsOf(page), "latency");
  if (section === null) return null;
  const by = groupFields(section);
  const field = section.fields.find((each) => each.key === "p50");
  if (field === undefined || by.length === 0) return null;
  const rows = section.rows.flatMap((row): Spread[] => {
    const p50 = number(row.p50);
    if (p50 === null) return [];
    const p90 = number(row.p90) ?? p50;
    const p99 = number(row.p99) ?? p90;
    return [{ name: nameOf(row, by), runs: number(row.runs) ?? 0, p50, p90, p99, min: number(row.min) ?? p50, max: number(row.max) ?? p99 }];
  });
  return rows.length === 0 ? null : { section, field, by: by.map((each) => each.label), rows };
}

// The scale of a drawing of spreads: from the fastest to the slowest, a twentieth wider.
export function reachOfSpreads(rows: readonly Spread[]): [number, number] {
  const low = Math.min(...rows.map((row) => row.min));
  const high = Math.max(...rows.map((row) => row.max));
  const room = high > low ? (high - low) / 20 : Math.max(Math.abs(high), 1) / 20;
  return [Math.max(0, low - room), high + room];
}

// In the order of what they are by: 9 before 10, then texts.
export function inOrder(rows: readonly Spread[]): Spread[] {
  const value = (row: Spread): number => (row.name.trim() === "" ? Number.NaN : Number(row.name));
  const areNumbers = rows.every((row) => Number.isFinite(value(row)));
  return [...rows].sort((a, b) => (areNumbers ? value(a) - value(b) : a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

// Values behind which an op changes: "build 17" as the page of change points names it.
export function changesOf(page: Page | undefined): Map<string, string[]> {
  const changes = new Map<string, string[]>();
  for (const row of page === undefined ? [] : find(sectionsOf(page), "change_points")?.rows ?? []) {
    const at = String(row.first_after ?? "");
    changes.set(at, [...(changes.get(at) ?? []), text(row.name)]);
  }
  return changes;
}

// The values that runs are in order of: "build".
export function alongOf(fleet: FleetReport): string | null {
  const [points] = pagesOf(fleet, "diff");
  return points === undefined ? null : /--along (\S+)/.exec(points.command)?.[1] ?? null;
}
