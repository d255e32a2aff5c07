// The spans of a set of ops, by row, in the order of their time: what is highlighted, what a search
// found, and which of them comes next.
import { allLanes, type Lane } from "./lanes";
import type { Row } from "./row";
import type { Spans } from "./spans";

export interface ChosenRow {
  readonly row: Row;
  readonly places: Int32Array;
}

export class ChosenSpans {
  private readonly byRow = new Map<Row, Int32Array>();
  readonly rows: ChosenRow[] = [];
  readonly total: number;

  constructor(lanes: readonly Lane[], spans: Spans, readonly has: (span: number) => boolean) {
    let total = 0;
    for (const lane of allLanes(lanes)) {
      for (const row of lane.rows) {
        const places: number[] = [];
        for (let i = 0; i < row.count; ++i) if (has(row.spanAt(i))) places.push(i);
        if (places.length === 0) continue;
        const list = Int32Array.from(places);
        this.rows.push({ row, places: list });
        this.byRow.set(row, list);
        for (const place of list) total += spans.mergedCount(row.spanAt(place));
      }
    }
    this.total = total;
  }

  placesOf(row: Row): Int32Array | null {
    return this.byRow.get(row) ?? null;
  }

  // How many places there are; spans that were merged into one count once here.
  get count(): number {
    return this.rows.reduce((sum, { places }) => sum + places.length, 0);
  }

  // Which one in order of time `span` is, from 0 on; -1: it is not one of them.
  indexOf(span: number, start: number): number {
    let index = 0;
    let found = false;
    for (const { row, places } of this.rows) {
      const at = firstBehind(row, places, start, span);
      index += at;
      if (at < places.length && row.spanAt(places[at]) === span) found = true;
    }
    return found ? index : -1;
  }

  // The first one behind `span`, which starts at `start`; the last one gives the first one.
  next(spans: Spans, span: number, start: number): number {
    let best = -1;
    for (const { row, places } of this.rows) {
      const at = firstBehind(row, places, start, span + 1);
      if (at < places.length) best = earlier(spans, best, row.spanAt(places[at]));
    }
    return best >= 0 || start === -Infinity ? best : this.next(spans, -1, -Infinity);
  }

  before(spans: Spans, span: number, start: number): number {
    let best = -1;
    for (const { row, places } of this.rows) {
      const at = firstBehind(row, places, start, span) - 1;
      if (at >= 0) best = later(spans, best, row.spanAt(places[at]));
    }
    return best >= 0 || start === Infinity ? best : this.before(spans, Infinity, Infinity);
  }
}

// The first place that comes at or behind (start, span) in the order of start, then span.
function firstBehind(row: Row, places: Int32Array, start: number, span: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = places[middle];
    const before = row.start[place] < start || (row.start[place] === start && row.spanAt(place) < span);
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}

const earlier = (spans: Spans, a: number, b: number): number =>
  a < 0 || spans.start[b] < spans.start[a] || (spans.start[b] === spans.start[a] && b < a) ? b : a;
const later = (spans: Spans, a: number, b: number): number =>
  a < 0 || spans.start[b] > spans.start[a] || (spans.start[b] === spans.start[a] && b > a) ? b : a;
