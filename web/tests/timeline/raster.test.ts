// Pixels drawn through the pyramid equal those that are drawn from every span.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildPyramid, fanout } from "../../src/timeline/pyramid";
import { rasterPlaces, rasterRow } from "../../src/timeline/raster";
import { Row } from "../../src/timeline/row";
import { Spans } from "../../src/timeline/spans";
import { lastPart, wideSpans } from "../../src/timeline/paint/names";
import { dataOf } from "../support/model";
import { Random } from "../support/random";

interface One { start: number; duration: number }

function rowOf(list: One[]): { row: Row; spans: Spans } {
  const spans = new Spans(dataOf([
    { name: "span.start", values: list.map((one) => one.start) }, { name: "span.duration", values: list.map((one) => one.duration) },
    { name: "span.op", values: list.map(() => -1) }, { name: "span.kind", values: list.map((_, i) => i % 2) }]));
  return { row: new Row(spans, 0, list.length, null), spans };
}

function randomList(random: Random, count: number, most: number): One[] {
  let end = 0;
  return Array.from({ length: count }, () => {
    const start = end + random.below(4);
    const duration = random.below(10) === 0 ? random.below(most) : random.below(3);
    end = start + duration;
    return { start, duration };
  });
}

const colourIn = (spans: Spans) => (span: number): number => spans.look(span) + 1;

function draw(row: Row, spans: Spans, begin: number, end: number, width: number): number[] {
  const out = new Uint32Array(width);
  rasterRow(row, colourIn(spans), { begin, end, width }, out, 0);
  return Array.from(out);
}

test("a pyramid has the sums, ends and longest of its blocks", () => {
  const random = new Random(5);
  const list = randomList(random, 1000, 50);
  const { row } = rowOf(list);
  const levels = buildPyramid(row.start, row.duration, row.active);
  assert.equal(levels.length, 5);
  levels.forEach((level, k) => {
    const size = fanout ** (k + 1);
    for (let block = 0; block * size < list.length; ++block) {
      const part = list.slice(block * size, (block + 1) * size);
      assert.equal(level.end[block], Math.max(...part.map((one) => one.start + one.duration)));
      assert.equal(level.active[block], part.reduce((sum, one) => sum + one.duration, 0));
      assert.equal(list[level.longest[block]].duration, Math.max(...part.map((one) => one.duration)));
    }
  });
});

test("a row drawn through its pyramid equals the row drawn without, at every zoom", () => {
  const random = new Random(11);
  for (let round = 0; round < 60; ++round) {
    const { row, spans } = rowOf(randomList(random, 2000, 30));
    const flat = Object.create(row, { levels: { value: [] } }) as Row;
    const length = row.start[row.count - 1];
    for (const part of [1, 0.37, 0.05, 0.004]) {
      const begin = random.below(length * (1 - part));
      const seen = draw(row, spans, begin, begin + length * part, 97);
      assert.deepEqual(seen.map((pixel) => pixel >>> 24), draw(flat, spans, begin, begin + length * part, 97).map((pixel) => pixel >>> 24));
    }
  }
});

test("a pixel is drawn where a span lies, and only there", () => {
  const random = new Random(13);
  for (let round = 0; round < 40; ++round) {
    const list = randomList(random, 300, 40);
    const { row, spans } = rowOf(list);
    const length = row.start[row.count - 1] + 50;
    const width = 61;
    const pixels = draw(row, spans, 0, length, width);
    const perPixel = length / width;
    for (let x = 0; x < width; ++x) {
      const inside = list.some((one) => one.start < (x + 1) * perPixel && one.start + one.duration > x * perPixel);
      // Ends of wide spans are rounded to pixels.
      const beside = list.some((one) => one.start <= (x + 1.5) * perPixel && one.start + one.duration >= (x - 0.5) * perPixel);
      const covered = list.some((one) => one.start <= (x - 0.5) * perPixel && one.start + one.duration >= (x + 1.5) * perPixel);
      if (pixels[x] !== 0) assert.ok(inside || beside, `pixel ${x}`);
      if (covered) assert.notEqual(pixels[x], 0);
    }
  }
});

test("a narrow span is seen, a fuller pixel is stronger, and the longest span gives the colour", () => {
  const { row, spans } = rowOf([{ start: 10, duration: 1 }, { start: 100, duration: 40 }, { start: 145, duration: 50 }, { start: 990, duration: 0 }]);
  const pixels = draw(row, spans, 0, 1000, 10);
  assert.ok(pixels[0] >>> 24 > 0 && pixels[9] >>> 24 > 0);
  assert.ok(pixels[1] >>> 24 > pixels[0] >>> 24);
  assert.equal(pixels[1] & 0xffffff, colourIn(spans)(2));
  assert.equal(pixels[5], 0);
});

test("chosen spans are drawn at least a pixel wide, as from every one of them", () => {
  const random = new Random(17);
  for (let round = 0; round < 40; ++round) {
    const { row } = rowOf(randomList(random, 1500, 20));
    const places = Int32Array.from({ length: row.count }, (_, i) => i).filter(() => random.below(3) === 0);
    const end = row.start[row.count - 1] + 1;
    const width = 80;
    const seen = new Uint32Array(width);
    rasterPlaces(row, places, 0, () => 7, { begin: 0, end, width }, seen, 0);
    const slow = new Uint32Array(width);
    for (const place of places) rasterPlaces(row, Int32Array.of(place), 0, () => 7, { begin: 0, end, width }, slow, 0);
    assert.deepEqual(Array.from(seen, (pixel) => pixel !== 0), Array.from(slow, (pixel) => pixel !== 0));
  }
});

test("names are looked for on all wide spans and no others", () => {
  const random = new Random(19);
  for (let round = 0; round < 40; ++round) {
    const list = randomList(random, 800, 60);
    const { row } = rowOf(list);
    const view = { begin: 200, end: 1200, width: 100 };
    const wide = list.map((one, i) => ({ ...one, i })).filter((one) => one.duration >= 30 && one.start < 1200 && one.start + one.duration > 200);
    assert.deepEqual(Array.from(wideSpans(row, 30, view)), wide.map((one) => one.i));
  }
});

test("a path is shortened to its end, a name with a colon is not", () => {
  assert.deepEqual(["/model/layers.0/MatMul", "q::Add", "step: 1454", "a/", "aten::mm/x::"].map(lastPart), ["MatMul", "Add", "step: 1454", "a/", "aten::mm/x::"]);
});
