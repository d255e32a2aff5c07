// Bytes over time as a strip for each route, each on its own scale, over what the timeline shows.
import { life } from "../dom/life";
import { make } from "../dom/make";
import { bytesText, numberText, showsTime, ticksWithUnit } from "../format/format";
import { Hover } from "../hover/hover";
import type { Context } from "../panel";
import type { Range } from "../state/store";
import { trafficIn, type Traffic } from "./traffic";

const height = 54;

export class TrafficView {
  readonly element = make("div", { class: "traffic" });
  private readonly rows: { canvas: HTMLCanvasElement; value: HTMLElement }[] = [];
  private readonly axis = make("p", { class: "remark" });
  private waiting = 0;

  constructor(private readonly context: Context) {
    const hover = new Hover(this.element);
    for (const route of context.data.head.bandwidth?.routes ?? []) {
      const canvas = make("canvas", { class: "traffic-canvas", attributes: { role: "img" } });
      const value = make("span", { class: "number" });
      canvas.addEventListener("mousemove", (event) => hover.show(this.cardAt(this.rows.findIndex((row) => row.canvas === canvas), event), event));
      canvas.addEventListener("mouseleave", () => hover.hide());
      this.rows.push({ canvas, value });
      this.element.append(make("div", { class: "traffic-row" }, make("span", { class: "strip-label", text: route.name }), canvas, value));
      new ResizeObserver(() => this.drawSoon()).observe(canvas);
    }
    this.element.append(this.axis);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawSoon(), { signal: life() });
    context.store.subscribe((_, changed) => {
      if (changed.visible || changed.range) this.drawSoon();
    });
  }

  private get range(): Range {
    const { range, visible: seen } = this.context.store.get();
    const visible = range ?? seen;
    const { timeline_begin: begin, timeline_length: length } = this.context.data.head;
    return visible === null ? { begin, end: begin + Math.max(1, length) } : { begin: visible.begin, end: Math.max(visible.begin + 1, visible.end) };
  }

  private drawSoon(): void {
    if (this.waiting !== 0) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { range } = this;
    const { head } = this.context.data;
    const { clock } = this.context.report;
    const width = this.rows[0]?.canvas.clientWidth ?? 0;
    if (width === 0) return;
    trafficIn(head, range, width).forEach((traffic, i) => {
      const row = this.rows[i];
      const most = Math.max(0, ...traffic.points.map((point) => point.rate));
      row.value.textContent = `${bytesText(traffic.bytes)}, max ${rateText(most, clock.hertz, showsTime(clock))}`;
      row.canvas.setAttribute("aria-label", `${traffic.name} over time: ${row.value.textContent}`);
      drawSteps(row.canvas, traffic, range, most);
    });
    this.axis.textContent = `From ${ticksWithUnit(clock, range.begin)} to ${ticksWithUnit(clock, range.end)}, ${this.context.store.get().range === null ? "as the timeline shows" : "the selected range"}. A span's bytes are spread evenly over its duration; each row has its own scale.`;
  }

  private cardAt(row: number, event: MouseEvent): { title: string; lines: [string, string][] } | null {
    const { range, context } = this;
    const { clock } = context.report;
    const { bandwidth } = context.data.head;
    const width = this.rows[row]?.canvas.clientWidth ?? 0;
    if (bandwidth === null || width === 0) return null;
    const time = range.begin + (event.offsetX / width) * (range.end - range.begin);
    const bucket = Math.floor((time - bandwidth.begin) / bandwidth.width);
    const { name, bytes } = bandwidth.routes[row];
    const begin = bandwidth.begin + bucket * bandwidth.width;
    return { title: name, lines: [["from", ticksWithUnit(clock, begin)], ["to", ticksWithUnit(clock, begin + bandwidth.width)], ["bytes", bytesText(bytes[bucket] ?? 0)],
                                  ["rate", rateText((bytes[bucket] ?? 0) / bandwidth.width, clock.hertz, showsTime(clock))]] };
  }
}

const rateText = (bytesPerTick: number, hertz: number | null, isTime: boolean): string =>
  isTime && hertz !== null ? `${numberText((bytesPerTick * hertz) / 1e9)} GB/s` : `${numberText(bytesPerTick)} B/tick`;

function drawSteps(canvas: HTMLCanvasElement, traffic: Traffic, range: Range, most: number): void {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (context === null || !(most > 0)) return;
  context.scale(ratio, ratio);
  context.fillStyle = getComputedStyle(canvas).getPropertyValue(/write/i.test(traffic.name) ? "--traffic-write" : "--traffic-read").trim() || "#888";
  const at = (time: number): number => ((time - range.begin) / (range.end - range.begin)) * width;
  traffic.points.forEach((point, i) => {
    const next = traffic.points[i + 1]?.time ?? Infinity;
    const left = Math.max(0, at(point.time));
    const right = Math.min(width, Number.isFinite(next) ? at(next) : width);
    const size = (point.rate / most) * (height - 4);
    context.fillRect(left, height - size, Math.max(0.5, right - left), size);
  });
}
