// How much each op works, over all units: what the boxes of the graph are coloured by.
import type { Data } from "../data/data";
import { roleOf } from "../ops/roles";

// Durations of its spans of work; nested ones count in both, which is near enough for a colour.
export function workByOp(data: Data): Float64Array {
  const [op, kind, duration, active] = ["op", "kind", "duration", "active"].map((name) => data.column(`span.${name}`));
  const works = data.head.kinds.map((name) => roleOf(name) === "work");
  const work = new Float64Array(data.column("op.name").length);
  for (let i = 0; i < op.length; ++i) {
    if (op[i] >= 0 && works[kind[i]]) work[op[i]] += active.length > 0 ? active[i] : duration[i];
  }
  return work;
}

// The unit that an op's first span of work is on; -1: it did not work.
export function unitByOp(data: Data): Int32Array {
  const op = data.column("span.op");
  const kind = data.column("span.kind");
  const works = data.head.kinds.map((name) => roleOf(name) === "work");
  const units = new Int32Array(data.column("op.name").length).fill(-1);
  data.head.units.forEach((unit, place) => {
    for (let i = unit.first_span; i < unit.first_span + unit.spans; ++i) {
      if (op[i] >= 0 && works[kind[i]] && units[op[i]] < 0) units[op[i]] = place;
    }
  });
  return units;
}
