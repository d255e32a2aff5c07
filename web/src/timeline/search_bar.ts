// The field for a pattern, how many spans it found, and the way from one to the next.
import { make } from "../dom/make";
import { numberText } from "../format/format";

export interface SearchActions {
  search(pattern: string): void;  // empty: nothing
  go(step: 1 | -1): unknown;
  leave(): void;
}

const delay = 120;  // ms without a key before the search begins

export class SearchBar {
  readonly field = make("input", {
    class: "timeline-search",
    attributes: { type: "search", placeholder: "Search ops ( / )", spellcheck: "false", autocomplete: "off",
                  "aria-label": "search op, kind, node or shape by regular expression" },
  });
  private readonly status = make("span", { class: "timeline-found quiet", attributes: { role: "status" } });
  readonly element: HTMLElement;
  private timer = 0;
  private searched = "";

  constructor(private readonly actions: SearchActions) {
    const step = (text: string, title: string, by: 1 | -1): HTMLElement => make("button", {
      text, title, attributes: { type: "button", "aria-label": title }, on: { click: () => this.go(by) } });
    this.element = make("span", { class: "timeline-searching" }, this.field,
                        step("‹", "match before (Shift Enter)", -1), step("›", "next match (Enter)", 1), this.status);
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.run(), delay);
    });
    this.field.addEventListener("keydown", (event) => this.key(event));
  }

  say(sentence: string, wrong = false): void {
    this.status.textContent = sentence;
    this.status.classList.toggle("error", wrong);
    this.field.setAttribute("aria-invalid", String(wrong));
  }

  // `index`: of the match that is shown; -1: none is.
  found(count: number, index: number): void {
    if (count === 0) this.say("no match");
    else if (index < 0) this.say(count === 1 ? "1 match" : `${numberText(count)} matches`);
    else this.say(`${numberText(index + 1)} of ${numberText(count)} matches`);
  }

  clear(): void {
    this.field.value = "";
    this.run();
  }

  private run(): void {
    clearTimeout(this.timer);
    if (this.field.value === this.searched) return;
    this.searched = this.field.value;
    this.actions.search(this.searched);
  }

  private go(step: 1 | -1): void {
    this.run();
    this.actions.go(step);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      this.go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      this.clear();
      this.actions.leave();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
