// Next to the timeline: which finding it shows and which of its places, and the way to the others.
import { goTo } from "../dom/go";
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Context } from "../panel";
import { show as showOnTimeline } from "../timeline/show";
import { aroundAll, findingsOf, opsIn, type Finding } from "./findings";

export class FindingBar {
  readonly element = make("div", { class: "finding-bar no-print", attributes: { role: "group", "aria-label": "finding on the timeline", hidden: true } });
  private readonly title = make("strong");
  private readonly place = make("span", { class: "quiet", attributes: { role: "status" } });
  private readonly steps: HTMLButtonElement[];
  private readonly all: HTMLButtonElement;
  private readonly findings: Finding[];

  constructor(private readonly context: Context) {
    const button = (text: string, title: string, act: () => void): HTMLButtonElement =>
      make("button", { text, title, attributes: { type: "button", "aria-label": title }, on: { click: act } });
    this.findings = findingsOf(context.report, context.data);
    this.steps = [button("‹", "place before ( [ )", () => this.step(-1)), button("›", "next place ( ] )", () => this.step(1))];
    this.all = button("all places", "show all places of the finding", () => this.choose(-1));
    this.element.append(this.title, this.place, ...this.steps, this.all,
      button("findings", "back to the findings", () => goTo("findings", this.element)), button("×", "close (Escape)", () => context.store.set({ finding: null, ops: new Set() })));
    context.store.subscribe((_, changed) => {
      if (changed.finding) this.follow();
    });
  }

  // Where the timeline has to go for what the store has.
  follow(): void {
    const { finding } = this.context.store.get();
    const found = finding === null ? undefined : this.findings[finding.of];
    const places = found?.places ?? [];
    this.element.hidden = found === undefined || places.length === 0;
    if (finding === null || found === undefined || places.length === 0) return;
    const at = finding.place < places.length ? finding.place : -1;
    const chosen = at < 0 ? places : [places[at]];
    this.title.textContent = shownName(`${found.rank} ${found.title}`, 200);
    this.place.textContent = at < 0 ? (places.length === 1 ? "1 place" : `all ${places.length} places`) : `${at + 1} of ${places.length}`;
    for (const each of [...this.steps, this.all]) each.hidden = places.length < 2;
    const { store, data } = this.context;
    store.set({ ops: opsIn(data, chosen), span: null });
    showOnTimeline(store, aroundAll(chosen, data.head.length), [...new Set(chosen.map((place) => place.unit))].filter((unit) => unit >= 0));
  }

  // Round and round; from all places to the first or the last.
  step(by: 1 | -1): void {
    const { finding } = this.context.store.get();
    const count = finding === null ? 0 : this.findings[finding.of]?.places.length ?? 0;
    if (finding === null || count === 0) return;
    this.choose(finding.place < 0 ? (by > 0 ? 0 : count - 1) : (finding.place + by + count) % count);
  }

  private choose(place: number): void {
    const { finding } = this.context.store.get();
    if (finding !== null) this.context.store.set({ finding: { of: finding.of, place } });
  }
}
