// Where the steps and gaps of a path lie on a strip.
import type { Step } from "./schedule";

export interface Rect {
  place: number;   // of the step, or of the step behind the gap
  isGap: boolean;
  x: number;
  width: number;
}

// Steps are at least a pixel wide; a pixel of edge stands between two wide ones.
export function stripRects(steps: readonly Step[], scale: number, width: number): Rect[] {
  const rects: Rect[] = [];
  const at = (ticks: number): number => (ticks / scale) * width;
  steps.forEach((step, place) => {
    const begin = at(step.start);
    if (step.gap > 0) rects.push({ place, isGap: true, x: at(step.start - step.gap), width: at(step.gap) });
    const wide = at(step.duration);
    rects.push({ place, isGap: false, x: begin, width: wide > 4 ? wide - 1 : Math.max(1, wide) });
  });
  return rects;
}

// The step at a moment or the one behind the gap there; `near` ticks around it count, the longest of them.
export function stepAt(steps: readonly Step[], time: number, near: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {  // the first that ends at `time - near` or later
    const middle = (low + high) >> 1;
    if (steps[middle].start + steps[middle].duration >= time - near) high = middle;
    else low = middle + 1;
  }
  let best = -1;
  for (let i = low; i < steps.length && steps[i].start - steps[i].gap <= time + near; ++i) {
    const isIn = time >= steps[i].start - steps[i].gap && time <= steps[i].start + steps[i].duration;
    if (best < 0 || (isIn && steps[i].duration > steps[best].duration)) best = i;
  }
  return best;
}
