// What is drawn over the lanes: the selected range, the critical path, flows, and the chosen span.
import type { Range } from "../../state/store";
import type { Colours } from "../palette";
import type { Spans } from "../spans";
import type { Steps } from "../steps";
import { lowerBound } from "../times";
import { xOf, type Scale } from "../view";

// Where a span stands on the screen; null: in no row that is shown.
export interface Box {
  readonly y: number;
  readonly height: number;
}
export type BoxOf = (span: number, unit: number) => Box | null;

const clampX = (view: Scale, x: number): number => Math.max(-4, Math.min(view.width + 4, x));

export function paintRange(context: CanvasRenderingContext2D, range: Range, colours: Colours, view: Scale, height: number): void {
  const left = clampX(view, xOf(view, range.begin));
  const right = clampX(view, xOf(view, range.end));
  context.fillStyle = colours.css("background");
  context.globalAlpha = 0.62;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, view.width - right, height);
  context.globalAlpha = 1;
  context.fillStyle = colours.css("focus");
  context.fillRect(left - 0.5, 0, 1, height);
  context.fillRect(right - 0.5, 0, 1, height);
}

// A line under each step, and from its end to the begin of the next. Steps of less than a pixel are
// drawn once a pixel.
export function paintPath(context: CanvasRenderingContext2D, steps: Steps, colours: Colours, view: Scale, boxOf: BoxOf): void {
  const { start, duration, count } = steps;
  let before: { x: number; y: number } | null = null;
  let lastX = -Infinity;
  context.strokeStyle = colours.css("path");
  context.fillStyle = colours.css("path");
  context.lineWidth = 1;
  context.beginPath();
  const first = Math.max(0, lowerBound(start, view.begin, 0, count) - 2);
  for (let i = first; i < count; ++i) {
    const x = xOf(view, start[i]);
    const right = xOf(view, start[i] + duration[i]);
    if (x > view.width + 4 && before !== null && before.x > view.width) break;
    if (right - lastX < 0.75) continue;
    const box = boxOf(steps.span[i], steps.unit[i]);
    if (box === null) {
      before = null;
      continue;
    }
    const bottom = box.y + box.height - 1.5;
    const left = clampX(view, x);
    const end = clampX(view, right);
    if (right >= 0 && x <= view.width) context.fillRect(left, bottom - 1, Math.max(1, end - left), 2.5);
    if (before !== null && (before.y !== bottom || left > before.x + 1)) {
      context.moveTo(before.x, before.y);
      context.lineTo(left, bottom);
    }
    before = { x: end, y: bottom };
    lastX = right;
  }
  context.globalAlpha = 0.6;
  context.stroke();
  context.globalAlpha = 1;
}

// From the end of one span to the start of another. `flows`: places in the flow columns.
export function paintFlows(context: CanvasRenderingContext2D, flows: readonly [from: number, to: number][], spans: Spans, colours: Colours,
                           view: Scale, boxOf: BoxOf): void {
  context.strokeStyle = colours.css("quiet");
  context.lineWidth = 1;
  context.globalAlpha = flows.length > 60 ? 0.35 : 0.7;
  context.beginPath();
  for (const [from, to] of flows) {
    const a = boxOf(from, -1);
    const b = boxOf(to, -1);
    if (a === null || b === null) continue;
    const x = clampX(view, xOf(view, spans.start[from] + spans.duration[from]));
    const x2 = clampX(view, xOf(view, spans.start[to]));
    const y = a.y + a.height / 2;
    const y2 = b.y + b.height / 2;
    const bend = Math.min(40, Math.max(12, Math.abs(x2 - x) / 2));
    context.moveTo(x, y);
    context.bezierCurveTo(x + bend, y, x2 - bend, y2, x2, y2);
    context.moveTo(x2 - 4, y2 - 3);
    context.lineTo(x2, y2);
    context.lineTo(x2 - 4, y2 + 3);
  }
  context.stroke();
  context.globalAlpha = 1;
}

export function paintSpan(context: CanvasRenderingContext2D, spans: Spans, span: number, colours: Colours, view: Scale, boxOf: BoxOf): void {
  const box = boxOf(span, -1);
  if (box === null) return;
  const left = clampX(view, xOf(view, spans.start[span]));
  const right = clampX(view, xOf(view, spans.start[span] + spans.duration[span]));
  context.strokeStyle = colours.css("text");
  context.lineWidth = 2;
  context.strokeRect(left - 1, box.y - 1, Math.max(2, right - left) + 2, box.height + 1);
}
