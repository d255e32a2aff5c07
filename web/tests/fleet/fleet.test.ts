import assert from "node:assert/strict";
import { test } from "node:test";
import { alongOf, changesOf, inOrder, pagesOf, reachOfSpreads, spreadsOf } from "../../src/fleet/fleet";
import { fleetReport } from "../support/fleet";

const latency = () => pagesOf(fleetReport(), "latency");

test("spreads are the groups of the page in its order", () => {
  const spreads = spreadsOf(latency()[0]);
  assert.deepEqual(spreads?.by, ["device"]);
  assert.deepEqual(spreads?.rows.map(({ name, p50, p99, min }) => [name, p50, p99, min]),
                   [["pixel-3", 0.003, 0.0035, 0.0029], ["pixel-1", 0.002, 0.0025, 0.0019], ["not known", 0.0018, 0.0018, 0.0018]]);
});

test("a group without a median is not drawn, and a page without groups has no spreads", () => {
  assert.equal(latency()[0].values.latency !== undefined, true);
  const rows = (latency()[0].values.latency as { rows: unknown[] }).rows;
  assert.equal(rows.length, 4);
  assert.equal(spreadsOf(pagesOf(fleetReport(), "ls")[0]), null);
});

test("the scale holds all spreads, with room", () => {
  const [low, high] = reachOfSpreads(spreadsOf(latency()[0])!.rows);
  assert.ok(low < 0.0018 && low > 0.0016, String(low));
  assert.ok(high > 0.0035 && high < 0.0037, String(high));
});

test("one inference has a scale, too", () => {
  const [low, high] = reachOfSpreads([{ name: "x", runs: 1, p50: 2, p90: 2, p99: 2, min: 2, max: 2 }]);
  assert.ok(low < 2 && high > 2);
});

test("builds are in the order of numbers, names in that of texts", () => {
  assert.deepEqual(inOrder(spreadsOf(latency()[1])!.rows).map((row) => row.name), ["9", "10", "11"]);
  const named = (name: string) => ({ name, runs: 1, p50: 1, p90: 1, p99: 1, min: 1, max: 1 });
  assert.deepEqual(inOrder([named("b"), named("10"), named("a")]).map((row) => row.name), ["10", "a", "b"]);
});

test("changes stand at the first value behind them", () => {
  assert.equal(alongOf(fleetReport()), "build");
  assert.deepEqual([...changesOf(pagesOf(fleetReport(), "diff")[0])], [["11", ["(whole inference)", "conv_7"]]]);
  assert.equal(changesOf(undefined).size, 0);
});
