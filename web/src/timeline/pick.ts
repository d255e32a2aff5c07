// What is under a point of the timeline.
import { itemAt, rowAt, type Item, type Layout } from "./layout";
import { timeOf, type Scale } from "./view";
import type { Row } from "./row";

export interface Picked {
  readonly item: Item;
  readonly time: number;
  readonly unit: number;  // -1: none
  readonly span: number;  // place in the span columns; -1: none
  readonly near: number;  // spans that this one stands for, because they are narrower than a pixel
}

const reach = 3;  // pixels beside a narrow span

// The longest span of the pixel at `time`; else the nearest one in reach.
function spanNear(row: Row, time: number, perPixel: number): { place: number; near: number } {
  const [first, last] = row.placesIn(time - perPixel / 2, time + perPixel / 2);
  let best = -1;
  const limit = Math.min(last, first + 100000);  // a pixel of millions is as well read from some
  for (let i = first; i < limit; ++i) if (best < 0 || row.duration[i] > row.duration[best]) best = i;
  if (best >= 0) return { place: best, near: last - first };
  const around = reach * perPixel;
  const [from, to] = row.placesIn(time - around, time + around);
  let distance = Infinity;
  for (let i = from; i < Math.min(to, from + 1000); ++i) {
    const away = Math.max(row.start[i] - time, time - row.start[i] - row.duration[i]);
    if (away < distance) {
      distance = away;
      best = i;
    }
  }
  return { place: best, near: 1 };
}

export function pick(layout: Layout, view: Scale, x: number, y: number): Picked | null {
  const item = itemAt(layout, y);
  if (item === null) return null;
  const time = timeOf(view, x);
  const drawn = rowAt(item, y);
  if (drawn === null) return { item, time, unit: -1, span: -1, near: 0 };
  const { place, near } = spanNear(drawn.row, time, (view.end - view.begin) / view.width);
  return { item, time, unit: drawn.unit, span: place < 0 ? -1 : drawn.row.spanAt(place), near };
}
