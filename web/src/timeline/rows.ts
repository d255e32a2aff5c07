// Which spans of a unit are drawn in which row: a span goes to the first row that is free, so nested
// slices stand below what holds them, and transfers that overlap below one another.
//
//   0 |outer-----------------|  |next|
//   1   |inner--|  |inner-|
import type { Column } from "./times";

// More overlap than this is drawn in the last row.
export const maxRows = 48;

// The spans first … first + count - 1, sorted by start and then the longer first. Null: one row holds
// them all, in their order.
export function splitRows(start: Column, duration: Column, first: number, count: number): Int32Array[] | null {
  let end = -Infinity;
  let overlaps = 0;
  for (let i = first; i < first + count; ++i) {
    if (start[i] < end) {
      overlaps = 1;
      break;
    }
    end = start[i] + duration[i];
  }
  if (overlaps === 0) return null;
  const rowOf = new Uint8Array(count);
  const ends: number[] = [];
  const sizes: number[] = [];
  for (let i = 0; i < count; ++i) {
    const begin = start[first + i];
    let row = 0;
    while (row < ends.length && ends[row] > begin) ++row;
    if (row === maxRows) row = maxRows - 1;
    if (row === ends.length) {
      ends.push(-Infinity);
      sizes.push(0);
    }
    ends[row] = Math.max(ends[row], begin + duration[first + i]);
    ++sizes[row];
    rowOf[i] = row;
  }
  const rows = sizes.map((size) => new Int32Array(size));
  const filled = sizes.map(() => 0);
  for (let i = 0; i < count; ++i) {
    const row = rowOf[i];
    rows[row][filled[row]++] = first + i;
  }
  return rows;
}
