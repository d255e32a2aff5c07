// What each unit did within a range of the timeline: busy, waits and idle, which add up to the range,
// and how many units were at work. As `npuscope units --from --to` counts (src/analysis/units/).
//
//   const {units, levels} = unitsInRange(data, {begin: 100, end: 900});
//   units[0]     // {unit: 3, busy: 500, dma: 100, sync: 0, barrier: 20, idle: 180}
import type { Data } from "../data/data";
import { cutSpans, union } from "../ops/self_times";
import type { Range } from "../state/store";

export type Interval = [begin: number, end: number];

export interface UnitInRange {
  unit: number;  // place in units
  busy: number;  // ticks
  dma: number;
  sync: number;
  barrier: number;
  idle: number;
}

export interface UnitsInRange {
  units: UnitInRange[];
  levels: number[];   // ticks with so many units at work
  merged: boolean;    // some spans stand for several: times are at most these
}

// What a span has within the range.
export interface Piece {
  span: number;  // place in the span columns
  begin: number;
  end: number;
  works: boolean;
  kind: string;
}

// Work and waits of each unit that has any.
export function piecesInRange(data: Data, range: Range): { units: { unit: number; pieces: Piece[] }[]; merged: boolean } {
  const cut = cutSpans(data, range);
  const kind = data.column("span.kind");
  const { kinds } = data.head;
  const units: { unit: number; pieces: Piece[] }[] = [];
  for (let i = 0; i < cut.count; ++i) {
    const of = kind[cut.place[i]];
    const role = cut.roles[of];
    if (role !== "work" && role !== "wait") continue;
    if (units.length === 0 || units[units.length - 1].unit !== cut.unit[i]) units.push({ unit: cut.unit[i], pieces: [] });
    units[units.length - 1].pieces.push({ span: cut.place[i], begin: cut.begin[i], end: cut.end[i], works: role === "work", kind: kinds[of].replaceAll(" ", "_") });
  }
  return { units, merged: cut.merged };
}

export function unitsInRange(data: Data, range: Range): UnitsInRange {
  const { units, merged } = piecesInRange(data, range);
  const busySets = units.map(({ pieces }) => busyOf(pieces, () => true));
  return {
    units: units.map(({ unit, pieces }, i) => ({ unit, ...divided(pieces, busySets[i], range.end - range.begin) })),
    levels: levelsOf(busySets, range), merged,
  };
}

// When those of the pieces that count were at work.
export const busyOf = (pieces: readonly Piece[], counts: (piece: Piece) => boolean): Interval[] =>
  difference(union(intervals(pieces, (piece) => piece.works && counts(piece))), heldWithinWork(pieces));

const intervals = (pieces: readonly Piece[], counts: (piece: Piece) => boolean): Interval[] =>
  pieces.filter(counts).map(({ begin, end }): Interval => [begin, end]);

export const lengthOf = (set: readonly Interval[]): number => set.reduce((sum, [begin, end]) => sum + end - begin, 0);

// A moment in which several wait counts for the one that is named first.
function divided(pieces: readonly Piece[], busy: Interval[], length: number): Omit<UnitInRange, "unit"> {
  let seen = busy;
  const part = (counts: (kind: string) => boolean): number => {
    const alone = difference(union(intervals(pieces, (piece) => !piece.works && counts(piece.kind))), seen);
    seen = union([...seen, ...alone]);
    return lengthOf(alone);
  };
  const dma = part((kind) => kind === "dma_wait");
  const sync = part((kind) => kind === "sync" || kind === "wait");
  const barrier = part((kind) => kind === "barrier");
  const taken = lengthOf(busy);
  return { busy: taken, dma, sync, barrier, idle: Math.max(0, length - taken - dma - sync - barrier) };
}

// Both sorted and without overlaps.
export function difference(from: readonly Interval[], less: readonly Interval[]): Interval[] {
  const left: Interval[] = [];
  let next = 0;
  for (const [begin, end] of from) {
    let at = begin;
    while (next < less.length && less[next][1] <= begin) ++next;
    for (let i = next; i < less.length && less[i][0] < end; ++i) {
      if (less[i][0] > at) left.push([at, less[i][0]]);
      at = Math.max(at, less[i][1]);
    }
    if (at < end) left.push([at, end]);
  }
  return left;
}

// Where work that lies around a wait for another unit is held by it: the last to begin has the unit.
function heldWithinWork(pieces: readonly Piece[]): Interval[] {
  if (!pieces.some((piece) => piece.kind === "wait")) return [];
  const sorted = [...pieces].sort((a, b) => a.begin - b.begin || b.end - a.end);
  const open: { end: number; isHeld: boolean; isInWork: boolean }[] = [];
  const held: Interval[] = [];
  let now = 0;
  const advance = (until: number): void => {
    for (let top = open[open.length - 1]; top !== undefined && now < until; top = open[open.length - 1]) {
      const end = Math.min(top.end, until);
      if (top.isHeld && end > now) held.push([now, end]);
      now = Math.max(now, end);
      if (top.end > now) return;
      open.pop();
    }
  };
  for (const piece of sorted) {
    if ((!piece.works && piece.kind !== "wait") || piece.end <= piece.begin) continue;
    advance(piece.begin);
    now = piece.begin;
    const inWork = open[open.length - 1]?.isInWork ?? false;
    open.push({ end: piece.end, isHeld: !piece.works && inWork, isInWork: piece.works || inWork });
  }
  advance(Infinity);
  return union(held);
}

function levelsOf(sets: readonly Interval[][], range: Range): number[] {
  const begins = Float64Array.from(sets.flatMap((set) => set.map(([begin]) => begin))).sort();
  const ends = Float64Array.from(sets.flatMap((set) => set.map(([, end]) => end))).sort();
  const levels: number[] = [];
  let now = range.begin;
  const pass = (until: number, level: number): void => {
    while (levels.length <= level) levels.push(0);
    levels[level] += Math.max(0, until - now);
    now = Math.max(now, until);
  };
  let begun = 0;
  for (let ended = 0; ended < ends.length;) {
    const isBegin = begun < begins.length && begins[begun] < ends[ended];
    pass(isBegin ? begins[begun] : ends[ended], begun - ended);
    if (isBegin) ++begun;
    else ++ended;
  }
  pass(range.end, 0);
  return levels;
}
