import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field } from "../../src/data/report";
import { valueText } from "../../src/format/format";
import type { Row } from "../../src/section/section";
import { commonPrefix, nameThenNumbers, TableModel } from "../../src/table/model";
import { drawnRows, widthsOf } from "../../src/table/widths";

const fields: Field[] = [
  { key: "op", label: "op", format: "name" }, { key: "work", label: "work", format: "number" },
  { key: "share", label: "of all", format: "share" }, { key: "hidden", label: "", format: "truth" },
];
const rows: Row[] = [
  { op: "MatMul_2", work: 7, share: 0.1, hidden: true }, { op: "MatMul_10", work: 900, share: 0.6, hidden: false },
  { op: "Add", work: null, share: null, hidden: null }, { op: "Conv", work: 900, share: 0.3, hidden: null },
];
const make = (of = rows) => new TableModel(fields, of, (field, value) => valueText(field, value, null));
const ops = (model: TableModel) => model.order.map((place) => model.rows[place].op);

test("numbers sort from the largest, then from the smallest, then as the page has them", () => {
  const model = make();
  model.sortBy("work");
  assert.deepEqual(ops(model), ["MatMul_10", "Conv", "MatMul_2", "Add"]);
  model.sortBy("work");
  assert.deepEqual(ops(model), ["MatMul_2", "MatMul_10", "Conv", "Add"]);
  model.sortBy("work");
  assert.deepEqual([ops(model), model.sorting], [["MatMul_2", "MatMul_10", "Add", "Conv"], null]);
});

test("names sort by the numbers in them, what is not known comes last", () => {
  const model = make();
  model.sortBy("op");
  assert.deepEqual(ops(model), ["Add", "Conv", "MatMul_2", "MatMul_10"]);
});

test("a filter is a regular expression on texts, whatever their case", () => {
  const model = make();
  model.filterBy("^mat.*0$");
  assert.deepEqual([ops(model), model.problem], [["MatMul_10"], ""]);
});

test("a filter that is no regular expression says so and hides nothing", () => {
  const model = make();
  model.filterBy("(");
  assert.equal(model.order.length, 4);
  assert.match(model.problem, /^not a regular expression: /);
});

test("CSV is what the program prints: keys, values as they are, hidden columns too", () => {
  const model = make();
  model.sortBy("op");
  assert.equal(model.csv(), "op,work,share,hidden\nAdd,,,\nConv,900,0.3,\nMatMul_2,7,0.1,true\nMatMul_10,900,0.6,false\n");
});

test("CSV quotes what needs it, and what a spreadsheet would take for a formula", () => {
  const model = make([{ op: 'a,"b"', work: -1 }, { op: "=cmd()", work: 1 }, { op: "two\nlines", work: 2 }]);
  assert.equal(model.csv(), 'op,work,share,hidden\n"a,""b""",-1,,\n"\'=cmd()",1,,\n"two\nlines",2,,\n');
});

test("what all names begin with is cut, up to a separator", () => {
  assert.equal(commonPrefix(["/model/layers.0/q", "/model/layers.1/k"]), "/model/layers.");
  assert.equal(commonPrefix(["core 0 > HVX 1", "core 0 > HMX", "(no op)"]), "core 0 > ");
  assert.equal(commonPrefix(["MatMul_1", "MatMul_2"]), "");
  assert.equal(commonPrefix(["/model/a"]), "");
  const model = make([{ op: "/model/layers.0/q" }, { op: "/model/layers.1/k" }]);
  assert.deepEqual([model.cell(0, fields[0]), model.prefixes.get("op")], ["0/q", "/model/layers."]);
});

test("of a long table the rows in sight and some around them are drawn", () => {
  assert.deepEqual(drawnRows(10_000, 22, 22_000, 440), [990, 1030]);
  assert.deepEqual(drawnRows(10_000, 22, 0, 440), [0, 30]);
  assert.deepEqual(drawnRows(5, 22, 0, 440), [0, 5]);
  assert.deepEqual(drawnRows(100, 22, 5_000, 440), [100, 100]);
});

test("columns are as wide as their texts, but names no wider than is readable", () => {
  assert.deepEqual(widthsOf(make([{ op: "x".repeat(500), work: 12345 }]), fields.slice(0, 2)), [44, 6]);
});

test("on a narrow screen numbers follow the name, which kinds and units pushed out of it", () => {
  const wide: Field[] = [fields[0], { key: "kind", label: "kind", format: "name" }, { key: "on", label: "on", format: "names" }, fields[1], fields[2]];
  assert.deepEqual(nameThenNumbers(wide).map((field) => field.key), ["op", "work", "share", "kind", "on"]);
});
