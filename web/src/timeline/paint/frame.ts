// One frame of the timeline: lanes, names, series and overlays on one canvas, the axis on another.
import type { Range } from "../../state/store";
import type { Clock } from "../../data/report";
import { marksFrom } from "../axis";
import type { ChosenSpans } from "../chosen";
import type { Colouring } from "../colouring";
import { seen, type DrawnRow, type Layout } from "../layout";
import type { Model } from "../model";
import { darkText, isLight, lightText, type Colours } from "../palette";
import type { Row } from "../row";
import type { Scale } from "../view";
import { paintAxis, paintGrid } from "./axis";
import { LinePainter } from "./lines";
import { NamePainter } from "./names";
import { paintFlows, paintPath, paintRange, paintSpan, type Box } from "./overlays";
import { paintSeries } from "./series";
import type { Surface } from "./surface";

export interface Scene {
  readonly layout: Layout;
  readonly top: number;  // scrolled away
  readonly view: Scale;
  readonly range: Range | null;
  readonly span: number | null;
  readonly highlighted: ChosenSpans | null;
  readonly found: ChosenSpans | null;
  readonly path: boolean;
  readonly flows: boolean;
  readonly colouring: Colouring;
}

// More in the view than this are a tangle: then those of the chosen span are drawn.
const mostFlows = 200;

// Spans that are faded because others are highlighted have names in the colour of text.
function nameColours(colours: Colours, highlighted: ChosenSpans | null, found: ChosenSpans | null): (span: number, tone: number) => string {
  if (highlighted === null && found === null) return (_, tone) => colours.text[tone];
  const onMark = isLight(colours.rgb("mark")) ? darkText : lightText;
  return (span, tone) => (found?.has(span) ? onMark : highlighted?.has(span) ? colours.text[tone] : colours.css("quiet"));
}

export class FramePainter {
  private readonly lines = new LinePainter();
  private readonly names = new NamePainter();
  private placedIn: Layout | null = null;
  private readonly placed = new Map<Row, DrawnRow>();

  constructor(private readonly model: Model, private readonly clock: Clock, private readonly origin: number) {}

  // Where a row is drawn, as long as the layout stays.
  private place(layout: Layout): void {
    if (this.placedIn === layout) return;
    this.placedIn = layout;
    this.placed.clear();
    for (const item of layout.items) for (const row of item.rows) this.placed.set(row.row, row);
  }

  private boxOf(span: number, unit: number, top: number): Box | null {
    const row = span >= 0 ? this.model.rowOf(span) : this.model.laneOf(unit)?.rows[0] ?? null;
    const drawn = row === null ? undefined : this.placed.get(row);
    return drawn === undefined ? null : { y: drawn.y - top, height: drawn.height };
  }

  paint(lanes: Surface, axis: Surface, colours: Colours, scene: Scene): void {
    const { layout, top, view, highlighted, found, colouring } = scene;
    const { spans, steps } = this.model;
    this.place(layout);
    const shown = marksFrom(this.origin, view, this.clock);
    paintAxis(axis, shown, colours, view, scene.range);
    const context = lanes.clear(colours.css("background"));
    paintGrid(lanes, shown, colours, view);
    const items = seen(layout.items, top, top + lanes.height);
    const rows = seen(items.flatMap((item) => item.rows), top, top + lanes.height);
    this.lines.paint(lanes, rows, colouring, colours, view, top, highlighted !== null || found !== null);
    if (highlighted !== null) this.lines.paintChosen(lanes, rows, colouring, highlighted, colours, null, view, top);
    if (found !== null) this.lines.paintChosen(lanes, rows, colouring, found, colours, "mark", view, top);
    this.names.paint(context, rows, spans, colouring, nameColours(colours, highlighted, found), view, top);
    paintSeries(lanes, items, colours, view, top);
    const boxOf = (span: number, unit: number): Box | null => this.boxOf(span, unit, top);
    if (scene.path && steps.count > 0) paintPath(context, steps, colours, view, boxOf);
    if (scene.flows) paintFlows(context, this.model.flowsIn(view, scene.span, mostFlows), spans, colours, view, boxOf);
    if (scene.range !== null) paintRange(context, scene.range, colours, view, lanes.height);
    if (scene.span !== null) paintSpan(context, spans, scene.span, colours, view, boxOf);
  }
}
