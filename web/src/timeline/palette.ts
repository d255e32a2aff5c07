// Colours of groups of spans (colouring.ts) as pixels: for each group one for every tone of a span.
// Work has its group's colour in four shades, waits are lighter, frames light and grey.
import { frame, looks, wait } from "./spans";

export type Rgb = readonly [number, number, number];

export function parseColour(text: string): Rgb {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text.trim());
  return hex === null ? [128, 128, 128] : [parseInt(hex[1], 16), parseInt(hex[2], 16), parseInt(hex[3], 16)];
}

// `share` of a, the rest of b.
export const mixed = (a: Rgb, b: Rgb, share: number): Rgb =>
  [0, 1, 2].map((i) => Math.round(a[i] * share + b[i] * (1 - share))) as unknown as Rgb;

export const cssOf = (rgb: Rgb): string => `rgb(${rgb[0]} ${rgb[1]} ${rgb[2]})`;

// As ImageData has it on all machines that browsers run on: little-endian, alpha 0.
export const pixelOf = (rgb: Rgb): number => rgb[0] | (rgb[1] << 8) | (rgb[2] << 16);

// Relative luminance, for text on it.
export function isLight(rgb: Rgb): boolean {
  const [r, g, b] = rgb.map((value) => (value / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3;
}

export const darkText = "#15181b";
export const lightText = "#ffffff";

export const shades = 4;
export const tonesOfGroup = shades * looks;

export interface GroupColours {
  readonly pixels: Uint32Array;  // by tone
  readonly text: string[];       // by tone, of a name on it
}

// How much of its colour each shade has; as many as shades.
const shadeShares = [1, 0.86, 0.93, 0.8];
export const waitShare = 0.36;
export const frameShare = 0.3;

// `neutral`: of frames, which are nobody's work.
export function coloursOf(group: Rgb, neutral: Rgb, background: Rgb): GroupColours {
  const tones: Rgb[] = [];
  for (let look = 0; look < looks; ++look) {
    for (const share of shadeShares) {
      const part = look === wait ? waitShare : look === frame ? frameShare : 1;
      tones.push(mixed(look === frame ? neutral : group, background, share * part));
    }
  }
  return { pixels: Uint32Array.from(tones, pixelOf), text: tones.map((tone) => (isLight(tone) ? darkText : lightText)) };
}

export interface Colours {
  readonly pixels: Uint32Array;  // by tone (colouring.ts)
  readonly text: string[];       // by tone, of a name on it
  readonly css: (variable: string) => string;  // "line", "text", …
  readonly rgb: (variable: string) => Rgb;
}

// Of the scheme that is on now. `groups`: names of their colours, "engine-hvx", "hue-1".
export function readColours(element: Element, groups: readonly string[]): Colours {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  const css = (variable: string): string => {
    let value = known.get(variable);
    if (value === undefined) known.set(variable, value = style.getPropertyValue(`--${variable}`).trim());
    return value;
  };
  const rgb = (variable: string): Rgb => parseColour(css(variable));
  const all = groups.map((name) => coloursOf(rgb(name), rgb("engine-none"), rgb("background")));
  return { pixels: Uint32Array.from(all.flatMap((one) => Array.from(one.pixels))), text: all.flatMap((one) => one.text), css, rgb };
}
