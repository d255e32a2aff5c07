// The observed path out of the columns step.*, which a profile has even where it has no graph for
// what-if.
import type { Data } from "../data/data";
import type { Step } from "./schedule";

export interface ObservedStep extends Step {
  span: number;  // place in the span columns; -1: merged
}

export function observedPath(data: Data): ObservedStep[] {
  const column = (name: string) => data.column(`step.${name}`);
  const [span, op, unit, start, duration, gap, reason] = ["span", "op", "unit", "start", "duration", "gap", "reason"].map(column);
  return Array.from({ length: start.length }, (_, i) => ({
    node: -1, span: span[i] ?? -1, op: op[i], unit: unit[i], start: start[i] - data.head.path_begin, duration: duration[i], gap: gap[i], reason: reason[i],
  }));
}
