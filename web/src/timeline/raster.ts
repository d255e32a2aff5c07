// A row of spans as one line of pixels. A span that is wider than a pixel is a run of its colour; in a
// pixel that holds several the longest one gives the colour, and the share of the pixel in which spans
// were active how strong it is.
import type { Row } from "./row";
import type { Scale } from "./view";

// The colour of a span as ImageData has it, with alpha 0.
export type ColourOf = (span: number) => number;

const faintest = 0.3;  // of what is there

const alphaOf = (share: number): number => Math.round(255 * (faintest + (1 - faintest) * Math.min(1, share)));
const withAlpha = (colour: number, alpha: number): number => (colour | (alpha << 24)) >>> 0;

// Wide spans end with a pixel that is fainter, so that neighbours are two.
const edgePixels = 3;
const edge = 0.55;

// scale.width pixels from out[offset] on; where no span is they stay as they are.
export function rasterRow(row: Row, colourOf: ColourOf, scale: Scale, out: Uint32Array, offset: number): void {
  const { start, duration, active, levels, count } = row;
  const { begin, end, width } = scale;
  const perTick = width / (end - begin);
  const perPixel = (end - begin) / width;
  let pixel = -1;      // that narrow spans are gathered for
  let pixelEnd = 0;    // in ticks
  let covered = 0;     // ticks
  let longest = -1;
  let drawnTo = 0;     // pixels of wide spans
  const flush = (): void => {
    if (longest < 0) return;
    if (pixel >= drawnTo || covered * perTick > 0.5) {
      out[offset + pixel] = withAlpha(colourOf(row.spanAt(longest)), alphaOf(covered * perTick));
    }
    longest = -1;
    covered = 0;
  };
  let i = row.firstFrom(begin);
  while (i < count) {
    const from = (start[i] - begin) * perTick;
    if (from >= width) break;
    const length = duration[i] * perTick;
    if (length >= 1.5) {
      flush();
      pixel = -1;
      const left = Math.max(0, Math.round(from));
      const right = Math.min(width, Math.max(left + 1, Math.round(from + length)));
      const share = active[i] < duration[i] ? active[i] / duration[i] : 1;
      const colour = colourOf(row.spanAt(i));
      out.fill(withAlpha(colour, alphaOf(share)), offset + left, offset + right);
      if (right - left >= edgePixels && right < width) out[offset + right - 1] = withAlpha(colour, Math.round(255 * edge * share));
      if (right > drawnTo) drawnTo = right;
      ++i;
      continue;
    }
    const at = from > 0 ? Math.floor(from) : 0;
    if (at !== pixel) {
      flush();
      pixel = at;
      pixelEnd = begin + (at + 1) * perPixel;
    }
    // The largest block from here on that ends within the pixel.
    let level = -1;
    while (level + 1 < levels.length) {
      const above = levels[level + 1];
      if ((i & ((1 << above.shift) - 1)) !== 0 || above.end[i >> above.shift] > pixelEnd) break;
      ++level;
    }
    if (level < 0) {
      covered += active[i];
      if (longest < 0 || duration[i] > duration[longest]) longest = i;
      ++i;
    } else {
      const { shift, active: sums, longest: most } = levels[level];
      const block = i >> shift;
      covered += sums[block];
      if (longest < 0 || duration[most[block]] > duration[longest]) longest = most[block];
      i = Math.min(count, (block + 1) << shift);
    }
  }
  flush();
}

// The spans at `places` of a row alone, each at least a pixel wide.
export function rasterPlaces(row: Row, places: Int32Array, first: number, colour: (place: number) => number,
                             scale: Scale, out: Uint32Array, offset: number): void {
  const { start, duration } = row;
  const { begin, end, width } = scale;
  const perTick = width / (end - begin);
  const perPixel = (end - begin) / width;
  let i = first;
  while (i < places.length) {
    const place = places[i];
    const from = (start[place] - begin) * perTick;
    if (from >= width) break;
    const left = Math.max(0, duration[place] * perTick >= 1.5 ? Math.round(from) : Math.floor(from));
    const right = Math.min(width, Math.max(left + 1, Math.round(from + duration[place] * perTick)));
    out.fill(withAlpha(colour(place), 255), offset + left, offset + right);
    if (right - left >= edgePixels && right < width) out[offset + right - 1] = withAlpha(colour(place), Math.round(255 * edge));
    ++i;
    if (right - left === 1) {  // the next one behind this pixel, by doubling steps
      const behind = begin + (left + 1) * perPixel;
      let step = 1;
      while (i + step < places.length && start[places[i + step]] < behind) step *= 2;
      let low = i + (step >> 1);
      let high = Math.min(places.length, i + step);
      if (i < places.length && start[places[i]] >= behind) continue;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (start[places[middle]] < behind) low = middle + 1;
        else high = middle;
      }
      i = low;
    }
  }
}
