// What the timeline leaves out, as sentences.
import type { ProfileReport, ProfileDataHead } from "../data/report";
import { numberText, ticksWithUnit } from "../format/format";

export function remarksOf(report: ProfileReport, head: ProfileDataHead): string[] {
  const out: string[] = [];
  if (head.coarse === true) return out;  // for a moment
  if (head.merged_spans > 0) {
    const shorter = head.merge_ticks > 0 ? ` shorter and closer together than ${ticksWithUnit(report.clock, head.merge_ticks)}` : "";
    out.push(`${numberText(head.merged_spans)} of ${numberText(head.span_total)} spans${shorter} are merged into stretches, drawn as strong as the share in which one of them was active.`);
  }
  if (head.flows_left_out > 0) out.push(`${numberText(head.flows_left_out)} flows are left out.`);
  return out;
}
