// What a faster op or unit would gain, as `npuscope path --faster PATTERN=2x` computes it
// (src/analysis/path/path.cpp).
//
//   new WhatIf(graph, {ops: new Set([3, 4]), units: new Set()}).answer(1 / 2).after    // ticks
import type { PathGraph } from "./graph";
import {
  type PathNode, type Schedule, type Step, observedSchedule, pathThrough, scheduleWith, startOf, stepsOf,
} from "./schedule";

export interface Choice {
  ops: ReadonlySet<number>;    // places in the op columns
  units: ReadonlySet<number>;  // places in units
}

export interface Answer {
  before: number;  // wall, ticks
  after: number;
  gain: number;
  takenOffPath: number;  // time that executions on the path lose: the gain if no other path stood in the way
  steps: Step[];         // of the new path
}

export interface Limit {
  wall: number;             // when what is chosen takes no time at all
  speedup: number | null;   // the smallest that reaches it; null: none does
}

const maxRounds = 64;

// The answers for one choice, whatever the factor: what does not depend on it is computed once, so
// that a slider can ask with every move.
export class WhatIf {
  private readonly observed: Schedule;
  private readonly observedPath: PathNode[];
  private readonly tail: number;          // of the wall, after the last execution
  private readonly chosen: Uint8Array;    // by node: how many of its op and its unit are

  constructor(private readonly graph: PathGraph, { ops, units }: Choice) {
    this.observed = observedSchedule(graph);
    this.observedPath = pathThrough(this.observed);
    this.tail = graph.wall - this.observed.lastEnd;
    this.chosen = new Uint8Array(graph.size);
    for (let node = 0; node < graph.size; ++node) this.chosen[node] = Number(ops.has(graph.op[node])) + Number(units.has(graph.unit[node]));
  }

  // Of those that are both of a chosen op and on a chosen unit, both factors count.
  answer(factor: number): Answer {
    const { graph, observed, tail } = this;
    const factors = this.factors(factor, factor * factor);
    const after = scheduleWith(graph, factors);
    let takenOffPath = 0;
    for (const { node, releasedNext } of this.observedPath) takenOffPath += (releasedNext - startOf(observed, node)) * (1 - factors[node]);
    const wall = after.lastEnd + tail;
    return { before: graph.wall, after: wall, gain: graph.wall - wall, takenOffPath, steps: stepsOf(after, pathThrough(after)) };
  }

  limit(): Limit {
    const end = scheduleWith(this.graph, this.factors(0, 0)).lastEnd;
    return { wall: end + this.tail, speedup: this.speedupTo(end) };
  }

  private factors(once: number, twice: number): Float64Array {
    const factors = new Float64Array(this.graph.size);
    const of = [1, once, twice];
    for (let node = 0; node < factors.length; ++node) factors[node] = of[this.chosen[node]];
    return factors;
  }

  // The wall is the longest of all paths, each a straight line in the factor of what is made faster.
  // From above, the line of the path that is longest at a factor meets the limit at a smaller one;
  // there the next is taken, until none rises above the limit.
  private speedupTo(limit: number): number | null {
    let factor = 1;
    for (let round = 0; round < maxRounds; ++round) {
      const schedule = scheduleWith(this.graph, this.factors(factor, factor));
      const above = schedule.lastEnd - limit;
      const path = pathThrough(schedule);
      if (above <= 1e-3 * path.length) return 1 / factor;
      let slope = 0;
      for (const { node, releasedNext } of path) {
        if (this.chosen[node] > 0) slope += (releasedNext - startOf(schedule, node)) / factor;
      }
      if (!(slope > 0)) return null;
      factor -= above / slope;
      if (!(factor > 1e-6)) return null;
    }
    return null;
  }
}

export function observedSteps(graph: PathGraph): Step[] {
  const schedule = observedSchedule(graph);
  return stepsOf(schedule, pathThrough(schedule));
}
