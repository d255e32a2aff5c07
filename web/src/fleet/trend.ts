// Latency along builds, in their order: the median as a line, up to the 90th percentile as a band, and a mark where ops
// change.
import { drawnWidth } from "../dom/drawn_width";
import { shownName } from "../format/format";
import { reachOfSpreads, type Spread } from "./fleet";

const [height, left, right, top, bottom] = [220, 70, 10, 14, 26];
const widthOfName = 60;

function node(name: string, attributes: { [name: string]: string | number }, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export function drawTrend(rows: readonly Spread[], changes: ReadonlyMap<string, readonly string[]>, along: string, textOf: (value: number) => string): SVGElement {
  const width = drawnWidth(1000);
  const [low, high] = reachOfSpreads(rows.map((row) => ({ ...row, min: row.p50, max: row.p90 })));
  const x = (place: number): number => left + ((width - left - right) * (place + 0.5)) / rows.length;
  const y = (value: number): number => top + ((height - top - bottom) * (high - value)) / (high - low);
  const point = (value: (row: Spread) => number) => (row: Spread, place: number): string => `${x(place).toFixed(1)},${y(value(row)).toFixed(1)}`;
  const upper = rows.map(point((row) => row.p90));
  const lower = rows.map(point((row) => row.p50));
  const drawing = node("svg", { class: "trend", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `latency along ${along}, from ${textOf(low)} to ${textOf(high)}` },
    node("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, textOf(high)), node("text", { x: left - 6, y: height - bottom, "text-anchor": "end" }, textOf(low)));
  rows.forEach((row, place) => {
    const names = changes.get(row.name);
    if (names === undefined) return;
    const at = x(place) - (width - left - right) / rows.length / 2;
    const listed = names.slice(0, 5).map((name) => shownName(name, 80)).join(", ");
    drawing.append(node("line", { class: "trend-change", x1: at, x2: at, y1: top, y2: height - bottom },
      node("title", {}, `${along} ${shownName(row.name, 60)}: ${names.length} changed, ${listed}${names.length > 5 ? ", …" : ""}`)));
  });
  drawing.append(node("polygon", { class: "trend-band", points: [...upper, ...lower.reverse()].join(" ") }),
    node("polyline", { class: "trend-line", points: rows.map(point((row) => row.p50)).join(" ") }));
  const step = Math.ceil((rows.length * widthOfName) / (width - left - right));
  rows.forEach((row, place) => {
    drawing.append(node("circle", { class: "trend-point", cx: x(place), cy: y(row.p50), r: 3.5 },
      node("title", {}, `${along} ${shownName(row.name, 60)}: 50 % ${textOf(row.p50)}, 90 % ${textOf(row.p90)}, ${row.runs} runs`)));
    if (place % step === 0) drawing.append(node("text", { x: x(place), y: height - 6, "text-anchor": "middle" }, shownName(row.name, 12)));
  });
  return drawing;
}
