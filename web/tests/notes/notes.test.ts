import assert from "node:assert/strict";
import { test } from "node:test";
import { checksOf, lossesOf, sortedNotes } from "../../src/notes/notes";
import type { Note } from "../../src/data/report";
import { dataOf, programOf } from "../support/program";

const [report] = programOf("qnn_htp").report.profiles;

test("checks are the page's, those that failed first", () => {
  const rows = (report.pages.show.values.checks as { rows: { name: string; outcome: string }[] }).rows;
  assert.equal(checksOf(report).length, rows.length);
  const changed = structuredClone(report);
  const checks = (changed.pages.show.values.checks as { rows: { outcome: string }[] }).rows;
  checks[checks.length - 1].outcome = "failed";
  checks[checks.length - 2].outcome = "impossible";
  assert.deepEqual(checksOf(changed).slice(0, 3).map((check) => check.outcome), ["failed", "impossible", "passed"]);
});

test("errors come before warnings", () => {
  const note = (severity: Note["severity"]): Note => ({ severity, file: "", offset: 0, count: 1, message: "" });
  assert.deepEqual(sortedNotes([note("info"), note("error"), note("warning")]).map((each) => each.severity), ["error", "warning", "info"]);
});

test("losses are sentences: partial profiles, merged spans, pages that are missing", () => {
  const plain = { ...report, missing_pages: {} };
  assert.deepEqual(lossesOf(plain, dataOf({}, {})), []);
  const losses = lossesOf({ ...report, partial: true, missing_pages: { ops_layer: "no layers" } }, dataOf({ merged_spans: 1000, span_total: 5000, merge_ticks: 12, path_left_out: "too large" }, {}));
  assert.equal(losses.length, 4);
  assert.match(losses[1], /^1,000 of 5,000 spans are part of a merged one: those shorter and closer together than 12 cycles\./);
  assert.deepEqual(losses.slice(2), ["No what-if: too large", "No ops by layer: no layers"]);
});
