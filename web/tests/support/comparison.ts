// The page of a comparison, as `npuscope diff` has it, with few rows.
import type { Field, Layout, Page, Values } from "../../src/data/report";

const field = (key: string, label: string, format: Field["format"] = "name"): Field => ({ key, label, format });
const estimates = (format: Field["format"]): Field[] => [
  field("a", "A", format), field("b", "B", format), field("delta", "delta", format), field("change", "change", "change"),
  field("change_interval", "95 % interval"), field("change_low", "", "change"), field("change_high", "", "change"),
  field("delta_low", "", format), field("delta_high", "", format), field("p", "p", "number"), field("samples_a", "", "count"), field("samples_b", "", "count"),
];
const numbers = (key: string, title: string, format: Field["format"], more: Field[]): Layout => ({
  key, title, facts: [field("unit", "")], in_list: true, fields: [field("name", "number"), ...more, ...estimates(format), field("verdict", "verdict")],
  parts: [{ key: "unchanged", title: "", facts: [], fields: [field("name", ""), ...estimates(format).map((each) => ({ ...each, label: "" })), field("verdict", "")], parts: [] }],
});

export const comparisonLayout = (calls: string[], numbersIn: string[], hasGates = true): Layout[] => [
  { key: "sides", title: "", fields: [], parts: [], facts: [field("a", "A"), field("b", "B"), field("verdict", "verdict")] },
  ...(hasGates ? [{ key: "gates", title: "GATES", facts: [], parts: [], fields: [field("gate", ""), field("outcome", "")] }] : []),
  { key: "cautions", title: "CAUTIONS", facts: [], fields: [], parts: [] },
  ...calls.map((unit) => numbers("call", `WARM CALL in ${unit}`, "seconds", [field("source", "which is")])),
  ...numbersIn.map((unit) => numbers("numbers", `NUMBERS in ${unit}`, unit === "seconds" ? "seconds" : "number", [field("kind", "kind")])),
  { key: "ops", title: "OPS by node cycles, in cycles", parts: [], facts: [field("rows_by_change", "rows"), field("matched_by", "matched")],
    fields: [field("change_of", "change"), field("name", "op"), field("kernel", "kernel"), ...estimates("number"), field("note", "note")] },
];

const estimate = (a: number, b: number, low: number | null, high: number | null, verdict: string): Values => ({
  a, b, delta: b - a, change: a === 0 ? null : b / a - 1, change_interval: low === null || high === null ? null : `${(100 * low).toFixed(1)} … +${(100 * high).toFixed(1)} %`,
  change_low: low, change_high: high, delta_low: null, delta_high: null, p: low === null ? null : 0.012, samples_a: 5, samples_b: 6, verdict,
});

export function comparisonPage(): Page {
  const op = (change: string, name: string, a: number, b: number): Values => ({ change_of: change, name, kernel: "q::Conv", note: null, ...estimate(a, b, null, null, "") });
  return {
    command: "npuscope diff a b", scope: null, layout: comparisonLayout(["seconds"], ["cycles"]),
    values: {
      sides: { a: "a (5 runs)", b: "b (6 runs)", verdict: "latency is more: 2.000 ms -> 2.200 ms, +10.0 %" },
      gates: { row_count: 2, rows: [{ gate: "wall > +20%", outcome: "passed" }, { gate: "latency > +5%", outcome: "failed" }],
               remarks: ["passed: wall grew by 8.0 %, at most 20 % is allowed", "failed: latency grew by 10.0 %, at most 5 % is allowed", "One gate has no noise rule."] },
      cautions: { remarks: ["Some runs are cold."] },
      call: [{ unit: "seconds", row_count: 1, rows: [{ name: "latency", source: "QNN (execute) time", cold: false, ...estimate(0.002, 0.0022, 0.05, 0.15, "more") }] }],
      numbers: [{ unit: "cycles", unchanged_count: 1, row_count: 2, rows: [{ name: "wall", kind: "wall", ...estimate(1000, 1080, 0.03, 0.12, "more") }, { name: "idle", kind: "active", ...estimate(100, 60, -0.6, -0.2, "less") }],
                  unchanged: { row_count: 1, rows: [{ name: "work", kind: "work", ...estimate(900, 900, null, null, "same") }] } }],
      ops: { rows_by_change: "2 slower, 1 faster, 1 added", matched_by: "3 by name", row_count: 4,
             rows: [op("slower", "conv_1", 100, 160), op("faster", "conv_2", 90, 60), op("added", "pad_1", 0, 20), op("slower", "conv_3", 10, 11)] },
    },
  };
}
