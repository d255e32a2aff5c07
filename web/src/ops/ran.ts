// The ops that ran within a range of the timeline, work or waits of them.
import type { Data } from "../data/data";
import type { Range } from "../state/store";
import { roleOf } from "./roles";

export function opsThatRan(data: Data, range: Range): Set<number> {
  const [op, kind, start, duration] = ["op", "kind", "start", "duration"].map((name) => data.column(`span.${name}`));
  const counts = data.head.kinds.map((name) => ["work", "wait"].includes(roleOf(name)));
  const ran = new Set<number>();
  for (const unit of data.head.units) {
    for (let i = unit.first_span; i < unit.first_span + unit.spans && start[i] < range.end; ++i) {
      if (op[i] >= 0 && counts[kind[i]] && start[i] + duration[i] > range.begin) ran.add(op[i]);
    }
  }
  return ran;
}
