// A comparison (what `npuscope diff` prints) as gates, numbers with intervals, and a waterfall of ops.
import type { Field, Page, Scalar } from "../data/report";
import { tabTitles } from "../frame/tabs";
import { shownName } from "../format/format";
import { fact, find, isKnown, number, sectionsOf, text, type Section } from "../section/section";

// What the two sides are called: what sets their files apart. "A" and "B" where the page does not say.
export function sideNames(page: Page): [a: string, b: string] {
  const sides = find(sectionsOf(page), "sides");
  const files = [text(fact(sides, "a")), text(fact(sides, "b"))].map((side) => side.replace(/ \([^()]*\)$/, ""));
  if (files.some((file) => file === "")) return ["A", "B"];
  const [a, b] = tabTitles(files);
  return [`A: ${shownName(a, 40)}`, `B: ${shownName(b, 40)}`];
}

export const hasNames = ([a]: readonly [string, string]): boolean => a !== "A";

export function comparisonTitle(page: Page): string {
  const names = sideNames(page);
  return hasNames(names) ? names.join(" · ") : "Comparison";
}

// Fields that are labelled A and B, with the names.
export const withNames = (fields: readonly Field[], [a, b]: readonly [string, string]): Field[] =>
  fields.map((field) => (field.key === "a" && field.label === "A" ? { ...field, label: a } : field.key === "b" && field.label === "B" ? { ...field, label: b } : field));

export interface Gate {
  text: string;
  outcome: string;    // "passed", "failed", "inconclusive", "not judged"
  sentence: string;
}

export function gatesOf(page: Page): Gate[] {
  const section = find(sectionsOf(page), "gates");
  return (section?.rows ?? []).map((row, place) => ({ text: text(row.gate), outcome: text(row.outcome), sentence: section?.remarks[place] ?? text(row.reason) }));
}

export interface Change {
  name: string;
  a: Scalar;
  b: Scalar;
  change: number | null;     // 0.03: 3 % more
  low: number | null;        // of its 95 % interval
  high: number | null;
  interval: string;
  p: number | null;
  samples: string;           // "3 and 5"
  verdict: string;           // "same", "slower", …
  cold: boolean;
}

export interface Numbers {
  title: string;
  field: Field;              // of a and b
  rows: Change[];
  unchanged: Change[];       // shown on request
  remarks: string[];
}

// Sections "call" and "numbers", one for each unit.
export function numbersOf(page: Page): Numbers[] {
  return sectionsOf(page).filter((section) => section.key === "call" || section.key === "numbers").map((section) => ({
    title: section.title, field: fieldOf(section), rows: section.rows.map(changeOf),
    unchanged: (find(section.parts, "unchanged")?.rows ?? []).map(changeOf), remarks: section.remarks,
  })).filter((numbers) => numbers.rows.length + numbers.unchanged.length > 0);
}

const fieldOf = (section: Section): Field => section.fields.find((field) => field.key === "a") ?? { key: "a", label: "A", format: "number" };

function changeOf(row: { [key: string]: Scalar }): Change {
  const source = text(row.source);
  const [a, b] = [number(row.samples_a), number(row.samples_b)];
  return {
    name: source === "" ? text(row.name) : `${text(row.name)}, which is ${source}`,
    a: row.a ?? null, b: row.b ?? null, change: number(row.change), low: number(row.change_low), high: number(row.change_high),
    interval: text(row.change_interval), p: number(row.p), samples: a === null || b === null ? "" : `${a} and ${b}`,
    verdict: text(row.verdict), cold: row.cold === true,
  };
}

// The largest change that a plot of these has to show; intervals beyond it are cut.
export function reachOf(changes: readonly Change[]): number {
  const ends = changes.flatMap((each) => [each.change, each.low, each.high]).filter((value): value is number => value !== null && Number.isFinite(value)).map(Math.abs);
  return Math.min(2, Math.max(0.01, ...ends) * 1.05);
}

export interface Fall {
  name: string;
  kernel: string;
  change: string;      // "changed", "added", "removed"
  from: number;        // the sum before it
  to: number;          // and after
  delta: number;
  rows: number;        // that it stands for
}

export interface Waterfall {
  section: Section;
  field: Field;
  falls: Fall[];
  total: number;
}

// Of the ops that differ, the largest differences first; the others together.
export function waterfallOf(page: Page, most: number): Waterfall | null {
  const section = find(sectionsOf(page), "ops");
  if (section === null) return null;
  const rows = section.rows.filter((row) => (number(row.delta) ?? 0) !== 0)
    .sort((a, b) => Math.abs(number(b.delta) ?? 0) - Math.abs(number(a.delta) ?? 0));
  let sum = 0;
  const fall = (name: string, kernel: string, change: string, delta: number, count: number): Fall => {
    const from = sum;
    sum += delta;
    return { name, kernel, change, from, to: sum, delta, rows: count };
  };
  const listed = rows.length > most ? rows.slice(0, most - 1) : rows;
  const falls = listed.map((row) => fall(text(row.name), text(row.kernel), text(row.change_of), number(row.delta) ?? 0, 1));
  const rest = rows.slice(listed.length);
  if (rest.length > 0) falls.push(fall(`${rest.length} other ops`, "", "", rest.reduce((all, row) => all + (number(row.delta) ?? 0), 0), rest.length));
  return { section, field: fieldOf(section), falls, total: sum };
}

export const verdictOf = (page: Page): string => text(fact(find(sectionsOf(page), "sides"), "verdict"));
export const hasValues = (changes: readonly Change[]): boolean => changes.some((each) => isKnown(each.a) || isKnown(each.b));
