// Checks, notes and what the page does not hold.
import type { Data } from "../data/data";
import type { Note, ProfileReport } from "../data/report";
import { ticksWithUnit } from "../format/format";
import { find, sectionsOf, text, type Section } from "../section/section";

export interface Check {
  name: string;
  outcome: string;
  detail: string;
}

export function checksOf(report: ProfileReport): Check[] {
  const page = report.pages.show;
  const section: Section | null = page === undefined ? null : find(sectionsOf(page), "checks");
  const rank = (check: Check): number => (check.outcome === "passed" ? 2 : check.outcome === "failed" ? 0 : 1);
  return (section?.rows ?? []).map((row) => ({ name: text(row.name), outcome: text(row.outcome), detail: text(row.detail) }))
    .sort((a, b) => rank(a) - rank(b));
}

const severities = ["error", "warning", "info"];

export const sortedNotes = (notes: readonly Note[]): Note[] =>
  [...notes].sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity));

// What the profile or the page lacks, a sentence each.
export function lossesOf(report: ProfileReport, data: Data): string[] {
  const losses: string[] = [];
  const { head } = data;
  if (report.partial) losses.push("The profile is partial: records that its files held are missing.");
  if (head.merged_spans > 0) {
    losses.push(`${head.merged_spans.toLocaleString("en")} of ${head.span_total.toLocaleString("en")} spans are part of a merged one: those shorter and closer together than ${ticksWithUnit(report.clock, head.merge_ticks)}. Tables and findings were made of all spans.`);
  }
  if (head.path_left_out !== "") losses.push(`No what-if: ${head.path_left_out}`);
  for (const [page, why] of Object.entries(report.missing_pages)) losses.push(`No ${page.replace(/^ops_/, "ops by ")}: ${why}`);
  return losses;
}
