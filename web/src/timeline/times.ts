// Sorted columns of ticks, and how to find a place in them.
import type { Column } from "../data/data";

export type { Column };

// The first place in begin … end - 1 whose value is >= `value`; end if there is none.
export function lowerBound(column: Column, value: number, begin: number, end: number): number {
  while (begin < end) {
    const middle = (begin + end) >>> 1;
    if (column[middle] < value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}
