import assert from "node:assert/strict";
import { test } from "node:test";
import { pathGraph, type PathGraph } from "../../src/path/graph";
import { observedSchedule, pathThrough, scheduleWith, wholeTicks } from "../../src/path/schedule";
import { observedSteps, WhatIf, type Answer, type Limit } from "../../src/path/what_if";
import { dataOf } from "../support/program";
import { Random } from "../support/random";

interface Node {
  kind?: number;
  op?: number;
  unit?: number;
  row?: number;
  start: number;
  end: number;
  delay?: number;
  before?: number;
  latency?: number;
  links?: { from: number; reason?: number; latency?: number; part?: number }[];
}

function graphOf(nodes: Node[], wall = Math.max(...nodes.map((node) => node.end))): PathGraph {
  const of = (value: (node: Node, i: number) => number) => nodes.map(value);
  const links = nodes.flatMap((node) => node.links ?? []);
  const graph = pathGraph(dataOf({ wall }, {
    "node.kind": of((n) => n.kind ?? 0), "node.op": of((n, i) => n.op ?? i), "node.unit": of((n) => n.unit ?? 0), "node.row": of((n, i) => n.row ?? i),
    "node.start": of((n) => n.start), "node.end": of((n) => n.end), "node.delay": of((n) => n.delay ?? 0),
    "node.unit_before": of((n) => n.before ?? -1), "node.unit_latency": of((n) => n.latency ?? 0), "node.links": of((n) => n.links?.length ?? 0),
    "link.from": links.map((l) => l.from), "link.reason": links.map((l) => l.reason ?? 1), "link.latency": links.map((l) => l.latency ?? 0), "link.part": links.map((l) => l.part ?? -1),
  }));
  assert(graph !== null);
  return graph;
}

interface Change {
  ops: Set<number>;
  units: Set<number>;
  factor: number;
}
const whatIf = (graph: PathGraph, { factor, ...choice }: Change): Answer => new WhatIf(graph, choice).answer(factor);
const limitOf = (graph: PathGraph, choice: Change): Limit => new WhatIf(graph, choice).limit();

const ops = (factor: number, ...chosen: number[]): Change => ({ ops: new Set(chosen), units: new Set(), factor });
const units = (factor: number, ...chosen: number[]): Change => ({ ops: new Set(), units: new Set(chosen), factor });

// a (100) -> b (200), and beside them c (150) -> d, which needs b and c.
const diamond = (): PathGraph => graphOf([
  { start: 0, end: 100, unit: 0 },
  { start: 0, end: 150, unit: 1 },
  { start: 100, end: 300, unit: 0, before: 0, links: [{ from: 0 }] },
  { start: 300, end: 350, unit: 1, before: 1, links: [{ from: 2 }, { from: 1 }] },
]);

test("without a change everything ends when it ended", () => {
  const graph = diamond();
  assert.deepEqual(Array.from(scheduleWith(graph, null).ends), [100, 150, 300, 350]);
  assert.equal(whatIf(graph, ops(1, 0, 1)).after, 350);
});

test("an op on the path that takes half the time shortens the wall by the other half", () => {
  assert.deepEqual([whatIf(diamond(), ops(0.5, 2)).after, whatIf(diamond(), ops(0.5, 2)).gain], [250, 100]);
});

test("an op that is not on the path gains nothing", () => {
  const answer = whatIf(diamond(), ops(0, 1));
  assert.deepEqual([answer.gain, answer.takenOffPath], [0, 0]);
  assert.equal(limitOf(diamond(), ops(0, 1)).speedup, 1);
});

test("another path holds the wall from some speed-up on", () => {
  // a and b of 300 become shorter than c of 150 when they run twice as fast.
  const limit = limitOf(diamond(), ops(0.5, 0, 2));
  assert.equal(limit.wall, 200);
  assert(limit.speedup !== null && Math.abs(limit.speedup - 2) < 1e-9);
  assert.deepEqual([whatIf(diamond(), ops(0.25, 0, 2)).after, whatIf(diamond(), ops(0.25, 0, 2)).takenOffPath], [200, 225]);
  assert.deepEqual(whatIf(diamond(), ops(0.25, 0, 2)).steps.map((step) => step.op), [1, 3]);
});

test("a unit that becomes faster takes all that runs on it with it", () => {
  assert.equal(whatIf(diamond(), units(0.5, 0)).after, 200);
});

test("of an op on a unit that are both chosen both factors count", () => {
  const change: Change = { ops: new Set([2]), units: new Set([0]), factor: 0.5 };
  assert.equal(whatIf(diamond(), change).after, 200);  // a 50, b 50, but c ends at 150
  assert.equal(whatIf(graphOf([{ start: 0, end: 100 }]), { ...change, ops: new Set([0]) }).after, 25);
});

test("latencies and delays stay as they are", () => {
  const graph = graphOf([
    { start: 0, end: 100, unit: 0 },
    { start: 117, end: 200, unit: 1, delay: 7, links: [{ from: 0, latency: 10 }] },
    { start: 205, end: 300, unit: 1, before: 1, latency: 5 },
  ]);
  assert.deepEqual(Array.from(scheduleWith(graph, null).ends), [100, 200, 300]);
  assert.equal(whatIf(graph, ops(0, 0)).after, 200);
});

