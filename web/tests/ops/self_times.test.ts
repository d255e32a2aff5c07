import assert from "node:assert/strict";
import { test } from "node:test";
import type { Data } from "../../src/data/data";
import { median, rowsInRange, unionLength } from "../../src/ops/in_range";
import { cutSpans, union } from "../../src/ops/self_times";
import { dataOf } from "../support/program";
import { Random } from "../support/random";

type Span = [kind: string, start: number, duration: number, op?: number, inference?: number];

// One unit a list; spans by start, the longer first.
function spansOf(...units: Span[][]): Data {
  const all = units.flat();
  const kinds = ["op", "sync", "barrier", "transfer", "inference", "async", "instant", "wait", "slice"];
  let first = 0;
  const heads = units.map((spans, i) => {
    const head = { name: `unit ${i}`, path: `unit ${i}`, engine: "hvx", is_device: true, device: 0, core: i, parent: -1, first_span: first, spans: spans.length };
    first += spans.length;
    return head;
  });
  return dataOf({ units: heads, kinds }, {
    "span.kind": all.map((span) => kinds.indexOf(span[0])), "span.start": all.map((span) => span[1]), "span.duration": all.map((span) => span[2]),
    "span.op": all.map((span) => span[3] ?? -1), ...(all.some((span) => span[4] !== undefined) ? { "span.inference": all.map((span) => span[4] ?? 0) } : {}),
  });
}

const everything = { begin: 0, end: 1000 };
const own = (data: Data, window = everything): number[] => Array.from(cutSpans(data, window).own);
const byOp = (data: Data) => (window = everything) =>
  rowsInRange(data, cutSpans(data, window), (span) => data.column("span.op")[span]).map(({ row, work, waiting, active, issue, instances }) => ({ row, work, waiting, active, issue, instances }));

test("a nested slice counts in the innermost", () => {
  assert.deepEqual(own(spansOf([["slice", 0, 100], ["slice", 10, 50], ["slice", 20, 10], ["slice", 70, 20]])), [30, 40, 10, 20]);
});

test("a wait inside work takes nothing from it, but for one for another unit", () => {
  assert.deepEqual(own(spansOf([["op", 0, 100], ["sync", 10, 20]])), [100, 20]);
  assert.deepEqual(own(spansOf([["op", 0, 100], ["wait", 10, 20]])), [80, 20]);
});

test("what overlaps in part keeps its whole duration", () => {
  assert.deepEqual(own(spansOf([["op", 0, 50], ["op", 40, 50]])), [50, 50]);
});

test("frames and instants count nothing, transfers and asynchronous slices are whole", () => {
  assert.deepEqual(own(spansOf([["inference", 0, 100], ["op", 0, 80], ["transfer", 10, 20], ["async", 10, 30], ["instant", 50, 0]])), [0, 80, 20, 30, 0]);
});

test("spans are cut to the window", () => {
  const data = spansOf([["slice", 0, 100], ["slice", 10, 50], ["slice", 80, 40]]);
  const cut = cutSpans(data, { begin: 40, end: 90 });
  assert.deepEqual([Array.from(cut.begin), Array.from(cut.end), Array.from(cut.own)], [[40, 40, 80], [90, 60, 90], [20, 20, 10]]);
});

test("a span that ends where the window begins is not in it, a moment there is", () => {
  assert.equal(cutSpans(spansOf([["op", 0, 40], ["instant", 40, 0], ["op", 90, 5]]), { begin: 40, end: 90 }).count, 1);
});

test("the issue of a transfer that runs meanwhile is no work", () => {
  const data = spansOf([["op", 0, 10, 1], ["op", 20, 10, 2]], [["transfer", 5, 50, 1]]);
  assert.deepEqual(byOp(data)(), [
    { row: 1, work: 55, waiting: null, active: 55, issue: 5, instances: 2 },
    { row: 2, work: 10, waiting: null, active: 10, issue: null, instances: 1 },
  ]);
});

test("active counts each moment once, work each unit", () => {
  const data = spansOf([["op", 0, 100, 1], ["sync", 100, 20, 1]], [["op", 50, 100, 1]]);
  assert.deepEqual(byOp(data)(), [{ row: 1, work: 200, waiting: 20, active: 150, issue: null, instances: 2 }]);
});

test("of several inferences the median of those after the first", () => {
  const data = spansOf([["op", 0, 900, 1, 0], ["op", 910, 10, 1, 1], ["op", 930, 30, 1, 2], ["op", 970, 2, 2, 2]]);
  assert.deepEqual(byOp(data)(), [
    { row: 1, work: 20, waiting: null, active: 20, issue: null, instances: 1 },
    { row: 2, work: 1, waiting: null, active: 1, issue: null, instances: 0.5 },
  ]);
});

test("merged spans count by the share in which one of them ran, and that is said", () => {
  const data = dataOf({ units: [{ name: "u", path: "u", engine: "hvx", is_device: true, device: 0, core: 0, parent: -1, first_span: 0, spans: 1 }] },
    { "span.kind": [0], "span.start": [0], "span.duration": [100], "span.op": [0], "span.count": [7], "span.active": [40] });
  const cut = cutSpans(data, { begin: 0, end: 50 });
  assert.deepEqual([cut.own[0], cut.merged], [20, true]);
});

test("self times of a nest add up to its outermost, on nests at random", () => {
  const random = new Random(3);
  for (let round = 0; round < 100; ++round) {
    const spans: Span[] = [];
    const nest = (begin: number, end: number, depth: number): void => {
      spans.push(["slice", begin, end - begin]);
      let at = begin;
      while (depth < 4 && at + 4 < end && random.below(4) > 0) {
        const from = at + random.below(4);
        const to = Math.min(end, from + 1 + random.below(Math.max(1, (end - from) / 2)));
        if (to <= from) break;
        nest(from, to, depth + 1);
        at = to;
      }
    };
    nest(0, 200, 0);
    const begin = random.below(100);
    const window = { begin, end: begin + 1 + random.below(100) };
    const sum = own(spansOf(spans), window).reduce((a, b) => a + b, 0);
    assert.equal(sum, Math.min(200, window.end) - window.begin);
  }
});

test("the length of a union is that of the joined intervals, at random", () => {
  const random = new Random(11);
  for (let round = 0; round < 200; ++round) {
    const intervals = Array.from({ length: random.below(12) }, (): [number, number] => {
      const begin = random.below(50);
      return [begin, begin + random.below(12)];
    });
    const expected = union(intervals).reduce((sum, [begin, end]) => sum + end - begin, 0);
    assert.equal(unionLength([{ begins: intervals.map((each) => each[0]), ends: intervals.map((each) => each[1]) }]), expected);
  }
});

test("intervals are joined, and medians lie between", () => {
  assert.deepEqual(union([[5, 9], [0, 3], [3, 4], [8, 12], [20, 20]]), [[0, 4], [5, 12]]);
  assert.equal(unionLength([{ begins: [5, 0, 3], ends: [9, 3, 4] }, { begins: [8, 20], ends: [12, 20] }]), 11);
  assert.equal(unionLength([]), 0);
  assert.deepEqual([median([3, 1, 2]), median([4, 1]), median([7])], [2, 2.5, 7]);
});
