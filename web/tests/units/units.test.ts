import assert from "node:assert/strict";
import { test } from "node:test";
import { concurrencyOf, imbalanceOf, overlapOf, unitRows, unitsSection } from "../../src/units/units";
import { contextOf, programOf } from "../support/program";

const [report] = programOf("qnn_htp").report.profiles;
const rows = (key: string) => unitsSection(report, key)?.rows ?? [];

test("busy, waits and idle of a unit are those of the page and add up to the wall", async () => {
  const units = unitRows(report, (await contextOf(programOf("qnn_htp"))).data);
  assert.deepEqual(units.map((unit) => [unit.name, unit.busy]), rows("units").map((row) => [row.unit, row.busy_share_of_wall]));
  for (const unit of units) assert.equal(unit.parts[0].colour, `fill-${unit.engine}`);
  for (const unit of units) assert(Math.abs(unit.parts.reduce((sum, part) => sum + part.share, 0) - 1) < 1e-9);
});

test("the matrix has each pair twice, and is the page's", () => {
  const overlap = overlapOf(report);
  assert(overlap !== null);
  for (const row of rows("overlap")) {
    const place = (name: unknown): number => overlap.classes.indexOf(String(name));
    const a = place(row.a);
    const b = place(row.b);
    assert.equal(overlap.cells[a][b]?.share, row.share_of_smaller);
    assert.equal(overlap.cells[b][a]?.share, row.share_of_smaller);
  }
});

test("levels of concurrency are all from 0 to the max, those without time empty", () => {
  const found = concurrencyOf(report);
  assert(found !== null);
  assert.deepEqual(found.levels.map((level) => level.units), Array.from({ length: found.levels.length }, (_, i) => i));
  for (const row of rows("concurrency")) assert.equal(found.levels[Number(row.units)].share, row.share_of_wall);
  assert(Math.abs(found.levels.reduce((sum, level) => sum + level.share, 0) - 1) < 1e-9);
  assert.equal(found.max, found.levels.length - 1);
});

test("imbalance is the page's", () => {
  assert.deepEqual(imbalanceOf(report).map(({ excess, min, mean, max }) => [excess, min, mean, max]),
                   rows("imbalance").map((row) => [row.excess_of_mean, row.least, row.mean, row.most]));
});
