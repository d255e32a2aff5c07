// The names of lanes to the left of the canvas: text that can be selected, and buttons that open and
// close groups.
import { apart, apartElement, type Apart } from "../dom/apart";
import { make } from "../dom/make";
import type { Colouring } from "./colouring";
import type { Item, Layout } from "./layout";

const [indent, margin, swatchWidth, ellipsis] = [12, 12, 16, 14];  // pixels
const [least, most, mostWhenNarrow] = [110, 260, 120];
const mostOfScreen = 0.45;

// As wide as the names need, up to a bound that only parts that tell them apart may pass.
function widthOf(items: readonly Item[], names: readonly Apart[], narrow: boolean): number {
  const context = document.createElement("canvas").getContext("2d")!;
  context.font = "600 12px system-ui, sans-serif";
  const text = (part: string): number => context.measureText(part.slice(0, 200)).width;
  let [whole, keys] = [least, 0];
  names.forEach(([before, key, behind], i) => {
    const rest = margin + items[i].depth * indent + swatchWidth;
    whole = Math.max(whole, rest + text(before + key + behind));
    keys = Math.max(keys, rest + text(key) + (before === "" ? 0 : ellipsis));
  });
  return Math.ceil(Math.min(whole, Math.max(keys, narrow ? mostWhenNarrow : most), mostOfScreen * window.innerWidth));
}

export class Labels {
  readonly element = make("div", { class: "timeline-labels" });

  width = least;  // pixels

  constructor(private readonly toggle: (key: string) => void) {}

  // `narrow`: a telephone's screen.
  show(layout: Layout, colouring: Colouring, narrow: boolean): void {
    const { items } = layout;
    const names = apart(items.map((item) => item.label));
    this.width = widthOf(items, names, narrow);
    const focused = (document.activeElement as HTMLElement | null)?.dataset["key"];
    this.element.replaceChildren(...items.map((item, i) => this.label(item, names[i], colouring)));
    if (focused !== undefined) {
      for (const button of this.element.querySelectorAll("button")) if (button.dataset["key"] === focused) button.focus();
    }
  }

  private label(item: Item, label: Apart, colouring: Colouring): HTMLElement {
    const hasSwatch = item.engine !== "" && item.open === null && (colouring.by === "engine" || colouring.by === "unit");
    const swatch = hasSwatch ? make("span", { class: "swatch" }) : null;
    if (swatch !== null) swatch.style.background = `var(--${colouring.groups[colouring.laneGroup(item.engine, item.rows[0]?.unit ?? -1)].colour})`;
    const name = apartElement(label, "timeline-name");
    if (item.series !== null) name.title = item.series.title;
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
    element.style.paddingLeft = `${4 + item.depth * indent}px`;
    return element;
  }
}
