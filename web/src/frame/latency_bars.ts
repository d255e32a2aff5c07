// Bars of latency: warm above cold on one scale, and what a part is of the whole call.
import type { Scalar } from "../data/report";
import { make } from "../dom/make";
import { shareText } from "../format/format";

export interface Latency {
  part: string;
  warm: Scalar;   // seconds
  cold: Scalar;
  other: Scalar;  // neither is said
}

const numberOf = (value: Scalar): number | null => (typeof value === "number" && value >= 0 ? value : null);

// As npuscope show has it: of the call how much is outside the NPU, of the others their share of the call.
export function noteOf(rows: readonly Latency[], place: number, outside: Scalar): string {
  if (place === 0) return typeof outside === "number" ? `${shareText(outside)} outside the NPU` : "";
  const own = (row: Latency): number | null => numberOf(row.warm) ?? numberOf(row.other) ?? numberOf(row.cold);
  const [part, whole] = [own(rows[place]), own(rows[0])];
  return part === null || whole === null || whole === 0 || part > whole ? "" : `${shareText(part / whole)} of the ${rows[0].part}`;
}

// A cell for each row.
export function latencyBars(rows: readonly Latency[], outside: Scalar): HTMLElement[] {
  const longest = Math.max(1e-12, ...rows.flatMap((row) => [row.warm, row.cold, row.other].map((value) => numberOf(value) ?? 0)));
  const bar = (value: Scalar, name: string): HTMLElement | null => {
    const seconds = numberOf(value);
    if (seconds === null) return null;
    const fill = make("span", { class: `latency-bar ${name}` });
    fill.style.width = `${(100 * seconds) / longest}%`;
    return fill;
  };
  return rows.map((row, i) => make("td", { class: "latency-bars" }, make("div", {},
    make("span", { class: "latency-track", attributes: { "aria-hidden": "true" } }, bar(row.warm, "warm"), bar(row.other, "warm"), bar(row.cold, "cold")),
    make("span", { class: "quiet", text: noteOf(rows, i, outside) }))));
}
