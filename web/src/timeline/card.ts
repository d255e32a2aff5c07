// The card next to the pointer, and the list of facts that it shares with the details.
import { make } from "../dom/make";
import type { Fact, SpanFacts } from "./facts";

export function factList(facts: readonly Fact[]): HTMLElement {
  return make("dl", { class: "facts" }, ...facts.flatMap(({ label, text }) => [make("dt", { text: label }), make("dd", { text })]));
}

export class Card {
  readonly element = make("div", { class: "timeline-card", attributes: { hidden: true, role: "tooltip" } });

  show(facts: SpanFacts, x: number, y: number): void {
    this.element.replaceChildren(make("strong", { text: facts.title }), factList(facts.facts));
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const gap = 14;
    const left = x + gap + width > window.innerWidth ? Math.max(4, x - gap - width) : x + gap;
    const top = y + gap + height > window.innerHeight ? Math.max(4, y - gap - height) : y + gap;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
