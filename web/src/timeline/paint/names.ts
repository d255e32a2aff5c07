// Names on spans that are wide enough for some of them.
import type { DrawnRow } from "../layout";
import { shownName } from "../../format/format";
import { nameOf } from "../facts";
import type { Colouring } from "../colouring";
import type { Spans } from "../spans";
import { xOf, type Scale } from "../view";

const minPixels = 28;
const minHeight = 12;
const padding = 3;
const maxNames = 1200;  // of a frame

// The end of a path says more than its begin: "/model/layers.0/MatMul" is "MatMul" where there is
// little space.
export function lastPart(name: string): string {
  const scope = name.lastIndexOf("::");
  return name.slice(Math.max(name.lastIndexOf("/") + 1, scope < 0 ? 0 : scope + 2)) || name;
}

export class NamePainter {
  private readonly widths = new Map<string, number>();
  private readonly names = new Map<number, string>();

  private widthOf(context: CanvasRenderingContext2D, text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      width = context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // As much of the name as there is space for; empty: none.
  private fitting(context: CanvasRenderingContext2D, name: string, space: number): string {
    if (this.widthOf(context, name) <= space) return name;
    const last = lastPart(name);
    const width = this.widthOf(context, last);
    if (width <= space) return last;
    for (let letters = Math.floor((space / width) * last.length) - 1; letters >= 2; --letters) {
      const cut = `${last.slice(0, letters)}…`;
      if (this.widthOf(context, cut) <= space) return cut;
    }
    return "";
  }

  private nameOf(spans: Spans, span: number): string {
    const op = spans.op[span];
    if (op < 0) return shownName(nameOf(spans, span), 120);
    let name = this.names.get(op);
    if (name === undefined) this.names.set(op, name = shownName(nameOf(spans, span), 120));
    return name;
  }

  // `colourOf`: of a name on a span whose tone is given.
  paint(context: CanvasRenderingContext2D, rows: readonly DrawnRow[], spans: Spans, colouring: Colouring,
        colourOf: (span: number, tone: number) => string, view: Scale, top: number): void {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    const minTicks = (minPixels * (view.end - view.begin)) / view.width;
    let drawn = 0;
    for (const { row, engine, unit, y, height } of rows) {
      if (height < minHeight) continue;
      const lane = colouring.laneGroup(engine, unit);
      for (const place of wideSpans(row, minTicks, view)) {
        if (++drawn > maxNames) return;
        const left = Math.max(0, xOf(view, row.start[place]));
        const right = Math.min(view.width, xOf(view, row.start[place] + row.duration[place]));
        if (right - left < minPixels) continue;
        const span = row.spanAt(place);
        const shown = this.fitting(context, this.nameOf(spans, span), right - left - 2 * padding);
        if (shown === "") continue;
        context.fillStyle = colourOf(span, colouring.tone(span, lane));
        context.fillText(shown, left + padding, y - top + height / 2);
      }
    }
  }
}

// Places of spans of at least so many ticks that are seen: blocks that hold only shorter ones are
// passed over.
export function* wideSpans(row: DrawnRow["row"], minTicks: number, view: Scale): Generator<number> {
  const { start, duration, levels, count } = row;
  let i = row.firstFrom(view.begin);
  while (i < count && start[i] < view.end) {
    if (duration[i] >= minTicks) {
      yield i++;
      continue;
    }
    let skip = 1;
    for (const level of levels) {
      const block = i >> level.shift;
      if ((i & ((1 << level.shift) - 1)) !== 0 || duration[level.longest[block]] >= minTicks) break;
      skip = 1 << level.shift;
    }
    i += skip;
  }
}
