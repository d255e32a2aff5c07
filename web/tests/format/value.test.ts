import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock, Format, Scalar } from "../../src/data/report";
import { printable, shortened, ticksWithUnit, valueText } from "../../src/format/format";

const cycles: Clock = { name: "PCYCLE", kind: "unit_cycles", unit: "cycles", hertz: 806e6 };
const timer: Clock = { name: "QTIMER", kind: "timer", unit: "ticks", hertz: 19.2e6 };
const nameless: Clock = { name: "?", kind: "timer", unit: "ticks", hertz: null };
const clocks = { clock: cycles, clocks: [cycles, timer, nameless] };
const text = (format: Format, value: Scalar | undefined, clock?: number): string => valueText({ format, clock }, value, clocks);

test("ticks are time where the clock counts time and its rate is known", () => {
  assert.equal(text("ticks", 64829), "64,829");
  assert.equal(text("ticks", 192, 1), "10.00 us");
  assert.equal(text("ticks", 192, 2), "192");
  assert.equal(valueText({ format: "ticks" }, 192, null), "192");
  assert.equal(ticksWithUnit(cycles, 1200), "1,200 cycles");
  assert.equal(ticksWithUnit(timer, 192), "10.00 us");
});

test("what is not known is blank", () => {
  for (const value of [null, undefined, NaN, Infinity]) assert.equal(text("number", value), "");
});

test("texts stay, truths are yes or no, lists are joined", () => {
  assert.equal(text("name", "<b>"), "<b>");
  assert.equal(text("truth", true), "yes");
  assert.equal(text("names", ["a", "b"]), "a, b");
  assert.equal(text("numbers", [1, 480, 3]), "[1, 480, 3]");
  assert.equal(text("bytes_per_second", 8.355e9), "8.355 GB/s");
});

test("control characters and marks of direction are escapes", () => {
  assert.equal(printable("a\nb\u202ec\u007f"), "a\\x0ab\\u202ec\\x7f");
});

test("a long name loses its middle", () => {
  assert.equal(shortened("abcdefghij", 7), "abc…hij");
  assert.equal(shortened("abc", 7), "abc");
});
