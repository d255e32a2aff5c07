// What is chosen, next to the timeline: the span that was clicked, or the selected range.
import { make } from "../dom/make";
import { numberText, ticksWithUnit } from "../format/format";
import type { Clock } from "../data/report";
import type { Range } from "../state/store";
import { factList } from "./card";
import type { SpanFacts } from "./facts";

export interface Actions {
  zoomTo(range: Range): void;
  clear(): void;
}

const button = (text: string, act: () => void): HTMLElement =>
  make("button", { text, attributes: { type: "button" }, on: { click: act } });

export class Details {
  readonly element = make("aside", { class: "timeline-details", attributes: { "aria-label": "details", "aria-live": "polite" } });

  constructor(private readonly clock: Clock, private readonly actions: Actions) {}

  private ticks(value: number): string {
    return ticksWithUnit(this.clock, value);
  }

  show(span: (SpanFacts & { range: Range }) | null, range: (Range & { spans: number }) | null): void {
    const parts: Node[] = [];
    if (range !== null) {
      parts.push(make("h3", { text: "Selected range" }), factList([
        { label: "from", text: this.ticks(range.begin) }, { label: "to", text: this.ticks(range.end) },
        { label: "length", text: this.ticks(range.end - range.begin) }, { label: "spans", text: numberText(range.spans) }]));
      parts.push(make("p", { class: "buttons" }, button("zoom to it", () => this.actions.zoomTo(range)), button("clear", () => this.actions.clear())));
    }
    if (span !== null) {
      parts.push(make("h3", { text: span.title }), factList(span.facts));
      parts.push(make("p", { class: "buttons" }, button("zoom to it", () => this.actions.zoomTo(span.range))));
    }
    this.element.hidden = parts.length === 0;
    this.element.replaceChildren(...parts);
  }
}
