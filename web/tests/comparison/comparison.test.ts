import assert from "node:assert/strict";
import { test } from "node:test";
import { comparisonTitle, gatesOf, numbersOf, reachOf, sideNames, verdictOf, waterfallOf } from "../../src/comparison/comparison";
import { comparisonPage } from "../support/comparison";

const page = comparisonPage();

test("gates have their outcome and their sentence", () => {
  assert.deepEqual(gatesOf(page).map((gate) => [gate.text, gate.outcome, gate.sentence.split(":")[0]]), [["wall > +20%", "passed", "passed"], ["latency > +5%", "failed", "failed"]]);
});

test("numbers come by unit, what did not change apart", () => {
  const [call, cycles] = numbersOf(page);
  assert.deepEqual(call.rows.map((row) => [row.name, row.a, row.b, row.low, row.high, row.samples]), [["latency, which is QNN (execute) time", 0.002, 0.0022, 0.05, 0.15, "5 and 6"]]);
  assert.deepEqual([cycles.rows.map((row) => row.name), cycles.unchanged.map((row) => row.name)], [["wall", "idle"], ["work"]]);
  assert.equal(call.field.format, "seconds");
});

test("a plot reaches as far as its intervals, but no further than three times as much", () => {
  const [, cycles] = numbersOf(page);
  assert(Math.abs(reachOf(cycles.rows) - 0.63) < 1e-9);
  assert.equal(reachOf([{ ...cycles.rows[0], high: 50 }]), 2);
  assert(reachOf([]) > 0);
});

test("the waterfall adds the differences up, the largest first", () => {
  const waterfall = waterfallOf(page, 10);
  assert.deepEqual(waterfall?.falls.map(({ name, from, to }) => [name, from, to]), [["conv_1", 0, 60], ["conv_2", 60, 30], ["pad_1", 30, 50], ["conv_3", 50, 51]]);
  assert.equal(waterfall?.total, 51);
});

test("many ops: those beyond the most are one", () => {
  const waterfall = waterfallOf(page, 3);
  assert.deepEqual(waterfall?.falls.map(({ name, delta, rows }) => [name, delta, rows]), [["conv_1", 60, 1], ["conv_2", -30, 1], ["2 other ops", 21, 2]]);
  assert.equal(waterfall?.total, 51);
});

test("the verdict is the page's", () => {
  assert.match(verdictOf(page), /^latency is more/);
});

const withSides = (a: string, b: string) => ({ ...page, values: { ...page.values, sides: { a, b } } });

test("sides are called by what sets their files apart", () => {
  assert.deepEqual(sideNames(withSides("/runs/a/chain8 (1 run, 2 samples, 1 cold inference apart)", "/runs/b/chain8 (5 runs)")), ["A: a/chain8", "B: b/chain8"]);
  assert.deepEqual(sideNames(withSides("run (2).json", "run (3).json (1 run)")), ["A: run (2).json", "B: run (3).json"]);
  assert.deepEqual(sideNames({ ...page, values: {} }), ["A", "B"]);
  assert.equal(comparisonTitle({ ...page, values: {} }), "Comparison");
});

