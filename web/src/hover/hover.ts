// A card at the pointer: a title and lines, all of them text.
import { make } from "../dom/make";
import { shownName } from "../format/format";

export interface Card {
  title: string;
  lines: [label: string, value: string][];
}

export class Hover {
  private readonly card = make("div", { class: "hover-card", attributes: { role: "tooltip", hidden: true } });

  constructor(host: HTMLElement) {
    host.append(this.card);
  }

  show(card: Card | null, event: MouseEvent): void {
    this.card.hidden = card === null;
    if (card === null) return;
    const lines = card.lines.filter(([, value]) => value !== "").map(([label, value]) =>
      make("div", {}, make("span", { class: "hover-label", text: label }), make("span", { text: shownName(value, 160) })));
    this.card.replaceChildren(make("strong", { text: shownName(card.title, 160) }), ...lines);
    const beside = 14;
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = event.clientX + beside + width > innerWidth ? event.clientX - beside - width : event.clientX + beside;
    const top = event.clientY + beside + height > innerHeight ? event.clientY - beside - height : event.clientY + beside;
    this.card.style.left = `${Math.max(0, left)}px`;
    this.card.style.top = `${Math.max(0, top)}px`;
  }

  hide(): void {
    this.card.hidden = true;
  }
}
