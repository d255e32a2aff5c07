// The tables of ops as the panel shows them: of the whole profile as the page has them, of a range
// of the timeline computed from its spans.
import type { Data } from "../data/data";
import type { Field, ProfileReport, Scalar } from "../data/report";
import { ticksWithUnit, showsTime } from "../format/format";
import type { Context } from "../panel";
import { find, sectionsOf, type Row, type Section } from "../section/section";
import type { Range } from "../state/store";
import { groupings, rowsOf, type Grouping } from "./groups";
import { rowsInRange } from "./in_range";
import { cutSpans } from "./self_times";

// Those that the profile has a table for.
export const groupingsOf = (report: ProfileReport): Grouping[] =>
  groupings.filter((grouping) => opsSection(report, grouping) !== null);

export function opsSection(report: ProfileReport, grouping: Grouping): Section | null {
  const page = report.pages[grouping.key];
  return page === undefined ? null : find(sectionsOf(page), "ops");
}

export interface OpsTable {
  fields: Field[];
  rows: Row[];
  rowCount: number;
  places: number[];     // of each row in the table of the page
  remarks: string[];
  command: string;      // that prints the same
}

export function wholeTable(report: ProfileReport, grouping: Grouping): OpsTable | null {
  const section = opsSection(report, grouping);
  if (section === null) return null;
  const { fields, rows, rowCount, remarks } = section;
  return { fields, rows, rowCount, remarks, places: rows.map((_, place) => place), command: report.pages[grouping.key].command };
}

// Fractions of ticks are the screen's.
export const wholeRange = ({ begin, end }: Range): Range => {
  const first = Math.round(begin);
  return { begin: first, end: Math.max(first + 1, Math.round(end)) };
};

export function tableInRange(context: Context, grouping: Grouping, range: Range): OpsTable | null {
  const { report, data } = context;
  const section = opsSection(report, grouping);
  if (section === null) return null;
  const window = wholeRange(range);
  const cut = cutSpans(data, window);
  const found = rowsInRange(data, cut, rowsOf(context, grouping));
  const names = section.fields.filter((field) => field.format === "name" || field.key === "layers");
  const total = found.reduce((sum, row) => sum + (row.work ?? 0), 0);
  const length = window.end - window.begin;
  const has = (key: "issue" | "waiting" | "async"): boolean => found.some((row) => row[key] !== null);
  const ticks = (key: string, label = key): Field => ({ key, label, format: "ticks", only_if_known: true });
  const fields: Field[] = [
    ...names.map((field) => ({ ...field, only_if_known: true })),
    ticks("work"), { key: "work_share_of_all", label: "of all", format: "share" },
    ...(has("issue") ? [ticks("issue")] : []),
    ...(has("waiting") ? [ticks("waiting")] : []),
    ...(has("async") ? [ticks("async")] : []),
    ticks("active"), { key: "active_share_of_range", label: "of range", format: "share" },
    { key: "instances", label: "instances", format: "count" },
  ];
  const rows = found.map((row): Row => ({
    ...Object.fromEntries(names.map((field): [string, Scalar] => [field.key, section.rows[row.row]?.[field.key] ?? null])),
    work: row.work, work_share_of_all: row.work === null || total === 0 ? null : row.work / total,
    issue: row.issue, waiting: row.waiting, async: row.async,
    active: row.active, active_share_of_range: row.active === null ? null : row.active / length,
    instances: row.instances,
  }));
  const remarks = [
    "Of the spans in the selected range, cut at its ends. work is a sum over units and may exceed the range; active counts each moment once. Numbers that spans do not carry are of the whole profile only.",
    ...(cut.merged ? ["Some spans were merged when the report was written: times near them are estimates."] : []),
  ];
  return { fields, rows, rowCount: rows.length, remarks, places: found.map((row) => row.row), command: commandInRange(context, grouping, window) };
}

// Windows of the program count from the timeline's begin. Runs that are one profile here have a window
// each there: no command says the same.
function commandInRange({ report, data }: Context, grouping: Grouping, { begin, end }: Range): string {
  if (report.files.length > 1 && data.column("span.inference").length > 0) return "";
  const first = data.head.timeline_begin;
  return `${report.pages[grouping.key].command} --from ${begin - first}ticks --to ${end - first}ticks`;
}

// "12,000 to 15,000 (3,000 cycles)", from the begin of the timeline on, as the command below has it.
export function rangeText(report: ProfileReport, data: Data, range: Range): string {
  const whole = wholeRange(range), first = data.head.timeline_begin;
  const [begin, end] = [whole.begin - first, whole.end - first];
  const { clock } = report;
  const one = (ticks: number): string => (showsTime(clock) ? ticksWithUnit(clock, ticks) : ticks.toLocaleString("en"));
  return `${one(begin)} to ${one(end)} (${ticksWithUnit(clock, end - begin)})`;
}
