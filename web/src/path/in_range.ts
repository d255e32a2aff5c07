// The pieces of the observed path that lie within a range of the timeline. They are not the critical
// path of the range alone, which another end would have.
//
//   const pieces = piecesOfPath(steps, {begin: 100, end: 900});
//   pieces[0]    // {place: 7, start: 0, duration: 80, gap: 0, …}: what the range holds of step 7
import { engineName } from "../format/engines";
import type { Range } from "../state/store";
import type { Step } from "./schedule";

export interface Piece extends Step {
  place: number;  // of the step in the path
}

// `range` counts from the path's begin, as steps do; pieces count from the range's begin.
export function piecesOfPath(steps: readonly Step[], range: Range): Piece[] {
  const inside = (begin: number, end: number): number => Math.max(0, Math.min(end, range.end) - Math.max(begin, range.begin));
  return steps.flatMap((step, place) => {
    const end = step.start + step.duration;
    const [gap, duration] = [inside(step.start - step.gap, step.start), inside(step.start, end)];
    if (gap + duration === 0) return [];
    return [{ ...step, place, gap, duration, start: Math.min(Math.max(step.start, range.begin), range.end) - range.begin }];
  });
}

export interface PathPart {
  label: string;
  ticks: number;
}

// Work by class of hardware and waits by reason, the most first; then what of the range no step covers.
export function partsOfPieces(pieces: readonly Piece[], length: number, engineOf: (piece: Piece) => string, reasonOf: (piece: Piece) => string): PathPart[] {
  const parts = new Map<string, number>();
  const add = (label: string, ticks: number): void => {
    if (ticks > 0) parts.set(label, (parts.get(label) ?? 0) + ticks);
  };
  let left = length;
  for (const piece of pieces) {
    add(`work, ${engineName(engineOf(piece))}`, piece.duration);
    add(`waiting, ${reasonOf(piece)}`, piece.gap);
    left -= piece.duration + piece.gap;
  }
  const sorted = [...parts].map(([label, ticks]) => ({ label, ticks })).sort((a, b) => b.ticks - a.ticks);
  return left > 0 ? [...sorted, { label: "not on the path", ticks: left }] : sorted;
}
