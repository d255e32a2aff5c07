// Spreads of latency, a row for each group: a line from the fastest to the slowest inference, a bar from the median to
// the 90th percentile, a mark at the 99th.
import { apart, apartElement } from "../dom/apart";
import { make } from "../dom/make";
import { shownName } from "../format/format";
import { reachOfSpreads, type Spread } from "./fleet";

const mostDrawn = 60;

export function drawSpreads(rows: readonly Spread[], textOf: (value: number) => string): HTMLElement {
  const drawn = rows.slice(0, mostDrawn);
  const [low, high] = reachOfSpreads(drawn);
  const at = (value: number): number => (100 * (value - low)) / (high - low);
  const part = (name: string, from: number, to: number): HTMLElement => {
    const element = make("div", { class: name });
    element.style.left = `${at(from)}%`;
    element.style.width = `${Math.max(0, at(to) - at(from))}%`;
    return element;
  };
  const names = apart(drawn.map((spread) => spread.name));
  const row = (spread: Spread, i: number): HTMLElement => make("div", {
    class: "spread-row",
    title: shownName(`${spread.name}: 50 % ${textOf(spread.p50)}, 90 % ${textOf(spread.p90)}, 99 % ${textOf(spread.p99)}, from ${textOf(spread.min)} to ${textOf(spread.max)}, ${spread.runs} runs`, 400),
  }, apartElement(names[i], "unit-name"),
    make("div", { class: "spread-track" }, part("spread-line", spread.min, spread.max), part("spread-bar", spread.p50, spread.p90), part("spread-mark", spread.p99, spread.p99)),
    make("span", { class: "number", text: textOf(spread.p50) }));
  const scale = make("div", { class: "spread-row spread-scale" }, make("span"), make("div", {}, make("span", { text: textOf(low) }), make("span", { text: textOf(high) })), make("span", { class: "number", text: "50 %" }));
  const element = make("div", { class: "spreads", attributes: { role: "img", "aria-label": `latency of ${drawn.length} groups, from ${textOf(low)} to ${textOf(high)}` } },
    ...drawn.map(row), scale);
  element.append(make("p", { class: "remark", text: "Line: fastest to slowest inference. Bar: from 50 to 90 % of them. Mark: 99 %." }));
  if (rows.length > drawn.length) element.append(make("p", { class: "remark", text: `The ${drawn.length} slowest of ${rows.length} are drawn.` }));
  return element;
}
