// The line above the timeline: search, what is drawn over the lanes, zoom, and which keys there are.
import { make } from "../dom/make";

export interface Toggle {
  readonly label: string;
  readonly on: boolean;
  set(on: boolean): void;
}

export interface ToggleBox {
  readonly element: HTMLElement;
  check(on: boolean): void;  // somebody else has set it
}

export function toggleBox(toggle: Toggle): ToggleBox {
  const box = make("input", { attributes: { type: "checkbox", checked: toggle.on }, on: { change: () => toggle.set(box.checked) } });
  return { element: make("label", { class: "timeline-toggle-box" }, box, ` ${toggle.label}`), check: (on) => { box.checked = on; } };
}

const help: [keys: string, what: string][] = [
  ["W S", "zoom in, out"], ["A D", "pan"], ["F", "fit the selection, or all"], ["/", "search; Enter and Shift Enter go through the matches, with the focus on the timeline"],
  [", .", "span before, span after"], ["[ ]", "place before, next place of the finding"], ["?", "these keys"], ["Esc", "let go of span, then of range"], ["Ctrl + wheel, pinch", "zoom at the pointer"],
  ["Shift + wheel, drag", "pan"], ["Shift + drag, drag on the axis", "select a range: the tables below are of it"], ["double click", "zoom to the span"],
];

export interface KeyHelp {
  readonly element: HTMLElement;
  toggle(): void;
  close(): boolean;  // false: it was closed
}

export function keyHelp(): KeyHelp {
  const summary = make("summary", { text: "Keys ( ? )" });
  const element = make("details", { class: "timeline-help no-print" }, summary,
    make("dl", {}, ...help.flatMap(([keys, what]) => [make("dt", {}, make("kbd", { text: keys })), make("dd", { text: what })])));
  const close = (): boolean => {
    const was = element.open;
    element.open = false;
    return was;
  };
  return { element, close, toggle: () => {
    element.open = !element.open;
    if (element.open) element.scrollIntoView({ block: "nearest" });
  } };
}
