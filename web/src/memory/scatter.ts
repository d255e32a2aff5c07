// The roofline as a drawing: log-log, an op a circle whose area is its active time.
import { drawnWidth } from "../dom/drawn_width";
import { make, makeSvg } from "../dom/make";
import { bytesText, numberText, shareText, shownName, ticksWithUnit } from "../format/format";
import { Hover } from "../hover/hover";
import type { ProfileReport } from "../data/report";
import { ceilingAt, logAxis, type LogAxis, type Point, type Roofline } from "./roofline";

const width = drawnWidth(760);
const height = 380;
const edge = { left: 66, right: 26, top: 14, bottom: 44 };
const largest = 26;   // radius of the op that takes longest

const verdictClass: { [verdict: string]: string } = { compute: "bound-compute", memory: "bound-memory", dispatch: "bound-dispatch", latency: "bound-latency" };

export interface RooflineDrawing {
  element: HTMLElement;
  fadeOthers: (names: ReadonlySet<string> | null) => void;  // null: none is faded
}

export function drawRoofline(report: ProfileReport, roofline: Roofline, onPoint: (name: string) => void): RooflineDrawing {
  const element = make("div", { class: "roofline" });
  const hover = new Hover(element);
  const { points, ridge, macPeak, whole } = roofline;
  const xs = logAxis([...points.map((point) => point.intensity), ...(ridge === null ? [] : [ridge]), ...(whole === null ? [] : [whole.intensity])]);
  const ys = logAxis([...points.map((point) => point.rate), ...(macPeak === null ? [] : [macPeak]), ...(whole === null ? [] : [whole.rate])]);
  const x = (value: number): number => edge.left + xs.at(value) * (width - edge.left - edge.right);
  const y = (value: number): number => height - edge.bottom - ys.at(value) * (height - edge.top - edge.bottom);
  const svg = makeSvg("svg", { class: "chart", attributes: { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": describe(roofline) } });
  svg.append(...axes(roofline, xs.ticks, ys.ticks, x, y), ...ceilings(roofline, xs, ys, x, y));
  const longest = Math.max(1e-9, ...points.map((point) => point.active));
  const circles: { name: string; circle: SVGElement }[] = [];
  for (const point of [...points].sort((a, b) => b.active - a.active)) {
    const circle = makeSvg("circle", { class: `point ${verdictClass[point.verdict] ?? "bound-unknown"}`, attributes: {
      cx: x(point.intensity).toFixed(1), cy: y(point.rate).toFixed(1), r: (Math.max(3, largest * Math.sqrt(point.active / longest))).toFixed(1),
      tabindex: 0, role: "button", "aria-label": shownName(point.name, 80) } });
    circle.addEventListener("mousemove", (event) => hover.show(cardOf(report, roofline, point), event));
    circle.addEventListener("mouseleave", () => hover.hide());
    circle.addEventListener("click", () => onPoint(point.name));
    circle.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      onPoint(point.name);
      event.preventDefault();
    });
    circles.push({ name: point.name, circle });
    svg.append(circle);
  }
  svg.append(...pointLabels(points, x, y));
  if (whole !== null) {
    const size = 6;
    const [cx, cy] = [x(whole.intensity), y(whole.rate)];
    svg.append(makeSvg("path", { class: "whole-run", title: "the run as a whole", attributes: { d: `M${cx - size} ${cy}H${cx + size}M${cx} ${cy - size}V${cy + size}` } }));
  }
  element.append(svg, legend(points));
  const fadeOthers = (names: ReadonlySet<string> | null): void => {
    for (const { name, circle } of circles) circle.classList.toggle("faded", names !== null && !names.has(name));
  };
  return { element, fadeOthers };
}

function axes(roofline: Roofline, xTicks: number[], yTicks: number[], x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  const drawn: SVGElement[] = [];
  for (const tick of xTicks) {
    drawn.push(makeSvg("line", { class: "grid", attributes: { x1: x(tick), x2: x(tick), y1: edge.top, y2: height - edge.bottom } }),
               makeSvg("text", { class: "tick", text: numberText(tick), attributes: { x: x(tick), y: height - edge.bottom + 16, "text-anchor": "middle" } }));
  }
  for (const tick of yTicks) {
    drawn.push(makeSvg("line", { class: "grid", attributes: { x1: edge.left, x2: width - edge.right, y1: y(tick), y2: y(tick) } }),
               makeSvg("text", { class: "tick", text: scaled(tick), attributes: { x: edge.left - 6, y: y(tick) + 4, "text-anchor": "end" } }));
  }
  drawn.push(makeSvg("text", { class: "axis", text: "MACs per byte of DDR traffic", attributes: { x: (edge.left + width - edge.right) / 2, y: height - 8, "text-anchor": "middle" } }),
             makeSvg("text", { class: "axis", text: roofline.perSecond ? "MACs a second" : "MACs a tick", attributes: { transform: `translate(13 ${(height - edge.bottom + edge.top) / 2}) rotate(-90)`, "text-anchor": "middle" } }));
  return drawn;
}

// Names of the ops that take longest, where there is room for them.
function pointLabels(points: readonly Point[], x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  const most = 8;
  const taken: { x: number; y: number }[] = [];
  const labels: SVGElement[] = [];
  for (const point of [...points].sort((a, b) => b.active - a.active).slice(0, most)) {
    const at = { x: x(point.intensity), y: y(point.rate) };
    if (taken.some((other) => Math.abs(other.x - at.x) < 150 && Math.abs(other.y - at.y) < 14)) continue;
    taken.push(at);
    const isRight = at.x > width - 190;
    const radius = largest * Math.sqrt(point.active / Math.max(1e-9, ...points.map((each) => each.active))) + 5;
    labels.push(makeSvg("text", { class: "point-label", text: shownName(point.name, 26), attributes: { x: at.x + (isRight ? -radius : radius), y: at.y + 4, "text-anchor": isRight ? "end" : "start" } }));
  }
  return labels;
}

// 1.5e12 as "1.5 T"
function scaled(value: number): string {
  const units: [number, string][] = [[1e15, " P"], [1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
  const [size, unit] = units.find(([least]) => value >= least) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

// The part of the ceilings that lies within the drawing.
function ceilings(roofline: Roofline, xs: LogAxis, ys: LogAxis, x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  const { ddrPeak, macPeak, ridge } = roofline;
  if ((ddrPeak === null && macPeak === null) || !roofline.perSecond) return [];
  const low = ddrPeak === null ? xs.low : Math.max(xs.low, ys.low / ddrPeak);
  const high = macPeak === null && ddrPeak !== null ? Math.min(xs.high, ys.high / ddrPeak) : xs.high;
  if (!(low < high)) return [];
  const stops = [low, ...(ridge !== null && ridge > low && ridge < high ? [ridge] : []), high];
  const line = stops.map((stop, i) => `${i === 0 ? "M" : "L"}${x(stop).toFixed(1)} ${y(ceilingAt(roofline, stop)).toFixed(1)}`).join("");
  const labels: SVGElement[] = [];
  if (macPeak !== null) labels.push(makeSvg("text", { class: "ceiling-label", text: `MAC peak ${scaled(macPeak)}MAC/s`, attributes: { x: width - edge.right - 4, y: y(macPeak) - 5, "text-anchor": "end" } }));
  if (ddrPeak !== null) labels.push(makeSvg("text", { class: "ceiling-label", text: `DDR peak ${numberText(ddrPeak / 1e9)} GB/s`, attributes: { x: x(low) + 18, y: Math.min(height - edge.bottom - 6, y(ceilingAt(roofline, low)) + 10) } }));
  return [makeSvg("path", { class: "ceiling", attributes: { d: line } }), ...labels];
}

function cardOf(report: ProfileReport, roofline: Roofline, point: Point): { title: string; lines: [string, string][] } {
  const ceiling = ceilingAt(roofline, point.intensity);
  return { title: point.name, lines: [
    ["kind", point.kind], ["MACs per byte", numberText(point.intensity)], [roofline.perSecond ? "MACs a second" : "MACs a tick", scaled(point.rate)],
    ["of its ceiling", Number.isFinite(ceiling) && roofline.perSecond ? shareText(point.rate / ceiling) : ""],
    ["active", ticksWithUnit(report.clock, point.active)], ["DDR bytes", bytesText(point.bytes)], ["MACs", numberText(point.macs)],
    ["verdict", point.verdict], ["by", point.boundBy]] };
}

function legend(points: readonly Point[]): HTMLElement {
  const verdicts = [...new Set(points.map((point) => (verdictClass[point.verdict] === undefined ? "unknown" : point.verdict)))];
  return make("ul", { class: "legend inline" }, ...verdicts.map((verdict) =>
    make("li", {}, make("span", { class: `swatch round bound-${verdict}`, attributes: { "aria-hidden": "true" } }), verdict === "unknown" ? "verdict unknown" : `${verdict} bound`)),
    make("li", { class: "remark", text: "area: active time" }));
}

const describe = ({ points }: Roofline): string =>
  `roofline of ${points.length} ops: ${points.slice(0, 12).map((point) => `${shownName(point.name, 40)} ${numberText(point.intensity)} MACs per byte`).join(", ")}`;
