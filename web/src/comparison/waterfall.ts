// The waterfall: what each op adds to or takes off the sum, from A on the left to B on the right.
import { apart, apartElement, type Apart } from "../dom/apart";
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Waterfall } from "./comparison";

export function drawWaterfall({ falls, total }: Waterfall, [a, b]: readonly [string, string], textOf: (value: number) => string): HTMLElement {
  const ends = falls.flatMap((fall) => [fall.from, fall.to]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const at = (value: number): number => (100 * (value - low)) / Math.max(1e-12, high - low);
  const signed = (value: number): string => `${value > 0 ? "+" : ""}${textOf(value)}`;
  const row = (name: Apart, from: number, to: number, title: string, last = false): HTMLElement => {
    const bar = make("div", { class: `fall ${to > from ? "fall-more" : "fall-less"}${last ? " fall-total" : ""}` });
    bar.style.left = `${at(Math.min(from, to))}%`;
    bar.style.width = `${Math.max(0.2, Math.abs(at(to) - at(from)))}%`;
    const zero = make("div", { class: "fall-zero" });
    zero.style.left = `${at(0)}%`;
    return make("div", { class: "fall-row", title }, apartElement(name, "unit-name"), make("div", { class: "fall-track" }, zero, bar), make("span", { class: "number", text: signed(to - from) }));
  };
  const names = apart([...falls.map((fall) => fall.name), "all ops"]);
  const rows = falls.map((fall, i) => row(names[i], fall.from, fall.to, shownName(`${fall.name}${fall.kernel === "" ? "" : `, ${fall.kernel}`}: ${fall.change} ${signed(fall.delta)}`, 300)));
  const all = row(names[falls.length], 0, total, `all ops: ${signed(total)}`, true);
  const swatch = (colour: string, text: string): HTMLElement => make("li", {}, make("span", { class: `swatch ${colour}`, attributes: { "aria-hidden": "true" } }), text);
  const legend = make("ul", { class: "legend inline" }, make("li", { text: `from ${a} to ${b}` }), swatch("fall-less", "less"), swatch("fall-more", "more"));
  return make("div", {}, legend, make("div", { class: "waterfall", attributes: { role: "img", "aria-label": `waterfall of ops from ${a} to ${b}: ${signed(total)} in all` } }, ...rows, all));
}
