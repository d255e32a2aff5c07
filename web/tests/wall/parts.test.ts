import assert from "node:assert/strict";
import { test } from "node:test";
import { modelPartsOf, wallOf } from "../../src/wall/parts";
import { find, number, sectionsOf } from "../../src/section/section";
import { programNames, programOf } from "../support/program";

for (const name of programNames) {
  test(`${name}: the parts of the bar are those of the page and add up to the wall`, () => {
    const [report] = programOf(name).report.profiles;
    const wall = wallOf(report);
    const section = find(sectionsOf(report.pages.show), "wall");
    assert(wall !== null && section !== null);
    assert.deepEqual(wall.parts.map((part) => part.share), section.rows.map((row) => row.share_of_wall));
    assert(Math.abs(wall.parts.reduce((sum, part) => sum + part.share, 0) - 1) < 1e-9);
    assert.equal(section.rows.reduce((sum, row) => sum + (number(row.ticks) ?? 0), 0), section.values.ticks);
    assert(wall.parts.every((part) => part.colour !== "fill-other"), "every part has a look");
  });
}

test("parts of the model have their name, their value and their share", () => {
  const [report] = programOf("qnn_htp").report.profiles;
  const parts = modelPartsOf(report);
  const section = find(sectionsOf(report.pages.show), "model_parts");
  assert(parts !== null && section !== null);
  assert.deepEqual(parts.parts.map(({ label, share }) => [label, share]), section.rows.map((row) => [row.part, row.share]));
});

test("a profile without a page has no bar", () => {
  const report = { ...programOf("torq").report.profiles[0], pages: {} };
  assert.deepEqual([wallOf(report), modelPartsOf(report)], [null, null]);
});
