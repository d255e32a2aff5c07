// What spans weigh within a window, by the rules of `npuscope ops --from --to`: a span is cut to the
// window; its self time is its duration less what of its kind lies wholly inside it on its unit; and
// of an op that issues a transfer the time in which the transfer runs is no work.
//
//   const cut = cutSpans(data, {begin: 100, end: 900});
//   cut.place[i], cut.own[i]      // of the i-th span of the window: its place, its self time
import type { Data } from "../data/data";
import type { Range } from "../state/store";
import { type Role, roleOf } from "./roles";

export interface CutSpans {
  count: number;
  place: Int32Array;   // in the span columns
  unit: Int32Array;
  begin: Float64Array;
  end: Float64Array;
  own: Float64Array;
  issue: Float64Array; // of own: beside a transfer of the same op
  roles: Role[];       // by place in kinds
  merged: boolean;     // whether any stands for several spans: then times are near the true ones
}

export function cutSpans(data: Data, window: Range): CutSpans {
  const start = data.column("span.start");
  const duration = data.column("span.duration");
  const kind = data.column("span.kind");
  const active = data.column("span.active");
  const count = data.column("span.count");
  const roles = data.head.kinds.map(roleOf);
  const transfer = data.head.kinds.indexOf("transfer");
  const instant = data.head.kinds.indexOf("instant");
  const heldWait = data.head.kinds.indexOf("wait");
  const places: number[] = [];
  const units: number[] = [];
  data.head.units.forEach((unit, number) => {
    // Spans lie by their start: those beyond the window's end come last.
    for (let i = unit.first_span; i < unit.first_span + unit.spans; ++i) {
      if (start[i] >= window.end) break;
      const end = start[i] + Math.max(0, duration[i]);
      if (end > window.begin || (end === start[i] && start[i] === window.begin)) {
        places.push(i);
        units.push(number);
      }
    }
  });
  const cut: CutSpans = {
    count: places.length, place: Int32Array.from(places), unit: Int32Array.from(units),
    begin: new Float64Array(places.length), end: new Float64Array(places.length),
    own: new Float64Array(places.length), issue: new Float64Array(places.length), roles, merged: false,
  };
  const share = new Float64Array(places.length).fill(1);
  for (let i = 0; i < cut.count; ++i) {
    const place = cut.place[i];
    const length = Math.max(0, duration[place]);
    cut.begin[i] = Math.max(start[place], window.begin);
    cut.end[i] = Math.max(cut.begin[i], Math.min(start[place] + length, window.end));
    if (count.length > 0 && count[place] > 1) {
      cut.merged = true;
      if (active.length > 0 && length > 0) share[i] = active[place] / length;
    }
  }
  for (let first = 0; first < cut.count;) {
    let last = first;
    while (last < cut.count && cut.unit[last] === cut.unit[first]) ++last;
    nest(cut, first, last, (i) => {
      const of = kind[cut.place[i]];
      if (roles[of] === "frame" || of === instant) return "none";
      if (roles[of] === "overlay" || of === transfer) return "alone";
      if (roles[of] === "work" || of === heldWait) return "work";
      return "wait";
    });
    first = last;
  }
  for (let i = 0; i < cut.count; ++i) cut.own[i] *= share[i];
  findIssues(data, cut, transfer);
  return cut;
}

interface Open {
  at: number;
  end: number;
  covered: number;  // by what is inside, up to here
}

// Each is inside one other, the last to begin of those that contain it.
function add(stack: Open[], cut: CutSpans, at: number): void {
  const begin = cut.begin[at];
  const end = cut.end[at];
  while (stack.length > 0 && stack[stack.length - 1].end < end) stack.pop();
  const outer = stack[stack.length - 1];
  if (outer !== undefined) {
    cut.own[outer.at] -= Math.max(0, end - Math.max(outer.covered, begin));
    outer.covered = Math.max(outer.covered, end);
  }
  stack.push({ at, end, covered: begin });
}

function nest(cut: CutSpans, first: number, last: number, wayOf: (i: number) => "none" | "alone" | "work" | "wait"): void {
  // What the window's begin cut may now be out of order: the longer first.
  let ordered = first;
  while (ordered < last && cut.begin[ordered] === cut.begin[first]) ++ordered;
  const cutOnes = Array.from({ length: ordered - first }, (_, i) => first + i).sort((a, b) => cut.end[b] - cut.end[a] || a - b);
  const work: Open[] = [];
  const waits: Open[] = [];
  for (let i = first; i < last; ++i) {
    const at = i < ordered ? cutOnes[i - first] : i;
    const way = wayOf(at);
    if (way === "none") continue;
    const length = (cut.own[at] = cut.end[at] - cut.begin[at]);
    if (way === "alone" || length === 0) continue;
    add(way === "work" ? work : waits, cut, at);
  }
}

function findIssues(data: Data, cut: CutSpans, transfer: number): void {
  const kind = data.column("span.kind");
  const op = data.column("span.op");
  const issuing = data.head.kinds.indexOf("op");
  const transfers = new Map<number, [number, number][]>();
  for (let i = 0; i < cut.count; ++i) {
    const of = op[cut.place[i]];
    if (kind[cut.place[i]] !== transfer || of < 0) continue;
    const all = transfers.get(of);
    if (all === undefined) transfers.set(of, [[cut.begin[i], cut.end[i]]]);
    else all.push([cut.begin[i], cut.end[i]]);
  }
  if (transfers.size === 0) return;
  const joined = new Map<number, [number, number][]>();
  for (const [of, intervals] of transfers) joined.set(of, union(intervals));
  for (let i = 0; i < cut.count; ++i) {
    if (kind[cut.place[i]] !== issuing) continue;
    const set = joined.get(op[cut.place[i]]);
    if (set !== undefined) cut.issue[i] = Math.min(cut.own[i], covered(set, cut.begin[i], cut.end[i]));
  }
}

// Sorted and without overlaps.
export function union(intervals: [number, number][]): [number, number][] {
  const sorted = intervals.filter(([begin, end]) => end > begin).sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [begin, end] of sorted) {
    const last = joined[joined.length - 1];
    if (last !== undefined && begin <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([begin, end]);
  }
  return joined;
}

function covered(set: readonly [number, number][], begin: number, end: number): number {
  let low = 0;
  let high = set.length;
  while (low < high) {  // the first that ends beyond `begin`
    const middle = (low + high) >> 1;
    if (set[middle][1] > begin) high = middle;
    else low = middle + 1;
  }
  let sum = 0;
  for (let i = low; i < set.length && set[i][0] < end; ++i) {
    sum += Math.max(0, Math.min(end, set[i][1]) - Math.max(begin, set[i][0]));
  }
  return sum;
}
