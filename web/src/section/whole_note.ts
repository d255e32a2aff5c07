// Says that a part of the page is of the whole profile, while a range of the timeline is selected.
import { make } from "../dom/make";
import type { Store } from "../state/store";

export function wholeNote(store: Store, what: string, besides = ""): HTMLElement {
  const note = make("p", { class: "range-note quiet-note", text: `${what} of the whole profile, not of the selected range.${besides === "" ? "" : ` ${besides}`}` });
  const follow = (): void => {
    note.hidden = store.get().range === null;
  };
  store.subscribe((_, changed) => {
    if (changed.range) follow();
  });
  follow();
  return note;
}
