// Numbers over time beneath the lanes: counters, and bytes by route.
import type { Data } from "../data/data";
import { lowerBound, type Column } from "./times";

export interface Series {
  readonly key: string;
  readonly label: string;
  readonly title: string;     // in full
  readonly quantity: string;  // "bytes", "", "bytes per tick"
  readonly time: Column;      // sorted; a value holds until the next
  readonly value: Column;
  readonly end: number;       // of the last value
  readonly max: number;
}

export interface SeriesGroup {
  readonly key: string;
  readonly label: string;
  readonly series: Series[];
}

function maxOf(values: Column): number {
  let max = 0;
  for (const value of values) if (value > max) max = value;
  return max;
}

function bandwidthOf(data: Data): Series[] {
  const { bandwidth } = data.head;
  if (bandwidth === null || !(bandwidth.width > 0)) return [];
  return bandwidth.routes.filter((route) => route.bytes.some((bytes) => bytes > 0)).map((route) => {
    const value = Float64Array.from(route.bytes, (bytes) => bytes / bandwidth.width);
    const time = Float64Array.from(route.bytes, (_, i) => bandwidth.begin + i * bandwidth.width);
    return { key: `route ${route.name}`, label: route.name, title: route.name, quantity: "bytes per tick", time, value,
             end: bandwidth.begin + route.bytes.length * bandwidth.width, max: maxOf(value) };
  });
}

function countersOf(data: Data): Series[] {
  const times = data.column("counter.time");
  const values = data.column("counter.value");
  return data.head.counters.flatMap((counter, i): Series[] => {
    const cut = (column: Column): Column => column.subarray(counter.first_sample, counter.first_sample + counter.samples) as Column;
    const time = cut(times);
    if (time.length < 2) return [];  // a total, not a series
    const value = cut(values);
    const unit = data.head.units[counter.unit]?.path ?? "";
    const where = [counter.part, unit].filter((text) => text !== "").join(", ");
    return [{ key: `counter ${i}`, label: where === "" ? counter.name : `${counter.name} · ${where}`, title: where === "" ? counter.name : `${counter.name}, ${where}`,
              quantity: counter.quantity, time, value, end: data.head.length, max: maxOf(value) }];
  });
}

export function buildSeries(data: Data): SeriesGroup[] {
  const groups: SeriesGroup[] = [
    { key: "traffic", label: "DDR traffic", series: bandwidthOf(data) },
    { key: "counters", label: "Counters", series: countersOf(data) },
  ];
  return groups.filter((group) => group.series.length > 0);
}

// The value that holds at a time; null before the first.
export function valueAt(series: Series, time: number): number | null {
  const at = lowerBound(series.time, time + 1e-9, 0, series.time.length) - 1;
  return at < 0 || time >= series.end ? null : series.value[at];
}

// Of each pixel the max of the values that hold in it; NaN: none.
export function maxByPixel(series: Series, begin: number, end: number, width: number): Float64Array {
  const out = new Float64Array(width).fill(NaN);
  const { time, value } = series;
  const perPixel = (end - begin) / width;
  let at = Math.max(0, lowerBound(time, begin, 0, time.length) - 1);
  for (let pixel = 0; pixel < width; ++pixel) {
    const from = begin + pixel * perPixel;
    const to = from + perPixel;
    if (from >= series.end) break;
    while (at + 1 < time.length && time[at + 1] <= from) ++at;
    if (time[at] >= to) continue;
    let max = value[at];
    while (at + 1 < time.length && time[at + 1] < to) {
      ++at;
      if (value[at] > max) max = value[at];
    }
    out[pixel] = max;
  }
  return out;
}