test("what follows in the midst of an execution follows after the same part of it", () => {
  const graph = graphOf([
    { start: 0, end: 100, unit: 0 },
    { start: 40, end: 240, unit: 1, links: [{ from: 0, part: 40 }] },
  ]);
  assert.equal(whatIf(graph, ops(0.5, 0)).after, 220);
  assert.deepEqual(observedSteps(graph).map(({ start, duration, gap }) => [start, duration, gap]), [[0, 40, 0], [40, 200, 0]]);
});

test("what nothing holds back starts when it started", () => {
  assert.equal(whatIf(graphOf([{ start: 0, end: 10 }, { start: 500, end: 600, unit: 1 }]), ops(0, 0)).after, 600);
});

test("time after the last execution stays", () => {
  const graph = graphOf([{ start: 0, end: 100 }], 130);
  const answer = whatIf(graph, ops(0.5, 0));
  assert.deepEqual([answer.before, answer.after], [130, 80]);
});

test("a step behind a landing waited for DMA, whatever the links say", () => {
  const graph = graphOf([
    { start: 0, end: 50, unit: 0 },
    { start: 90, end: 90, unit: 0, kind: 2, links: [{ from: 0, latency: 40 }] },
    { start: 90, end: 90, unit: 0, kind: 1, links: [{ from: 1, reason: 0 }] },
    { start: 95, end: 120, unit: 0, before: 0, links: [{ from: 2, latency: 5 }] },
  ]);
  assert.deepEqual(observedSteps(graph).map((step) => [step.op, graph.reasons[step.reason], step.gap]), [[0, "start", 0], [3, "DMA wait", 45]]);
});

test("of constraints that let go at once a link comes before the unit, and the first link", () => {
  const graph = graphOf([
    { start: 0, end: 50, unit: 0 }, { start: 0, end: 50, unit: 1 }, { start: 0, end: 50, unit: 2 },
    { start: 50, end: 60, unit: 0, before: 0, links: [{ from: 1 }, { from: 2 }] },
  ]);
  assert.deepEqual(pathThrough(observedSchedule(graph)).map(({ node }) => node), [1, 3]);
});

test("of those that end last the longest, then the first unit and row", () => {
  const last = (nodes: Node[]) => observedSchedule(graphOf(nodes)).last;
  assert.equal(last([{ start: 5, end: 10 }, { start: 0, end: 10, unit: 1 }]), 1);
  assert.equal(last([{ start: 0, end: 10, unit: 1 }, { start: 0, end: 10, unit: 0 }]), 1);
  assert.equal(last([{ start: 0, end: 10, row: 9 }, { start: 0, end: 10, row: 3 }]), 1);
  assert.equal(last([{ start: 0, end: 10, unit: -1 }, { start: 0, end: 10, unit: 4 }]), 1);
});

test("halves of ticks go away from zero", () => {
  assert.deepEqual([0.5, 1.5, -0.5, -1.5, 2.4].map(wholeTicks), [1, 2, -1, -2, 2]);
});

test("a graph whose links lead forward is none", () => {
  assert.equal(pathGraph(dataOf({}, { "node.start": [0], "node.end": [1], "node.kind": [0], "node.op": [0], "node.unit": [0], "node.row": [0], "node.delay": [0],
    "node.unit_before": [-1], "node.unit_latency": [0], "node.links": [1], "link.from": [0], "link.reason": [0], "link.latency": [0], "link.part": [-1] })), null);
});

// The wall as the longest way through the graph, by trying all of them.
function longest(graph: PathGraph, factor: (node: number) => number): number {
  const end = (node: number): number => {
    const length = (graph.end[node] - graph.start[node]) * factor(node);
    const ways: number[] = [];
    if (graph.unitBefore[node] >= 0) ways.push(end(graph.unitBefore[node]) + graph.unitLatency[node]);
    for (let i = graph.firstLink[node]; i < graph.firstLink[node + 1]; ++i) ways.push(end(graph.linkFrom[i]) + graph.linkLatency[i]);
    return (ways.length > 0 ? Math.max(...ways) : graph.start[node]) + graph.delay[node] + length;
  };
  return Math.max(...Array.from({ length: graph.size }, (_, node) => end(node)));
}

test("is what the longest of all ways says, on graphs at random", () => {
  const random = new Random(7);
  for (let round = 0; round < 200; ++round) {
    const nodes: Node[] = [];
    for (let i = 0; i < 12; ++i) {
      const links = Array.from({ length: i === 0 ? 0 : random.below(3) }, () => ({ from: random.below(i), latency: random.below(5) }));
      const before = i > 0 && random.below(2) === 0 ? random.below(i) : -1;
      const released = Math.max(...links.map((link) => nodes[link.from].end + link.latency), before < 0 ? -1 : nodes[before].end, -1);
      const start = Math.max(0, released) + (released < 0 ? random.below(20) : 0);
      nodes.push({ start, end: start + random.below(50), before, links, unit: random.below(3) });
    }
    const graph = graphOf(nodes);
    const chosen = new Set([random.below(12), random.below(12), random.below(12)]);
    const factor = [0, 0.25, 0.5][random.below(3)];
    const answer = whatIf(graph, { ops: chosen, units: new Set(), factor });
    assert.equal(answer.after, longest(graph, (node) => (chosen.has(node) ? factor : 1)));
    assert(limitOf(graph, ops(0.5, ...chosen)).wall <= answer.after);
  }
});
