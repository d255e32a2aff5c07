// Levels of blocks over the spans of a row, so that a pixel that holds thousands of them is drawn from
// a few numbers. Level 0 has blocks of 4 spans, level 1 of 16, … A block knows where its last span
// ends, how long its spans were active, and which is the longest.
import type { Column } from "./times";

export const fanout = 4;
const bits = 2;

export interface Level {
  readonly shift: number;         // its blocks hold 1 << shift spans
  readonly end: Float64Array;     // max of the ends
  readonly active: Float32Array;  // sum
  readonly longest: Int32Array;   // place in the row
}

function firstLevel(start: Column, duration: Column, active: Column): Level {
  const count = start.length;
  const blocks = Math.ceil(count / fanout);
  const level = { shift: bits, end: new Float64Array(blocks), active: new Float32Array(blocks), longest: new Int32Array(blocks) };
  for (let block = 0; block < blocks; ++block) {
    const first = block * fanout;
    const last = Math.min(count, first + fanout);
    let end = -Infinity;
    let sum = 0;
    let longest = first;
    for (let i = first; i < last; ++i) {
      const length = duration[i];
      if (start[i] + length > end) end = start[i] + length;
      sum += active[i];
      if (length > duration[longest]) longest = i;
    }
    level.end[block] = end;
    level.active[block] = sum;
    level.longest[block] = longest;
  }
  return level;
}

function levelAbove(below: Level, duration: Column): Level {
  const count = below.end.length;
  const blocks = Math.ceil(count / fanout);
  const level = { shift: below.shift + bits, end: new Float64Array(blocks), active: new Float32Array(blocks), longest: new Int32Array(blocks) };
  for (let block = 0; block < blocks; ++block) {
    const first = block * fanout;
    const last = Math.min(count, first + fanout);
    let end = -Infinity;
    let sum = 0;
    let longest = below.longest[first];
    for (let i = first; i < last; ++i) {
      if (below.end[i] > end) end = below.end[i];
      sum += below.active[i];
      if (duration[below.longest[i]] > duration[longest]) longest = below.longest[i];
    }
    level.end[block] = end;
    level.active[block] = sum;
    level.longest[block] = longest;
  }
  return level;
}

// Until one block holds all.
export function buildPyramid(start: Column, duration: Column, active: Column): Level[] {
  const levels: Level[] = [];
  if (start.length < 2 * fanout) return levels;
  levels.push(firstLevel(start, duration, active));
  while (levels[levels.length - 1].end.length > 1) levels.push(levelAbove(levels[levels.length - 1], duration));
  return levels;
}
