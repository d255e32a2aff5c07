// The roofline out of page "memory": each op by its MACs per byte of DDR traffic and the MACs a second
// that it reached, under the two ceilings that the hardware's peaks are.
//
//   const roofline = rooflineOf(report);
//   roofline.points[0]     // {name: "MatMul_0", intensity: 248, rate: 4.8e11, …}
import type { ProfileReport } from "../data/report";
import { fact, find, number, sectionsOf, text, type Section } from "../section/section";

export interface Point {
  name: string;
  kind: string;
  intensity: number;      // MACs per byte
  rate: number;           // MACs a second, or a tick where no rate is known
  active: number;         // ticks
  verdict: string;
  boundBy: string;
  bytes: number;          // read and written
  macs: number;
}

export interface Roofline {
  points: Point[];
  whole: { intensity: number; rate: number } | null;   // of the run
  perSecond: boolean;
  ddrPeak: number | null;    // bytes a second
  macPeak: number | null;    // MACs a second
  ridge: number | null;      // MACs per byte at which both take equally long
  leftOut: number;           // ops without MACs, or without bytes
  section: Section;
}

export function memorySection(report: ProfileReport, key: string): Section | null {
  const page = report.pages.memory;
  return page === undefined ? null : find(sectionsOf(page), key);
}

export function rooflineOf(report: ProfileReport): Roofline | null {
  const section = memorySection(report, "roofline");
  const ops = memorySection(report, "ops");
  if (section === null) return null;
  const secondsPerTick = tickOf(section);
  const points: Point[] = [];
  for (const row of ops?.rows ?? []) {
    const [macs, intensity, active] = [row.macs, row.macs_per_byte, row.active].map(number);
    if (macs === null || intensity === null || active === null || !(macs > 0) || !(intensity > 0) || !(active > 0)) continue;
    points.push({
      name: text(row.op), kind: text(row.kind), intensity, active, macs, rate: macs / (active * (secondsPerTick ?? 1)),
      verdict: text(row.verdict), boundBy: text(row.bound_by), bytes: (number(row.ddr_read_bytes) ?? 0) + (number(row.ddr_write_bytes) ?? 0),
    });
  }
  const ddrPeak = number(fact(section, "ddr_peak_bytes_per_s"));
  const rate = number(fact(section, "macs_per_s"));
  const share = number(fact(section, "macs_share_of_peak"));
  const ridge = number(fact(section, "ridge_macs_per_byte"));
  const intensity = number(fact(section, "macs_per_byte"));
  const macPeak = rate !== null && share !== null && share > 0 ? rate / share : ddrPeak !== null && ridge !== null ? ddrPeak * ridge : null;
  return {
    points, section, ddrPeak, macPeak, ridge: ridge ?? (ddrPeak !== null && macPeak !== null ? macPeak / ddrPeak : null),
    perSecond: secondsPerTick !== null, leftOut: (ops?.rows.length ?? 0) - points.length,
    whole: rate !== null && intensity !== null && intensity > 0 ? { intensity, rate } : null,
  };
}

function tickOf(section: Section): number | null {
  const wall = number(fact(section, "wall"));
  const seconds = number(fact(section, "seconds"));
  return wall !== null && seconds !== null && wall > 0 && seconds > 0 ? seconds / wall : null;
}

// An axis in powers of ten, from `low` to `high`.
export interface LogAxis {
  low: number;
  high: number;
  at: (value: number) => number;   // 0 … 1
  ticks: number[];
}

export function logAxis(values: readonly number[]): LogAxis {
  const known = values.filter((value) => value > 0 && Number.isFinite(value));
  let low = Math.floor(Math.log10(Math.min(...known)) - 0.15);
  let high = Math.ceil(Math.log10(Math.max(...known)) + 0.15);
  if (known.length === 0) [low, high] = [0, 1];
  const few = high - low < 3;  // then 2 and 5 as well
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
    .flatMap((power, i) => (few && i < high - low ? [power, 2 * power, 5 * power] : [power]));
  return { low: 10 ** low, high: 10 ** high, ticks, at: (value) => (Math.log10(value) - low) / (high - low) };
}

// What the hardware allows at so many MACs per byte.
export const ceilingAt = (roofline: Roofline, intensity: number): number =>
  Math.min(roofline.macPeak ?? Infinity, roofline.ddrPeak === null ? Infinity : roofline.ddrPeak * intensity);
