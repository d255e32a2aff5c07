// Counters and bytes over time: an area as high as the max of each pixel, on a scale from 0.
import type { Item } from "../layout";
import type { Colours } from "../palette";
import { maxByPixel } from "../series";
import type { Scale } from "../view";
import type { Surface } from "./surface";

const padding = 3;

export function paintSeries(surface: Surface, items: readonly Item[], colours: Colours, view: Scale, top: number): void {
  const { context } = surface;
  items.forEach((item) => {
    const { series } = item;
    if (series === null) return;
    const colour = colours.css(series.quantity === "bytes per tick" ? "series-3" : "series-1");
    const base = Math.round(item.y - top + item.height);
    const high = item.height - padding;
    const heights = maxByPixel(series, view.begin, view.end, Math.ceil(view.width));
    const yOf = (value: number): number => base - (series.max > 0 ? Math.max(0, value / series.max) * high : 0);
    context.fillStyle = colour;
    context.globalAlpha = 0.28;
    context.beginPath();
    for (let x = 0; x < heights.length; ++x) {
      if (!Number.isNaN(heights[x])) context.rect(x, yOf(heights[x]), 1, base - yOf(heights[x]));
    }
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    let drawing = false;
    for (let x = 0; x < heights.length; ++x) {
      if (Number.isNaN(heights[x])) {
        drawing = false;
        continue;
      }
      const y = yOf(heights[x]) + 0.5;
      if (!drawing) context.moveTo(x, y);
      context.lineTo(x + 1, y);
      drawing = true;
    }
    context.stroke();
    context.strokeStyle = colours.css("line");
    context.beginPath();
    context.moveTo(0, base + 0.5);
    context.lineTo(view.width, base + 0.5);
    context.stroke();
  });
}
