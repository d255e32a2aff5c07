// A whole as one bar of parts, with a legend that says each part's value.
import { make } from "../dom/make";
import { shownName } from "../format/format";

export interface Part {
  label: string;
  value: string;   // as text: "42,174"
  share: number;   // of the whole
  colour: string;  // class of its fill: "fill-compute"
}

const nameWidth = 7;  // of a letter of a label within the bar, in per mille of a usual bar

export function drawBar(parts: readonly Part[], name: string, options: { legend?: boolean } = {}): HTMLElement {
  const bar = make("div", { class: "stack", attributes: { role: "img", "aria-label": describe(parts, name) } });
  for (const part of parts) {
    if (!(part.share > 0)) continue;
    const fits = part.share * 1000 > nameWidth * (part.label.length + 6);
    const segment = make("div", { class: part.colour, title: `${part.label}: ${part.value}` }, fits ? `${part.label} ${percent(part.share)}` : null);
    segment.style.flexGrow = String(part.share);
    bar.append(segment);
  }
  if (options.legend === false) return bar;
  const legend = make("ul", { class: "legend" });
  for (const part of parts) {
    legend.append(make("li", {},
      make("span", { class: `swatch ${part.colour}`, attributes: { "aria-hidden": "true" } }),
      make("span", { class: "legend-label", text: shownName(part.label, 80) }),
      make("span", { class: "legend-value", text: part.value }),
      make("span", { class: "legend-share", text: percent(part.share) })));
  }
  return make("div", { class: "stack-with-legend" }, bar, legend);
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const describe = (parts: readonly Part[], name: string): string =>
  `${name}: ${parts.map((part) => `${part.label} ${percent(part.share)}`).join(", ")}`;
