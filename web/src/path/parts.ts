// What a path is made of, and what its steps are coloured by.
import type { ProfileReport } from "../data/report";
import { find, number, sectionsOf, text } from "../section/section";
import type { Step } from "./schedule";

export interface Moved {
  name: string;
  before: number;  // ticks on the path
  after: number;
}

// Time on the path by op, before and after, the most first.
export function movedOps(before: readonly Step[], after: readonly Step[], nameOf: (op: number) => string): Moved[] {
  const rows = new Map<string, Moved>();
  const row = (name: string): Moved => {
    let found = rows.get(name);
    if (found === undefined) rows.set(name, (found = { name, before: 0, after: 0 }));
    return found;
  };
  for (const step of before) row(nameOf(step.op)).before += step.duration;
  for (const step of after) row(nameOf(step.op)).after += step.duration;
  return [...rows.values()].filter((each) => each.before !== 0 || each.after !== 0)
    .sort((a, b) => b.after - a.after || b.before - a.before);
}

// The parts of the path, which add up to the wall, out of page "path".
export function partsOf(report: ProfileReport): { label: string; ticks: number; share: number }[] {
  const page = report.pages.path;
  const section = page === undefined ? null : find(sectionsOf(page), "parts");
  return (section?.rows ?? []).map((row) => ({ label: text(row.part), ticks: number(row.time) ?? 0, share: number(row.share_of_wall) ?? 0 }));
}

// Names of custom properties.
export const engineColour = (engine: string): string => `--engine-${engine}`;
export const gapColour = (reason: string): string =>
  reason === "DMA wait" ? "--wait-dma" : reason === "barrier" ? "--wait-barrier" : "--wait";
