// The colours of groups are told apart by people of any colour vision, stand out from the background
// in both schemes, and carry text that can be read.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { coloursOf, darkText, lightText, parseColour, shades, type Rgb } from "../../src/timeline/palette";
import { hues } from "../../src/timeline/colouring";
import { wait } from "../../src/timeline/spans";

type Vector = readonly [number, number, number];

const sheets = ["colours", "fills"].map((name) => readFileSync(`src/style/${name}.css`, "utf8"));
const darkAt = "@media (prefers-color-scheme: dark)";
const schemes: { [name: string]: string } = {
  light: sheets.map((text) => text.slice(0, text.indexOf(darkAt))).join("\n"),
  dark: sheets.map((text) => text.slice(text.indexOf(darkAt), text.indexOf("\n}\n", text.indexOf(darkAt)))).join("\n"),
};

const textOf = (scheme: string, name: string): string => new RegExp(`--${name}: ([^;]+);`).exec(schemes[scheme])?.[1] ?? "";
const rgb = (scheme: string, name: string): Rgb => {
  assert.match(textOf(scheme, name), /^#[0-9a-f]{6}$/, `${name} of ${scheme}`);
  return parseColour(textOf(scheme, name));
};
const names = [...Array.from({ length: hues }, (_, i) => `hue-${i + 1}`), "hue-other"];

const linear = (rgb: Rgb): Vector => rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)) as unknown as Vector;
const luminance = ([r, g, b]: Vector): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(linear(a)) + 0.05, luminance(linear(b)) + 0.05];
  return Math.max(x, y) / Math.min(x, y);
}

// Machado, Oliveira and Fernandes (2009), severity 1, of linear RGB.
const visions: { [name: string]: readonly Vector[] } = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const times = (matrix: readonly Vector[], v: Vector): Vector =>
  matrix.map((row) => Math.min(1, Math.max(0, row[0] * v[0] + row[1] * v[1] + row[2] * v[2]))) as unknown as Vector;

// OKLab: a distance of 0.02 is just noticed next to one another.
function lab([r, g, b]: Vector): Vector {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}
const distance = (a: Rgb, b: Rgb, vision: readonly Vector[]): number => {
  const [x, y] = [lab(times(vision, linear(a))), lab(times(vision, linear(b)))];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
};

for (const scheme of Object.keys(schemes)) {
  test(`${scheme}: any two groups are told apart with any colour vision`, () => {
    for (const [vision, matrix] of Object.entries(visions)) {
      names.forEach((a, i) => {
        for (const b of names.slice(i + 1)) {
          const apart = distance(rgb(scheme, a), rgb(scheme, b), matrix);
          assert.ok(apart >= 0.09, `${a} and ${b} with ${vision}: ${apart.toFixed(3)}`);
        }
      });
    }
  });

  test(`${scheme}: work stands out from the background and from its own waits`, () => {
    const background = rgb(scheme, "background");
    for (const name of names) {
      const { pixels } = coloursOf(rgb(scheme, name), rgb(scheme, "engine-none"), background);
      const rgbOf = (pixel: number): Rgb => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
      assert.ok(contrast(rgb(scheme, name), background) >= 3, `${name} on the background`);
      const waiting = rgbOf(pixels[wait * shades]);
      assert.ok(contrast(waiting, background) < contrast(rgb(scheme, name), background) / 1.4, `${name}: its waits`);
    }
  });

  test(`${scheme}: a name on a bar can be read`, () => {
    for (let i = 1; i <= hues; ++i) {
      const own = textOf(scheme, `on-hue-${i}`);
      const text = own === "" ? rgb(scheme, "on-fill") : parseColour(own);
      assert.ok(contrast(text, rgb(scheme, `hue-${i}`)) >= 4.5, `hue ${i}: ${contrast(text, rgb(scheme, `hue-${i}`)).toFixed(2)}`);
    }
  });

  test(`${scheme}: a name on a span can be read`, () => {
    for (const name of names) {
      const { pixels, text } = coloursOf(rgb(scheme, name), rgb(scheme, "engine-none"), rgb(scheme, "background"));
      pixels.forEach((pixel, tone) => {
        const seen = contrast([pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255], parseColour(text[tone] === darkText ? darkText : lightText));
        assert.ok(seen >= 3, `${name}, tone ${tone}: ${seen.toFixed(2)}`);
      });
    }
  });
}
