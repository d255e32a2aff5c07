// What the colours of the timeline mean, and the choice of what they stand for. A group of the legend
// highlights its ops.
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { By, Store } from "../state/store";
import type { Colouring, Group } from "./colouring";
import { allLanes, type Lane } from "./lanes";
import { frame, looks, wait, work, type Spans } from "./spans";
import { frameShare, shades, tonesOfGroup, waitShare } from "./palette";

// Which groups have spans of which look: used[group * looks + look].
export function usedBy(colouring: Colouring, lanes: readonly Lane[]): Uint8Array {
  const used = new Uint8Array(colouring.groups.length * looks);
  for (const lane of allLanes(lanes)) {
    const group = colouring.laneGroup(lane.engine, lane.unit);
    for (const row of lane.rows) {
      for (let i = 0; i < row.count; ++i) {
        const tone = colouring.tone(row.spanAt(i), group);
        used[Math.floor(tone / tonesOfGroup) * looks + Math.floor((tone % tonesOfGroup) / shades)] = 1;
      }
    }
  }
  return used;
}

const titles: { [by in By]: string } = {
  op: "the ops with most time, as in the table of ops", kind: "what kernels or operators do", part: "parts of the model",
  engine: "the hardware that runs them", unit: "one colour for each lane",
};

const swatch = (colour: string): HTMLElement => {
  const element = make("span", { class: "swatch", attributes: { "aria-hidden": "true" } });
  element.style.background = colour;
  return element;
};

export class Legend {
  readonly element = make("div", { class: "timeline-legend" });
  private readonly list = make("ul", { class: "legend inline", attributes: { "aria-label": "what the colours mean" } });
  private readonly buttons: HTMLButtonElement[];
  private groups: { group: Group; button: HTMLButtonElement }[] = [];

  constructor(choices: readonly By[], private readonly store: Store, choose: (by: By) => void) {
    this.buttons = choices.map((by) => make("button", {
      text: by, title: titles[by], attributes: { type: "button", "aria-pressed": "false", "data-by": by }, on: { click: () => choose(by) } }));
    this.element.append(make("div", { class: "choice no-print", attributes: { role: "group", "aria-label": "colour spans by" } },
                             make("span", { text: "colour by" }), ...this.buttons), this.list);
    store.subscribe((_, changed) => {
      if (changed.ops) this.mark();
    });
  }

  show(colouring: Colouring, lanes: readonly Lane[], spans: Spans): void {
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset["by"] === colouring.by));
    const used = usedBy(colouring, lanes);
    const has = (look: number): boolean => used.some((one, i) => one === 1 && i % looks === look);
    const shown = colouring.by === "unit" ? [] : colouring.groups.filter((_, i) => used[i * looks + work] || used[i * looks + wait]);
    this.groups = shown.map((group) => ({ group, button: this.groupButton(group) }));
    const items: HTMLElement[] = this.groups.map(({ button }) => make("li", {}, button));
    const say = (colour: string, text: string): void => {
      items.push(make("li", {}, swatch(colour), text));
    };
    if (colouring.by === "unit") items.push(make("li", { text: "each unit in the colour next to its name" }));
    const pale = (colour: string, share: number): string => `color-mix(in srgb, var(--${colour}) ${100 * share}%, var(--background))`;
    if (has(wait)) say(pale(shown[0]?.colour ?? "hue-1", waitShare), "pale: waiting");
    // The pale of others is a light grey, too.
    const others = colouring.groups.findIndex(({ colour }) => colour === "hue-other");
    const greyWaits = colouring.by !== "unit" && others >= 0 && used[others * looks + wait] === 1;
    if (has(frame)) say(pale("engine-none", frameShare), `light grey: ${greyWaits ? "others wait, or " : ""}stretches that hold other spans`);
    this.list.replaceChildren(...items);
    this.list.hidden = spans.total === 0;
    this.mark();
  }

  private groupButton(group: Group): HTMLButtonElement {
    const label = shownName(group.label, 48);
    if (group.ops.size === 0) return make("button", { class: "legend-group", attributes: { type: "button", disabled: true } }, swatch(`var(--${group.colour})`), label);
    return make("button", { class: "legend-group", title: `highlight ${shownName(group.label)}`, attributes: { type: "button", "aria-pressed": "false" },
                            on: { click: () => this.toggle(group) } }, swatch(`var(--${group.colour})`), label);
  }

  private toggle({ ops }: Group): void {
    this.store.set({ ops: this.isHighlighted(ops) ? new Set<number>() : ops, span: null });
  }

  private isHighlighted(ops: ReadonlySet<number>): boolean {
    const chosen = this.store.get().ops;
    return chosen === ops || (chosen.size === ops.size && ops.size > 0 && [...ops].every((op) => chosen.has(op)));
  }

  private mark(): void {
    for (const { group, button } of this.groups) if (group.ops.size > 0) button.setAttribute("aria-pressed", String(this.isHighlighted(group.ops)));
  }
}
