import assert from "node:assert/strict";
import { test } from "node:test";
import { groupings } from "../../src/ops/groups";
import { tableInRange, wholeTable } from "../../src/ops/tables";
import { contextOf, programNames, programOf } from "../support/program";

const groupingOf = (by: string) => groupings.find((grouping) => grouping.by === by)!;
const known = (row: { [key: string]: unknown }) => row.work !== null || (row.waiting ?? null) !== null;

for (const name of programNames) {
  const program = programOf(name);

  for (const { by, begin, end, rows } of program.ops) {
    test(`${name}: ops --by ${by} --from ${begin} --to ${end}`, async () => {
      const context = await contextOf(program);
      const table = tableInRange(context, groupingOf(by), { begin, end });
      assert(table !== null);
      const mine = new Map(table.rows.map((row) => [row[by], row]));
      for (const row of rows.filter(known)) {
        for (const [key, value] of Object.entries(row)) {
          if (key !== "name") assert.equal(mine.get(row.name)?.[key] ?? null, value, `${row.name}: ${key}`);
        }
        mine.delete(row.name);
      }
      assert.deepEqual([...mine.values()].filter(known), []);
    });
  }

  for (const grouping of groupings) {
    test(`${name}: a range of everything is the table by ${grouping.by} itself`, async () => {
      const context = await contextOf(program);
      const whole = wholeTable(context.report, grouping);
      const table = tableInRange(context, grouping, { begin: -1, end: context.data.head.length + 1 });
      assert(whole !== null && table !== null);
      const mine = new Map(table.places.map((place, i) => [place, table.rows[i]]));
      whole.rows.forEach((row, place) => {
        for (const key of ["work", "waiting", "active", "issue"]) {
          if (row[key] !== undefined) assert.equal(mine.get(place)?.[key] ?? null, row[key], `${row[grouping.by]}: ${key}`);
        }
      });
    });
  }
}
