// The axis above the lanes, and the lines that its marks go on with through them.
import type { Range } from "../../state/store";
import type { Mark } from "../axis";
import type { Colours } from "../palette";
import { xOf, type Scale } from "../view";
import type { Surface } from "./surface";

export const axisHeight = 26;

export function paintGrid(surface: Surface, marks: readonly Mark[], colours: Colours, view: Scale): void {
  const { context } = surface;
  context.fillStyle = colours.css("shade");
  for (const { time } of marks) context.fillRect(Math.round(xOf(view, time)), 0, 1, surface.height);
}

export function paintAxis(surface: Surface, marks: readonly Mark[], colours: Colours, view: Scale, range: Range | null): void {
  const context = surface.clear(colours.css("surface"));
  if (range !== null) {
    const left = xOf(view, range.begin);
    const right = xOf(view, range.end);
    context.fillStyle = colours.css("selected");
    context.fillRect(left, 0, Math.max(1, right - left), surface.height);
  }
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  marks.forEach(({ time, text }) => {
    const x = Math.round(xOf(view, time));
    context.fillStyle = colours.css("line");
    context.fillRect(x, surface.height - 7, 1, 7);
    context.fillStyle = colours.css("quiet");
    const width = context.measureText(text).width;
    context.textAlign = "left";
    context.fillText(text, Math.max(2, Math.min(view.width - width - 2, x - width / 2)), 10);
  });
  context.fillStyle = colours.css("line");
  context.fillRect(0, surface.height - 1, surface.width, 1);
}
