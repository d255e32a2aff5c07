// The names of lanes to the left of the canvas: text that can be selected, and buttons that open and
// close groups.
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Item, Layout } from "./layout";

export class Labels {
  readonly element = make("div", { class: "timeline-labels" });

  constructor(private readonly toggle: (key: string) => void) {}

  show(layout: Layout): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset["key"];
    this.element.replaceChildren(...layout.items.map((item) => this.label(item)));
    if (focused !== undefined) {
      for (const button of this.element.querySelectorAll("button")) if (button.dataset["key"] === focused) button.focus();
    }
  }

  private label(item: Item): HTMLElement {
    const text = shownName(item.label, 120);
    const title = shownName(item.series?.title ?? item.label, 500);
    const swatch = item.engine === "" || item.open !== null ? null : make("span", { class: "swatch" });
    if (swatch !== null) swatch.style.background = `var(--engine-${item.engine}, var(--engine-other))`;
    const name = make("span", { class: "timeline-name", text, title });
    const element = make("div", { class: "timeline-label" });
    if (item.open === null) {
      element.append(...(swatch === null ? [name] : [swatch, name]));
    } else {
      const button = make("button", {
        class: "timeline-toggle", attributes: { type: "button", "aria-expanded": String(item.open) }, on: { click: () => this.toggle(item.key) },
      }, make("span", { class: "arrow", text: item.open ? "▾" : "▸", attributes: { "aria-hidden": true } }), name);
      button.dataset["key"] = item.key;
      element.append(button);
    }
    element.style.top = `${item.y}px`;
    element.style.height = `${item.height}px`;
    element.style.paddingLeft = `${4 + item.depth * 12}px`;
    return element;
  }
}
