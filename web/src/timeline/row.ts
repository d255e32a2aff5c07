// Spans that are drawn side by side in one row, with their pyramid.
import { buildPyramid, type Level } from "./pyramid";
import { lowerBound, type Column } from "./times";
import type { Spans } from "./spans";

function gathered(column: Column, places: Int32Array): Column {
  const out = column instanceof Float64Array ? new Float64Array(places.length) : new Int32Array(places.length);
  for (let i = 0; i < places.length; ++i) out[i] = column[places[i]];
  return out;
}

export class Row {
  readonly start: Column;
  readonly duration: Column;
  readonly active: Column;
  private built: Level[] | null = null;

  // The spans first … first + count - 1, or those of `places`.
  constructor(spans: Spans, private readonly first: number, count: number, private readonly places: Int32Array | null) {
    const part = (column: Column): Column =>
      places === null ? column.subarray(first, first + count) as Column : gathered(column, places);
    this.start = part(spans.start);
    this.duration = part(spans.duration);
    this.active = spans.active === spans.duration ? this.duration : part(spans.active);
  }

  get count(): number {
    return this.start.length;
  }

  get levels(): Level[] {
    return this.built ??= buildPyramid(this.start, this.duration, this.active);
  }

  // Place in the span columns.
  spanAt(place: number): number {
    return this.places === null ? this.first + place : this.places[place];
  }

  // -1: not in this row.
  placeOf(span: number): number {
    if (this.places === null) return span >= this.first && span < this.first + this.count ? span - this.first : -1;
    const at = lowerBound(this.places, span, 0, this.places.length);
    return this.places[at] === span ? at : -1;
  }

  // The first place that may be seen from `time` on: it or the one before it ends behind.
  firstFrom(time: number): number {
    const at = lowerBound(this.start, time, 0, this.count);
    return at > 0 && this.start[at - 1] + this.duration[at - 1] > time ? at - 1 : at;
  }

  // The places whose spans lie in begin … end, at least in part.
  placesIn(begin: number, end: number): [first: number, last: number] {
    return [this.firstFrom(begin), lowerBound(this.start, end, 0, this.count)];
  }
}
