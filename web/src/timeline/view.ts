// The stretch of time that the timeline shows, and where its ticks are on the screen.
//
//   const view = fitted({ begin: 0, end: 1000 }, 0, 1000);
//   zoomed(view, 0.5, 250, limits)   { begin: 125, end: 625 }: tick 250 stays where it is
import type { Range } from "../state/store";

// One tick as wide as the screen is as near as it gets.
export const minLength = 1;

// Into the limits, as long as before where that is possible.
export function clamped(view: Range, limits: Range): Range {
  const most = limits.end - limits.begin;
  const length = Math.min(most, Math.max(minLength, view.end - view.begin));
  const middle = (view.begin + view.end) / 2;
  const wanted = view.end - view.begin === length ? view.begin : middle - length / 2;
  const begin = Math.min(limits.end - length, Math.max(limits.begin, wanted));
  return { begin, end: begin + length };
}

// `factor` of the length, with `time` where it was.
export function zoomed(view: Range, factor: number, time: number, limits: Range): Range {
  const length = view.end - view.begin;
  const wanted = Math.min(limits.end - limits.begin, Math.max(minLength, length * factor));
  const begin = time - ((time - view.begin) * wanted) / length;
  return clamped({ begin, end: begin + wanted }, limits);
}

export function panned(view: Range, ticks: number, limits: Range): Range {
  return clamped({ begin: view.begin + ticks, end: view.end + ticks }, limits);
}

// A range with a margin on both sides.
export function around(range: Range, limits: Range, margin = 0.1): Range {
  const length = Math.max(minLength, range.end - range.begin);
  return clamped({ begin: range.begin - length * margin, end: range.begin + length * (1 + margin) }, limits);
}

export interface Scale {
  readonly begin: number;
  readonly end: number;
  readonly width: number;  // pixels
}

export const xOf = (scale: Scale, time: number): number => ((time - scale.begin) * scale.width) / (scale.end - scale.begin);
export const timeOf = (scale: Scale, x: number): number => scale.begin + (x * (scale.end - scale.begin)) / scale.width;

// Whole ticks that a selection from one point to another holds; at least one.
export function selected(a: number, b: number, limits: Range): Range {
  const begin = Math.min(Math.max(Math.floor(Math.min(a, b)), limits.begin), limits.end - 1);
  const end = Math.max(Math.min(Math.ceil(Math.max(a, b)), limits.end), begin + 1);
  return { begin, end };
}
