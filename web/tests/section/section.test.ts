import assert from "node:assert/strict";
import { test } from "node:test";
import type { Layout, Page } from "../../src/data/report";
import { fact, find, heading, saysSomething, sectionsOf, shownFacts, shownFields } from "../../src/section/section";
import { programNames, programOf } from "../support/program";

const layout = (key: string, more: Partial<Layout> = {}): Layout => ({ key, title: key.toUpperCase(), facts: [], fields: [], parts: [], ...more });
const page: Page = {
  command: "npuscope x", scope: null, layout: [
    layout("wall", { facts: [{ key: "ticks", label: "wall", format: "ticks" }, { key: "begin", label: "", format: "count" }, { key: "rate", label: "rate", format: "hertz" }] }),
    layout("finding", { in_list: true, fields: [{ key: "a", label: "A", format: "count" }, { key: "b", label: "B", format: "count", only_if_known: true }] }),
    layout("finding", { in_list: true, parts: [layout("inner", { facts: [{ key: "n", label: "n", format: "count" }] })] }),
    layout("gone"),
  ],
  values: { wall: { ticks: 5, begin: 1, rate: null, extra: 7 }, finding: [{ row_count: 9, rows: [{ a: 1, b: null }], remarks: ["so"] }, { inner: { n: 3 } }] },
};

test("sections are the page's, those of a list one by one, without those that it has no values of", () => {
  assert.deepEqual(sectionsOf(page).map((section) => section.key), ["wall", "finding", "finding"]);
});

test("facts without a label or a value are not shown, but known", () => {
  const [wall] = sectionsOf(page);
  assert.deepEqual(shownFacts(wall).map(({ field }) => field.key), ["ticks"]);
  assert.deepEqual([fact(wall, "begin"), fact(wall, "extra"), fact(wall, "none"), fact(null, "x")], [1, 7, null, null]);
});

test("a table has rows, how many there are of all, and columns that say something", () => {
  const [, first, second] = sectionsOf(page);
  assert.deepEqual([first.rows, first.rowCount, first.remarks], [[{ a: 1, b: null }], 9, ["so"]]);
  assert.deepEqual(shownFields(first).map((field) => field.key), ["a"]);
  assert(saysSomething(second));
  assert.equal(find(sectionsOf(page), "inner")?.facts[0].value, 3);
});

test("headings are no shouting, names stay names", () => {
  assert.deepEqual(["OPS ON THE PATH", "TRANSFERS of DDR by DMA", "WARM CALL, median of 2", "VTCM", "OPS BY KIND, in cycles"].map(heading),
                   ["Ops on the path", "Transfers of DDR by DMA", "Warm call, median of 2", "VTCM", "Ops by kind, in cycles"]);
});

for (const name of programNames) {
  test(`${name}: every page of the program has its sections`, () => {
    for (const [key, of] of Object.entries(programOf(name).report.profiles[0].pages)) {
      const sections = sectionsOf(of);
      assert(sections.some(saysSomething), key);
      for (const section of sections) for (const row of section.rows) for (const field of section.fields) assert(field.key === "" || field.key in row, `${key}: ${section.key}.${field.key}`);
    }
  });
}
