// Ticks of a clock as text: time where the clock counts time and its rate is known, else a number.
// Cycles stay cycles: a core's rate changes during a run.
import type { Clock } from "../data/report";
import { numberText, secondsText } from "./number";

export interface Clocks {
  clock: Clock;     // the base clock
  clocks: Clock[];  // as Field.clock counts them
}

export function showsTime(clock: Clock | undefined): clock is Clock & { hertz: number } {
  return clock !== undefined && clock.kind !== "unit_cycles" && (clock.hertz ?? 0) > 0;
}

export const clockOf = (clocks: Clocks, place?: number): Clock | undefined =>
  place === undefined ? clocks.clock : clocks.clocks[place];

export function ticksText(clock: Clock | undefined, ticks: number): string {
  return showsTime(clock) ? secondsText(ticks / clock.hertz) : numberText(ticks);
}

// The same with the unit of a plain number: "64,829 cycles".
export function ticksWithUnit(clock: Clock, ticks: number): string {
  return showsTime(clock) ? ticksText(clock, ticks) : `${numberText(ticks)} ${ticks === 1 ? clock.unit.replace(/s$/, "") : clock.unit}`;
}
