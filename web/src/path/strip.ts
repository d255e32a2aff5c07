// A path as a strip on a canvas: its steps in the colours of their engines, and the gaps between
// them, which are waits, lighter. Two strips on one scale compare a path with what it would be.
import { life } from "../dom/life";
import { make } from "../dom/make";
import type { Hover } from "../hover/hover";
import { stepAt, stripRects } from "./strip_rects";
import type { Step } from "./schedule";

export interface StripOptions {
  label: string;                                   // in front of it
  scale: number;                                   // ticks of its whole width
  wall: number;                                    // where it ends
  colourOf: (step: Step) => string;                // name of a custom property: "--engine-hmx"
  gapColourOf: (step: Step) => string;
  card: (step: Step, place: number) => { title: string; lines: [string, string][] };
  onStep?: (place: number) => void;
}

const height = 26;

export class Strip {
  readonly element: HTMLElement;
  private readonly canvas = make("canvas", { class: "strip-canvas", attributes: { role: "img" } });
  private readonly end = make("span", { class: "strip-end number" });
  private steps: readonly Step[] = [];
  private scale: number;
  private wall: number;
  private waiting = 0;

  constructor(private readonly options: StripOptions, private readonly hover: Hover) {
    this.scale = options.scale;
    this.wall = options.wall;
    this.element = make("div", { class: "strip" }, make("span", { class: "strip-label", text: options.label }), this.canvas, this.end);
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("mouseleave", () => hover.hide());
    this.canvas.addEventListener("click", (event) => {
      const place = this.placeAt(event);
      if (place >= 0) options.onStep?.(place);
    });
    new ResizeObserver(() => this.drawSoon()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawSoon(), { signal: life() });
  }

  // `scale`: ticks of its whole width from now on.
  set(steps: readonly Step[], wall: number, endText: string, scale = this.scale): void {
    this.steps = steps;
    this.wall = wall;
    this.scale = scale;
    this.end.textContent = endText;
    this.canvas.setAttribute("aria-label", `${this.options.label}: ${steps.length} steps, ${endText}`);
    this.drawSoon();
  }

  private drawSoon(): void {
    if (this.waiting !== 0) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  private draw(): void {
    const ratio = devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    if (context === null) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    const colours = new Map<string, string>();
    const colour = (name: string): string => {
      let found = colours.get(name);
      if (found === undefined) colours.set(name, (found = style.getPropertyValue(name).trim() || "#888"));
      return found;
    };
    const end = (this.wall / this.scale) * width;
    context.fillStyle = colour("--idle");
    context.fillRect(0, 8, end, height - 16);
    for (const rect of stripRects(this.steps, this.scale, width)) {
      context.fillStyle = colour(rect.isGap ? this.options.gapColourOf(this.steps[rect.place]) : this.options.colourOf(this.steps[rect.place]));
      if (rect.isGap) context.fillRect(rect.x, 8, rect.width, height - 16);
      else context.fillRect(rect.x, 2, rect.width, height - 4);
    }
    context.fillStyle = colour("--text");
    context.fillRect(Math.min(width - 1, end), 0, 1, height);
  }

  private placeAt(event: MouseEvent): number {
    return stepAt(this.steps, (event.offsetX / Math.max(1, this.canvas.clientWidth)) * this.scale, (2 / Math.max(1, this.canvas.clientWidth)) * this.scale);
  }

  private point(event: MouseEvent): void {
    const place = this.placeAt(event);
    this.hover.show(place < 0 ? null : this.options.card(this.steps[place], place), event);
  }
}
