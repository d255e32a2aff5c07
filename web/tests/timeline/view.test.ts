import assert from "node:assert/strict";
import { test } from "node:test";
import { marks, marksFrom, niceStep } from "../../src/timeline/axis";
import { clamped, panned, selected, timeOf, xOf, zoomed } from "../../src/timeline/view";
import type { Clock } from "../../src/data/report";

const limits = { begin: 0, end: 1000 };
const cycles: Clock = { name: "c", kind: "unit_cycles", unit: "cycles", hertz: null };
const nanoseconds: Clock = { name: "n", kind: "wall", unit: "ns", hertz: 1e9 };

test("zoom leaves the time under the pointer where it is", () => {
  assert.deepEqual(zoomed(limits, 0.5, 250, limits), { begin: 125, end: 625 });
  const view = zoomed({ begin: 100, end: 300 }, 0.1, 150, limits);
  assert.equal(xOf({ ...view, width: 100 }, 150), xOf({ begin: 100, end: 300, width: 100 }, 150));
});

test("one tick is as near, and everything as far as it gets", () => {
  let view = limits;
  for (let i = 0; i < 100; ++i) view = zoomed(view, 0.5, 333.3, limits);
  assert.equal(view.end - view.begin, 1);
  assert.ok(view.begin <= 333.3 && view.end >= 333.3);
  for (let i = 0; i < 100; ++i) view = zoomed(view, 2, 333.3, limits);
  assert.deepEqual(view, limits);
});

test("panning stops at the ends and keeps the length", () => {
  assert.deepEqual(panned({ begin: 100, end: 200 }, 5000, limits), { begin: 900, end: 1000 });
  assert.deepEqual(panned({ begin: 100, end: 200 }, -5000, limits), { begin: 0, end: 100 });
  assert.deepEqual(clamped({ begin: -50, end: 5000 }, limits), limits);
});

test("a selection is of whole ticks, at least one, within the limits", () => {
  assert.deepEqual(selected(20.7, 10.2, limits), { begin: 10, end: 21 });
  assert.deepEqual(selected(5, 5, limits), { begin: 5, end: 6 });
  assert.deepEqual(selected(-40, 4000, limits), limits);
  assert.deepEqual(selected(1000, 1000, limits), { begin: 999, end: 1000 });
});

test("x and time are each other's inverse", () => {
  const scale = { begin: 123, end: 456, width: 789 };
  for (const x of [0, 1, 400.5, 789]) assert.ok(Math.abs(xOf(scale, timeOf(scale, x)) - x) < 1e-9);
});

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.deepEqual([0.9, 1, 1.1, 2.1, 5.5, 70].map(niceStep), [1, 1, 2, 5, 10, 100]);
});

test("marks of cycles are numbers, of whole ticks however near", () => {
  assert.deepEqual(marks({ begin: 0, end: 1000, width: 500 }, cycles).map((mark) => mark.text), ["0", "200", "400", "600", "800", "1,000"]);
  assert.deepEqual(marks({ begin: 64000, end: 64002, width: 1000 }, cycles).map((mark) => mark.text), ["64,000", "64,001", "64,002"]);
});

test("marks count from the first span, as commands do, where counters start before it", () => {
  assert.deepEqual(marksFrom(50, { begin: 0, end: 1000, width: 500 }, cycles).map(({ time, text }) => [time, text]),
                   [[50, "0"], [250, "200"], [450, "400"], [650, "600"], [850, "800"]]);
});

test("marks of a clock with a known rate are times with the decimals that tell them apart", () => {
  assert.deepEqual(marks({ begin: 0, end: 1e6, width: 500 }, nanoseconds).map((mark) => mark.text), ["0", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1.0 ms"]);
  const near = marks({ begin: 1234567890, end: 1234567895, width: 500 }, nanoseconds);
  assert.deepEqual(near.map((mark) => mark.text).slice(0, 2), ["1.234567890 s", "1.234567891 s"]);
});

test("a view of nothing has no marks", () => {
  assert.deepEqual(marks({ begin: 0, end: 0, width: 500 }, cycles), []);
  assert.deepEqual(marks({ begin: 0, end: 10, width: 0 }, cycles), []);
});
