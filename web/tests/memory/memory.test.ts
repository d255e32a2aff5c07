import assert from "node:assert/strict";
import { test } from "node:test";
import { ceilingAt, logAxis, memorySection, rooflineOf } from "../../src/memory/roofline";
import { trafficIn } from "../../src/memory/traffic";
import { contextOf, dataOf, programOf } from "../support/program";

const [report] = programOf("qnn_htp").report.profiles;

test("points are the rows of the page that have MACs and bytes", () => {
  const roofline = rooflineOf(report);
  const rows = memorySection(report, "ops")?.rows ?? [];
  assert(roofline !== null && roofline.points.length > 0);
  for (const point of roofline.points) {
    const row = rows.find((each) => each.op === point.name);
    assert.deepEqual([row?.macs_per_byte, row?.macs, row?.active], [point.intensity, point.macs, point.active]);
  }
  assert.equal(roofline.points.length + roofline.leftOut, rows.length);
});

test("the whole run lies where the page says", () => {
  const roofline = rooflineOf(report);
  const section = memorySection(report, "roofline");
  assert.deepEqual(roofline?.whole, { intensity: section?.values.macs_per_byte, rate: section?.values.macs_per_s });
});

test("both ceilings meet at the ridge point", () => {
  const roofline = rooflineOf(report);
  assert(roofline !== null);
  const known = { ...roofline, ddrPeak: 50e9, macPeak: 10e12, ridge: 200 };
  assert.deepEqual([ceilingAt(known, 100), ceilingAt(known, 200), ceilingAt(known, 400)], [5e12, 10e12, 10e12]);
  assert.equal(ceilingAt({ ...known, macPeak: null }, 400), 20e12);
  assert.equal(ceilingAt({ ...known, macPeak: null, ddrPeak: null }, 400), Infinity);
});

test("an axis has whole powers of ten around its values", () => {
  const axis = logAxis([3, 40_000]);
  assert.deepEqual([axis.low, axis.high, axis.ticks], [1, 100_000, [1, 10, 100, 1000, 10_000, 100_000]]);
  assert.deepEqual([axis.at(1), axis.at(100_000)], [0, 1]);
  assert.deepEqual(logAxis([30]).ticks, [10, 20, 50, 100]);
  assert.deepEqual(logAxis([]).ticks.length > 0, true);
});

const bandwidth = { begin: 100, width: 10, routes: [{ name: "DDR read", bytes: [10, 20, 0, 40] }] };

test("traffic of everything is all bytes", () => {
  const [traffic] = trafficIn(dataOf({ bandwidth }, {}).head, { begin: 0, end: 1000 }, 100);
  assert.equal(traffic.bytes, 70);
  assert.deepEqual(traffic.points, [{ time: 100, rate: 1 }, { time: 110, rate: 2 }, { time: 120, rate: 0 }, { time: 130, rate: 4 }]);
});

test("of a bucket that a range cuts its share counts", () => {
  assert.equal(trafficIn(dataOf({ bandwidth }, {}).head, { begin: 105, end: 120 }, 100)[0].bytes, 25);
});

test("buckets beyond the pixels are joined, the largest is drawn", () => {
  const [traffic] = trafficIn(dataOf({ bandwidth }, {}).head, { begin: 0, end: 1000 }, 2);
  assert.deepEqual(traffic.points, [{ time: 100, rate: 2 }, { time: 120, rate: 4 }]);
});

test("traffic of the program adds up to its page", async () => {
  const { data } = await contextOf(programOf("qnn_htp"));
  const all = trafficIn(data.head, { begin: -1e12, end: 1e12 }, 1e9);
  const rows = memorySection(report, "traffic")?.rows ?? [];
  for (const { name, bytes } of all) {
    const told = rows.find((row) => row.route === name)?.ops_bytes;
    if (typeof told === "number") assert(Math.abs(bytes - told) <= Math.max(1, told * 1e-6), `${name}: ${bytes} of ${told}`);
  }
  assert(all.length > 0);
});
