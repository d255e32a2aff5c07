// When everything starts and ends, given how long it takes: forward along a path graph; and the
// path that decided it, backward. The algorithm of src/analysis/path/path_schedule.cpp, operation
// by operation, so that the numbers are the same to the last tick.
//
//   const after = scheduleWith(graph, Float64Array.of(1, 0.5));  // the second node twice as fast
//   after.lastEnd                  // ticks
//   pathThrough(after)             // its nodes, from the first to the last
import { execution, landing, type PathGraph } from "./graph";

// By node, what part of its time it takes; null: all of it.
export type Factors = Float64Array | null;

export interface Schedule {
  graph: PathGraph;
  factors: Factors;
  ends: Float64Array;
  last: number;  // the node that ends last; -1: none
  lastEnd: number;
}

export interface PathNode {
  node: number;
  reason: number;        // place in reasons
  releasedNext: number;  // when it let the next one go: its end, unless a flow left it before
}

export interface Step {
  node: number;
  op: number;
  unit: number;
  start: number;  // ticks since the path's begin
  duration: number;
  gap: number;
  reason: number;
}

export function lengthOf(schedule: Schedule, node: number): number {
  const { graph, factors } = schedule;
  const observed = graph.end[node] - graph.start[node];
  if (!(observed > 0)) return 0;
  return factors === null ? observed : observed * factors[node];
}

export const startOf = (schedule: Schedule, node: number): number => schedule.ends[node] - lengthOf(schedule, node);

// That of the observed durations is what was observed.
export function observedSchedule(graph: PathGraph): Schedule {
  const schedule: Schedule = { graph, factors: null, ends: graph.end, last: -1, lastEnd: 0 };
  findLast(schedule);
  return schedule;
}

export function scheduleWith(graph: PathGraph, factors: Factors): Schedule {
  const ends = new Float64Array(graph.size);
  const schedule: Schedule = { graph, factors, ends, last: -1, lastEnd: 0 };
  const { start, end, delay, unitBefore, unitLatency, firstLink, linkFrom, linkLatency, linkPart } = graph;
  for (let node = 0; node < graph.size; ++node) {
    const before = unitBefore[node];
    let released = before >= 0 ? ends[before] + unitLatency[node] : -Infinity;
    for (let i = firstLink[node]; i < firstLink[node + 1]; ++i) {
      const from = linkFrom[i];
      if (from < 0) continue;
      const part = linkPart[i];
      let time: number;
      if (part === -1) {
        time = ends[from] + linkLatency[i];
      } else {
        const factor = factors === null ? 1 : factors[from];
        const ran = end[from] - start[from];
        const length = ran > 0 ? (factors === null ? ran : ran * factor) : 0;
        time = ends[from] - length + part * factor;
      }
      if (time > released) released = time;
    }
    if (released === -Infinity) released = start[node];
    const observed = end[node] - start[node];
    const length = observed > 0 ? (factors === null ? observed : observed * factors[node]) : 0;
    ends[node] = released + delay[node] + length;
  }
  findLast(schedule);
  return schedule;
}

// Of those that end at once the longest, of such the one whose unit and row come first.
function findLast(schedule: Schedule): void {
  const { graph, ends } = schedule;
  for (let node = 0; node < graph.size; ++node) {
    if (graph.kind[node] !== execution) continue;
    if (schedule.last < 0 || (ends[node] >= ends[schedule.last] && isLater(schedule, node, schedule.last))) {
      schedule.last = node;
    }
  }
  schedule.lastEnd = schedule.last < 0 ? 0 : ends[schedule.last];
}

function isLater(schedule: Schedule, node: number, other: number): boolean {
  const { graph, ends } = schedule;
  if (ends[node] !== ends[other]) return ends[node] > ends[other];
  const start = startOf(schedule, node);
  const otherStart = startOf(schedule, other);
  if (start !== otherStart) return start < otherStart;
  const unit = (of: number) => (graph.unit[of] < 0 ? Infinity : graph.unit[of]);
  if (unit(node) !== unit(other)) return unit(node) < unit(other);
  if (graph.row[node] !== graph.row[other]) return graph.row[node] < graph.row[other];
  return node < other;
}

interface Binding {
  from: number;  // -1: nothing held it back
  reason: number;
  time: number;
}

// Of constraints that let go at once, a link before the unit, and the first link.
function bindingOf(schedule: Schedule, node: number, reasons: KnownReasons): Binding {
  const { graph, ends, factors } = schedule;
  const binding: Binding = { from: -1, reason: reasons.start, time: 0 };
  for (let i = graph.firstLink[node]; i < graph.firstLink[node + 1]; ++i) {
    const from = graph.linkFrom[i];
    if (from < 0) continue;
    const part = graph.linkPart[i];
    const time = part === -1
      ? ends[from] + graph.linkLatency[i]
      : startOf(schedule, from) + part * (factors === null ? 1 : factors[from]);
    if (binding.from >= 0 && time <= binding.time) continue;
    binding.from = from;
    binding.reason = graph.linkReason[i];
    binding.time = time;
  }
  const before = graph.unitBefore[node];
  if (before >= 0) {
    const time = ends[before] + graph.unitLatency[node];
    if (binding.from < 0 || time > binding.time) return { from: before, reason: reasons.unit, time };
  }
  return binding;
}

interface KnownReasons {
  start: number;
  unit: number;
  dmaWait: number;
}

// From the first node to the last; executions only.
export function pathThrough(schedule: Schedule): PathNode[] {
  const { graph } = schedule;
  const reasons: KnownReasons = {
    start: graph.reasons.indexOf("start"), unit: graph.reasons.indexOf("unit"), dmaWait: graph.reasons.indexOf("DMA wait"),
  };
  const path: PathNode[] = [];
  let node = schedule.last;
  let releasedNext = schedule.lastEnd;
  while (node >= 0) {
    // Through nodes without length the reason is the first that says something.
    let reason = reasons.start;
    let landed = 0;
    let binding = bindingOf(schedule, node, reasons);
    for (;;) {
      if ((reason === reasons.start || reason === reasons.unit) && binding.reason !== reasons.start) reason = binding.reason;
      if (binding.from < 0 || graph.kind[binding.from] === execution) break;
      if (graph.kind[binding.from] === landing) landed = Math.max(landed, schedule.ends[binding.from]);
      binding = bindingOf(schedule, binding.from, reasons);
    }
    if (binding.from < 0) reason = reasons.start;
    else if (landed > 0) reason = reasons.dmaWait;
    path.push({ node, reason, releasedNext });
    const from = binding.from;
    releasedNext = from < 0 ? 0 : Math.min(schedule.ends[from], startOf(schedule, node));
    node = from;
  }
  return path.reverse();
}

// To the nearest whole number, halves away from zero.
export const wholeTicks = (ticks: number): number => Math.sign(ticks) * Math.floor(Math.abs(ticks) + 0.5);

export function stepsOf(schedule: Schedule, path: readonly PathNode[]): Step[] {
  const { graph } = schedule;
  let before = 0;
  return path.map(({ node, reason, releasedNext }) => {
    const start = wholeTicks(startOf(schedule, node));
    const end = wholeTicks(releasedNext);
    const step = { node, op: graph.op[node], unit: graph.unit[node], start, duration: end - start, gap: start - before, reason };
    before = end;
    return step;
  });
}
