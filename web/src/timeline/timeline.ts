// The timeline: what it shows, how that changes, and when it is drawn again.
import type { Range } from "../state/store";
import { ChosenSpans } from "./chosen";
import { factsOf, type SpanFacts } from "./facts";
import { closedAtFirst, layOut, type Layout } from "./layout";
import type { Model } from "./model";
import { search } from "./search";
import { around, clamped, panned, selected, timeOf, xOf, zoomed, type Scale } from "./view";

export interface Change {
  layout?: boolean;
  chosen?: boolean;  // range, span or ops
  unit?: number;     // has to be on the screen
}

export class Timeline {
  view: Range;
  layout: Layout;
  width = 1;
  highlighted: ChosenSpans | null = null;
  found: ChosenSpans | null = null;
  draft: Range | null = null;  // that is being selected
  private readonly closed: Set<string>;
  private readonly store;
  private own: Range | null = null;  // what it set store.visible to

  constructor(readonly model: Model, private readonly changed: (what: Change) => void) {
    this.store = model.context.store;
    this.closed = closedAtFirst(model.lanes, model.series);
    this.layout = layOut(model.lanes, model.series, this.closed);
    const { visible, ops } = this.store.get();
    this.view = visible === null ? model.whole : clamped(visible, model.limits);
    if (ops.size > 0) this.highlighted = model.ofOps((op) => ops.has(op));
    this.store.subscribe((chosen, what) => {
      if (what.visible && chosen.visible !== this.own) this.setView(clamped(chosen.visible ?? model.whole, model.limits));
      if (what.ops) this.highlighted = chosen.ops.size === 0 ? null : model.ofOps((op) => chosen.ops.has(op));
      this.changed({ chosen: what.range || what.span || what.ops });
    });
  }

  get scale(): Scale {
    return { begin: this.view.begin, end: this.view.end, width: this.width };
  }

  setView(view: Range): void {
    this.view = view;
    this.changed({});
  }

  // Once a frame: others follow what is seen.
  publish(): void {
    const { whole } = this.model;
    const isWhole = this.view.begin === whole.begin && this.view.end === whole.end;
    const visible = this.store.get().visible;
    if (isWhole ? visible === null : visible !== null && visible.begin === this.view.begin && visible.end === this.view.end) return;
    this.own = isWhole ? null : { begin: this.view.begin, end: this.view.end };
    this.store.set({ visible: this.own });
  }

  zoom(factor: number, x: number): void {
    this.setView(zoomed(this.view, factor, timeOf(this.scale, x), this.model.limits));
  }

  pan(pixels: number): void {
    this.setView(panned(this.view, (pixels * (this.view.end - this.view.begin)) / this.width, this.model.limits));
  }

  zoomTo(range: Range): void {
    this.setView(around(range, this.model.limits));
  }

  // The range, else the chosen span, else all.
  fit(): void {
    const { range, span } = this.store.get();
    const wanted = range ?? (span === null ? null : this.rangeOf(span));
    const target = wanted === null ? this.model.whole : around(wanted, this.model.limits);
    const already = Math.abs(target.begin - this.view.begin) + Math.abs(target.end - this.view.end) < 1e-6 * (target.end - target.begin);
    this.setView(already ? this.model.whole : target);
  }

  // While the pointer moves only the timeline shows the range: tables of millions of spans follow
  // once it is done.
  select(fromX: number, toX: number, done: boolean): void {
    const range = selected(timeOf(this.scale, fromX), timeOf(this.scale, toX), this.model.limits);
    this.draft = done ? null : range;
    if (done) this.store.set({ range });
    else this.changed({});
  }

  // What was chosen last goes first.
  clear(): void {
    const { range, span, ops, finding } = this.store.get();
    if (span !== null || ops.size > 0 || finding !== null) this.store.set({ span: null, ops: new Set(), finding: null });
    else if (range !== null) this.store.set({ range: null });
  }

  rangeOf(span: number): Range {
    const { start, duration } = this.model.spans;
    return { begin: start[span], end: start[span] + duration[span] };
  }

  choose(span: number): void {
    if (span < 0) {
      this.store.set({ span: null, ops: new Set() });
      return;
    }
    const op = this.model.spans.op[span];
    this.store.set({ span, ops: op < 0 ? new Set() : new Set([op]) });
  }

  // The next span of the row of the chosen one.
  step(by: 1 | -1): void {
    const { span } = this.store.get();
    const row = span === null ? null : this.model.rowOf(span);
    if (span === null || row === null) return;
    const place = row.placeOf(span) + by;
    if (place < 0 || place >= row.count) return;
    this.choose(row.spanAt(place));
    this.reveal(row.spanAt(place));
  }

  factsOf(span: number): SpanFacts {
    const { context, steps, spans } = this.model;
    return factsOf(context.report, spans, span, this.model.unitOf(span), steps.text(context.report, span));
  }

  toggle(key: string): void {
    if (!this.closed.delete(key)) this.closed.add(key);
    this.relayOut();
  }

  // Opens what hides a unit.
  open(unit: number): void {
    const before = this.closed.size;
    for (const key of this.model.groupsOf(unit)) this.closed.delete(key);
    if (this.closed.size !== before) this.relayOut();
  }

  private relayOut(): void {
    this.layout = layOut(this.model.lanes, this.model.series, this.closed);
    this.changed({ layout: true });
  }

  // Into the view, zoomed so that it can be seen.
  reveal(span: number): void {
    const unit = this.model.unitOf(span);
    this.open(unit);
    const range = this.rangeOf(span);
    const left = xOf(this.scale, range.begin);
    const right = xOf(this.scale, range.end);
    const narrow = right - left < 3;
    if (narrow) {
      const length = Math.max(1, (range.end - range.begin) * 12);
      const middle = (range.begin + range.end) / 2;
      this.setView(clamped({ begin: middle - length / 2, end: middle + length / 2 }, this.model.limits));
    } else if (right - left > this.width) {
      this.zoomTo(range);
    } else if (left < 0 || right > this.width) {
      const middle = (range.begin + range.end) / 2;
      const length = this.view.end - this.view.begin;
      this.setView(clamped({ begin: middle - length / 2, end: middle + length / 2 }, this.model.limits));
    }
    this.changed({ unit });
  }

  // For other panels (show.ts).
  show(range: Range, units: readonly number[]): void {
    for (const unit of units) this.open(unit);
    this.zoomTo(range);
    if (units.length > 0) this.changed({ unit: units[0] });
  }

  // How many spans match, or a sentence about the pattern.
  search(pattern: string): number | string {
    this.found = null;
    if (pattern !== "") {
      const found = search(this.model.context.data, pattern);
      if (typeof found === "string") {
        this.changed({});
        return found;
      }
      const { op, kind } = this.model.spans;
      this.found = new ChosenSpans(this.model.lanes, this.model.spans,
                                   (span) => (op[span] >= 0 ? found.ops[op[span]] === 1 : found.kinds[kind[span]] === 1));
    }
    this.changed({});
    return this.found?.count ?? 0;
  }

  // From one match to the next, round and round; which one that is, -1: there is none.
  go(by: 1 | -1): number {
    if (this.found === null || this.found.count === 0) return -1;
    const { spans } = this.model;
    const at = this.store.get().span;
    const from = at === null ? -1 : at;
    const start = at === null ? this.view.begin : spans.start[at];
    const span = by > 0 ? this.found.next(spans, from, start) : this.found.before(spans, at === null ? Infinity : at, at === null ? this.view.end : start);
    if (span < 0) return -1;
    this.choose(span);
    this.reveal(span);
    return this.found.indexOf(span, spans.start[span]);
  }
}
