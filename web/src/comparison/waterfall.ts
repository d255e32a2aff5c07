// The waterfall: what each op adds to or takes off the sum, from A on the left to B on the right.
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Waterfall } from "./comparison";

export function drawWaterfall({ falls, total }: Waterfall, textOf: (value: number) => string): HTMLElement {
  const ends = falls.flatMap((fall) => [fall.from, fall.to]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const at = (value: number): number => (100 * (value - low)) / Math.max(1e-12, high - low);
  const signed = (value: number): string => `${value > 0 ? "+" : ""}${textOf(value)}`;
  const row = (name: string, from: number, to: number, title: string, last = false): HTMLElement => {
    const bar = make("div", { class: `fall ${to > from ? "fall-more" : "fall-less"}${last ? " fall-total" : ""}` });
    bar.style.left = `${at(Math.min(from, to))}%`;
    bar.style.width = `${Math.max(0.2, Math.abs(at(to) - at(from)))}%`;
    const zero = make("div", { class: "fall-zero" });
    zero.style.left = `${at(0)}%`;
    return make("div", { class: "fall-row", title }, make("span", { class: "unit-name", text: shownName(name, 60) }), make("div", { class: "fall-track" }, zero, bar), make("span", { class: "number", text: signed(to - from) }));
  };
  const rows = falls.map((fall) => row(fall.name, fall.from, fall.to, shownName(`${fall.name}${fall.kernel === "" ? "" : `, ${fall.kernel}`}: ${fall.change} ${signed(fall.delta)}`, 300)));
  const all = row("all ops", 0, total, `all ops: ${signed(total)}`, true);
  return make("div", { class: "waterfall", attributes: { role: "img", "aria-label": `waterfall of ops from A to B: ${signed(total)} in all` } }, ...rows, all);
}
