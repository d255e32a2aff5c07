import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { overlapInRange } from "../../src/units/overlap_in_range";
import { matrixOf, overlapOf } from "../../src/units/units";
import { contextOf, programNames, programOf } from "../support/program";

for (const name of programNames) {
  const program = programOf(name);

  for (const { begin, end, overlap } of program.units) {
    test(`${name}: overlap of units --from ${begin} --to ${end}`, async () => {
      const { report, data } = await contextOf(program);
      const { classes, both } = overlapInRange(new OpNames(report, data), data, { begin, end });
      const place = (of: string): number => classes.findIndex((each) => each.name === of);
      for (const row of overlap) {
        assert.equal(both[place(row.a)][place(row.b)], row.both, `${row.a} and ${row.b}`);
        assert.equal(classes[place(row.a)].active, row.active_a, row.a);
        assert.equal(classes[place(row.b)].active, row.active_b, row.b);
      }
      if (overlap.length > 0) assert.equal(overlap.length, (classes.length * (classes.length - 1)) / 2);
    });
  }

  test(`${name}: a range of everything has the page's matrix`, async () => {
    const { report, data } = await contextOf(program);
    const all = { begin: -1, end: data.head.length + 1 };
    assert.deepEqual(matrixOf(report, overlapInRange(new OpNames(report, data), data, all)), overlapOf(report));
  });
}
