// All that the timeline draws of a profile, and where a span is in it.
import type { Context } from "../panel";
import type { Range } from "../state/store";
import { ChosenSpans } from "./chosen";
import { allLanes, buildLanes, chain, type Lane } from "./lanes";
import { buildSeries, type SeriesGroup } from "./series";
import type { Row } from "./row";
import { Spans } from "./spans";
import { Steps } from "./steps";

export class Model {
  readonly spans: Spans;
  readonly steps: Steps;
  readonly lanes: Lane[];
  readonly series: SeriesGroup[];
  readonly limits: Range;  // of zooming
  readonly whole: Range;   // shown at first
  private readonly laneOfUnit = new Map<number, Lane>();
  private readonly byFirstSpan: number[];  // units with spans

  constructor(readonly context: Context) {
    const { data } = context;
    this.spans = new Spans(data);
    this.steps = new Steps(data);
    this.lanes = buildLanes(data.head, this.spans);
    this.series = buildSeries(data);
    const length = Math.max(1, data.head.length);
    const { timeline_begin: begin, timeline_length: spanned } = data.head;
    this.limits = { begin: 0, end: length };
    this.whole = spanned > 0 ? { begin, end: Math.min(length, begin + spanned) } : this.limits;
    const { units } = data.head;
    this.byFirstSpan = units.map((_, place) => place).filter((place) => units[place].spans > 0)
      .sort((a, b) => units[a].first_span - units[b].first_span);
    for (const lane of allLanes(this.lanes)) if (lane.unit >= 0) this.laneOfUnit.set(lane.unit, lane);
  }

  // Place in units; -1: of none.
  unitOf(span: number): number {
    let low = 0;
    let high = this.byFirstSpan.length;
    const { units } = this.context.data.head;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (units[this.byFirstSpan[middle]].first_span <= span) low = middle + 1;
      else high = middle;
    }
    const unit = low === 0 ? -1 : this.byFirstSpan[low - 1];
    return unit >= 0 && span >= 0 && span < units[unit].first_span + units[unit].spans ? unit : -1;
  }

  rowOf(span: number): Row | null {
    return this.laneOf(this.unitOf(span))?.rows.find((row) => row.placeOf(span) >= 0) ?? null;
  }

  // How many spans begin or end in a range, or lie around it.
  spansIn(range: Range): number {
    let count = 0;
    for (const lane of allLanes(this.lanes)) {
      for (const row of lane.rows) {
        const [first, last] = row.placesIn(range.begin, range.end);
        if (this.context.data.head.merged_spans === 0) count += Math.max(0, last - first);
        else for (let place = first; place < last; ++place) count += this.spans.mergedCount(row.spanAt(place));
      }
    }
    return count;
  }

  laneOf(unit: number): Lane | undefined {
    return this.laneOfUnit.get(unit);
  }

  // Keys of the groups that have to be open for a unit to be seen.
  groupsOf(unit: number): string[] {
    const { units } = this.context.data.head;
    const device = units[unit] === undefined ? [] : [`device ${units[unit].device}`];
    return [...device, ...chain(units, unit).slice(0, -1).map((place) => `unit ${place}`)];
  }

  ofOps(ops: (op: number) => boolean): ChosenSpans {
    const { op } = this.spans;
    return new ChosenSpans(this.lanes, this.spans, (span) => op[span] >= 0 && ops(op[span]));
  }

  // Flows that are seen in a view, and those of one span whatever the view; `most`: no more than so many.
  flowsIn(view: Range, span: number | null, most: number): [number, number][] {
    const from = this.context.data.column("flow.from");
    const to = this.context.data.column("flow.to");
    const { start, duration } = this.spans;
    const out: [number, number][] = [];
    const ofSpan: [number, number][] = [];
    for (let i = 0; i < from.length; ++i) {
      const a = from[i];
      const b = to[i];
      if (a === span || b === span) ofSpan.push([a, b]);
      if (out.length > most || start[b] < view.begin || start[a] + duration[a] > view.end) continue;
      out.push([a, b]);
    }
    return out.length > most ? ofSpan : out;
  }
}
