// Keys of the timeline, those that users of Perfetto know: W and S zoom, A and D pan while they are
// held, F fits, / searches, ? lists them, Escape lets go.
import { life } from "../dom/life";

export interface KeyActions {
  zoom(factor: number): void;
  pan(share: number): void;  // of the view
  fit(): void;
  search(): void;
  clear(): void;
  step(by: 1 | -1): void;  // to the next span of the row
  place(by: 1 | -1): void; // to the next place of a finding
  match(by: 1 | -1): boolean;  // to the next match of a search; false: there is none
  help(): void;
}

type Held = "zoom in" | "zoom out" | "left" | "right";

const heldBy: { [key: string]: Held } = { w: "zoom in", s: "zoom out", a: "left", d: "right" };
const arrows: { [key: string]: Held } = { ArrowLeft: "left", ArrowRight: "right", "+": "zoom in", "=": "zoom in", "-": "zoom out" };

const everywhere = new Set(["/", "?", "Escape"]);  // work wherever the reader is on the page

const perSecond = { zoom: 4, pan: 1.3 };  // factor, views
const firstStep = 0.06;                   // seconds, of a key that is only tapped

const typesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

// `focused`: the timeline itself has the focus, arrows are its own.
// `active`: it is on the screen. `shown`: it is on the page, of which the reader may see another part.
export function keys(active: () => boolean, shown: () => boolean, focused: () => boolean, actions: KeyActions): void {
  const held = new Map<string, Held>();
  let last = 0;
  const move = (seconds: number): void => {
    for (const what of held.values()) {
      if (what === "zoom in") actions.zoom(perSecond.zoom ** -seconds);
      else if (what === "zoom out") actions.zoom(perSecond.zoom ** seconds);
      else actions.pan((what === "left" ? -1 : 1) * perSecond.pan * seconds);
    }
  };
  const tick = (now: number): void => {
    if (held.size === 0) return;
    move(Math.min(0.1, (now - last) / 1000));
    last = now;
    requestAnimationFrame(tick);
  };
  const hold = (key: string, what: Held): void => {
    if (held.has(key)) return;
    const first = held.size === 0;
    held.set(key, what);
    move(firstStep);
    if (!first) return;
    last = performance.now();
    requestAnimationFrame(tick);
  };
  const once: { [key: string]: () => void } = {
    f: actions.fit, "/": actions.search, Escape: actions.clear, ".": () => actions.step(1), ",": () => actions.step(-1),
    "]": () => actions.place(1), "[": () => actions.place(-1), "?": actions.help,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typesText(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!active() && !(everywhere.has(key) && shown())) return;
    if (key === "Enter" && focused() && actions.match(event.shiftKey ? -1 : 1)) return event.preventDefault();
    const what = heldBy[key] ?? (focused() ? arrows[key] : undefined);
    if (what !== undefined) hold(key, what);
    else if (once[key] !== undefined && !event.repeat) once[key]();
    else return;
    event.preventDefault();
  }, { signal: life() });
  document.addEventListener("keyup", (event) => held.delete(event.key.length === 1 ? event.key.toLowerCase() : event.key), { signal: life() });
  window.addEventListener("blur", () => held.clear(), { signal: life() });
}
