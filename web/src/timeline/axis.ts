// Marks of the time axis: steps of 1, 2 or 5, as text with as many decimals as the step needs.
//
//   marks({ begin: 0, end: 1000, width: 500 }, cycles)    "0", "200", "400", …
//   marks({ begin: 0, end: 1000, width: 500 }, 19.2 MHz)  "0", "10 us", "20 us", …
import type { Clock } from "../data/report";
import { numberText, showsTime } from "../format/format";
import type { Scale } from "./view";

export interface Mark {
  time: number;
  text: string;
}

const minPixels = 90;  // between marks

export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const step of [1, 2, 5]) if (step * power >= least * (1 - 1e-12)) return step * power;
  return 10 * power;
}

const units: [name: string, seconds: number][] = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];

// Of a time of this size.
function unitOf(seconds: number): [name: string, seconds: number] {
  return units.find(([, size]) => seconds >= size) ?? units[units.length - 1];
}

// Times of the scale as the program counts them, from `origin` on: counters may start before the first span.
export function marksFrom(origin: number, scale: Scale, clock: Clock): Mark[] {
  return marks({ ...scale, begin: scale.begin - origin, end: scale.end - origin }, clock).map(({ time, text }) => ({ time: time + origin, text }));
}

export function marks(scale: Scale, clock: Clock): Mark[] {
  const length = scale.end - scale.begin;
  if (!(length > 0) || !(scale.width > 0)) return [];
  const hertz = showsTime(clock) ? clock.hertz : 1;
  const least = (length * minPixels) / scale.width / hertz;
  const step = showsTime(clock) ? niceStep(least) : Math.max(1, niceStep(least));
  const [name, size] = unitOf(Math.max(Math.abs(scale.begin), Math.abs(scale.end)) / hertz);
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9)));
  const text = (value: number): string => {
    if (!showsTime(clock)) return numberText(value);
    return value === 0 ? "0" : `${thousands((value / size).toFixed(decimals))} ${name}`;
  };
  const out: Mark[] = [];
  const first = Math.ceil(scale.begin / hertz / step - 1e-9);
  const last = Math.floor(scale.end / hertz / step + 1e-9);
  for (let i = first; i <= last && out.length < 1000; ++i) out.push({ time: i * step * hertz, text: text(i * step) });
  return out;
}

function thousands(fixed: string): string {
  const [whole, rest] = fixed.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}
