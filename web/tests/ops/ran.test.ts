import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { opsThatRan } from "../../src/ops/ran";
import { contextOf, programNames, programOf } from "../support/program";

for (const name of programNames) {
  const program = programOf(name);
  for (const { begin, end, rows } of program.ops.filter((answer) => answer.by === "op")) {
    test(`${name}: what ran has a row in ops --from ${begin} --to ${end}`, async () => {
      const { report, data } = await contextOf(program);
      const names = new OpNames(report, data);
      const mine = new Set([...opsThatRan(data, { begin, end })].map((op) => names.rowName(op)));
      const known = rows.filter((row) => row.name !== "(no op)" && (row.work !== null || (row.waiting ?? null) !== null));
      assert.deepEqual([...mine].sort(), known.map((row) => row.name).sort());
    });
  }
}
