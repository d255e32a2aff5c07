import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { opsMatching, patternOf, unitsMatching } from "../../src/path/choose";
import { pathGraph } from "../../src/path/graph";
import { observedPath } from "../../src/path/observed";
import { movedOps } from "../../src/path/parts";
import { observedSteps, WhatIf } from "../../src/path/what_if";
import { contextOf, programNames, programOf } from "../support/program";

for (const name of programNames) {
  const program = programOf(name);

  test(`${name}: the path of the graph is the one that was observed, step by step`, async () => {
    const { data } = await contextOf(program);
    const graph = pathGraph(data);
    assert(graph !== null);
    const kept = ({ start, duration, gap, reason, op, unit }: ReturnType<typeof observedSteps>[0]) => ({ start, duration, gap, reason, op, unit });
    assert.deepEqual(observedSteps(graph).map(kept), observedPath(data).map(kept));
  });

  for (const { pattern, times, answer } of program.whatIf) {
    test(`${name}: path --faster ${pattern}=${times} to the last tick`, async () => {
      const { report, data } = await contextOf(program);
      const graph = pathGraph(data);
      const isUnit = pattern.startsWith("unit:");
      const found = patternOf(isUnit ? pattern.slice(5) : pattern);
      assert(graph !== null && typeof found !== "string");
      const whatIf = new WhatIf(graph, { ops: isUnit ? new Set() : opsMatching(data, found), units: isUnit ? unitsMatching(data, found) : new Set() });
      const factor = times === "0" ? 0 : 1 / Number(times.slice(0, -1));
      const got = whatIf.answer(factor);
      assert.deepEqual([got.before, got.after, got.gain, got.takenOffPath], [answer.wall_before, answer.wall_after, answer.gain, answer.taken_off_path]);
      if (factor < 1) assert.deepEqual(whatIf.limit(), { wall: answer.wall_if_free, speedup: answer.gain_ends_at_speedup });
      const names = new OpNames(report, data);
      const moved = movedOps(observedSteps(graph), got.steps, (op) => names.rowName(op));
      const byName = (rows: [string, number, number][]) => rows.sort((a, b) => (a[0] < b[0] ? -1 : 1));
      assert.deepEqual(byName(moved.map((row) => [row.name, row.before, row.after])),
                       byName(answer.rows.map((row) => [row.op, row.on_path_before, row.on_path_after])));
    });
  }
}
