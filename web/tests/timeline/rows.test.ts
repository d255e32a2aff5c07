import assert from "node:assert/strict";
import { test } from "node:test";
import { maxRows, splitRows } from "../../src/timeline/rows";
import { Random } from "../support/random";

const split = (spans: [start: number, end: number][]): number[][] | null =>
  splitRows(Float64Array.from(spans, ([start]) => start), Float64Array.from(spans, ([start, end]) => end - start), 0, spans.length)
    ?.map((row) => Array.from(row)) ?? null;

test("spans one after the other need one row", () => {
  assert.equal(split([[0, 5], [5, 9], [9, 9], [12, 13]]), null);
  assert.equal(split([]), null);
});

test("nested spans stand below what holds them", () => {
  assert.deepEqual(split([[0, 10], [1, 4], [2, 3], [5, 9], [10, 12]]), [[0, 4], [1, 3], [2]]);
});

test("spans that overlap stand below one another and go back up", () => {
  assert.deepEqual(split([[0, 10], [5, 15], [12, 20], [15, 16]]), [[0, 2], [1, 3]]);
});

test("no two spans of a row overlap, and none is lost, however they lie", () => {
  const random = new Random(3);
  for (let round = 0; round < 100; ++round) {
    const spans = Array.from({ length: 40 }, (): [number, number] => {
      const start = random.below(60);
      return [start, start + random.below(20)];
    }).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const rows = split(spans) ?? [spans.map((_, i) => i)];
    assert.deepEqual(rows.flat().sort((a, b) => a - b), spans.map((_, i) => i));
    for (const row of rows) for (let i = 1; i < row.length; ++i) assert.ok(spans[row[i]][0] >= spans[row[i - 1]][1]);
  }
});

test("more overlap than there are rows ends in the last one", () => {
  const rows = split(Array.from({ length: 60 }, () => [0, 10]));
  assert.equal(rows?.length, maxRows);
  assert.equal(rows?.[maxRows - 1].length, 60 - maxRows + 1);
});
