// Which classes of hardware worked at once within a range of the timeline, as `npuscope units --from
// --to` counts it: a class works while any of its units does.
//
//   const found = overlapInRange(names, data, {begin: 100, end: 900});
//   found.classes    // [{name: "HVX", active: 420}, {name: "DMA", active: 300}]
//   found.both[0][1] // 180 ticks in which both worked
import type { Data } from "../data/data";
import { engineNames } from "../format/engines";
import type { OpNames } from "../ops/op_names";
import { union } from "../ops/self_times";
import type { Range } from "../state/store";
import { busyOf, difference, lengthOf, piecesInRange, type Interval } from "./in_range";

export interface OverlapInRange {
  classes: { name: string; active: number }[];  // ticks
  both: number[][];
}

export function overlapInRange(names: OpNames, data: Data, range: Range): OverlapInRange {
  const op = data.column("span.op");
  const sets = new Map<string, Interval[]>();
  for (const { unit, pieces } of piecesInRange(data, range).units) {
    const engines = new Map(pieces.map((piece) => [piece.span, names.engineOfSpan(piece.span, op[piece.span] ?? -1, unit)]));
    for (const engine of new Set(engines.values())) {
      const busy = busyOf(pieces, (piece) => engines.get(piece.span) === engine);
      if (busy.length > 0) sets.set(engine, union([...(sets.get(engine) ?? []), ...busy]));
    }
  }
  const found = [...engineNames].flatMap(([engine, name]) => {
    const set = sets.get(engine);
    return set === undefined ? [] : [{ name, set, active: lengthOf(set) }];
  });
  return {
    classes: found.map(({ name, active }) => ({ name, active })),
    both: found.map((a) => found.map((b) => a.active - lengthOf(difference(a.set, b.set)))),
  };
}
