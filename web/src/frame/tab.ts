// One tab: its head, and its panels, made one after the other once the tab is open, so that the page
// answers between them.
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Panel } from "../panel";
import type { Address } from "./links";

export type PanelMaker = () => Panel | null;

// For tests and for printing programs: nothing more will be added to the open tab.
export const markReady = (): void => {
  document.documentElement.dataset["ready"] = "true";
};

const later = (): Promise<void> => new Promise((done) => setTimeout(done));

const otherTabs = ["comparison", "fleet"];

export class Tab {
  readonly element: HTMLElement;
  readonly links = make("nav", { class: "links", attributes: { "aria-label": "parts of the page" } });
  private readonly panels = make("div", { class: "panels" });
  private makers: PanelMaker[] = [];
  private idOf: (panel: string) => string = (panel) => panel;
  private made: () => void = () => {};
  private first = 1;
  private isLast = true;
  private waits = true;  // for its makers
  private place = 0;
  private readonly isProfile: boolean;
  private open = false;

  constructor(readonly id: string, readonly title: string, readonly hint: string, head: HTMLElement) {
    this.element = make("section", { class: "profile", attributes: { id, role: "tabpanel", "aria-labelledby": `tab-${id}` } }, head, this.panels);
    this.panels.append(make("p", { class: "sentence quiet", text: "Reading the data …" }));
    const number = /^profile-(\d+)$/.exec(id);
    this.isProfile = number !== null;
    if (number !== null) this.place = Number(number[1]) - 1;
  }

  // Panels of the other tabs begin with the tab's id: "fleet-ops".
  holds(address: Address): boolean {
    const isOf = (tab: string): boolean => address.id === tab || address.id.startsWith(`${tab}-`);
    return this.isProfile ? address.id === this.id || (address.place === this.place && !otherTabs.some(isOf)) : isOf(this.id);
  }

  // `first`: what stands there stays until so many of them are made. `last`: nothing follows them.
  setMakers(makers: PanelMaker[], idOf: (panel: string) => string, made: () => void, { first = 1, last = true } = {}): void {
    this.makers = makers;
    this.idOf = idOf;
    this.made = made;
    this.first = first;
    this.isLast = last;
    this.waits = false;
    if (this.open) void this.makePanels();
  }

  say(sentence: string): void {
    this.panels.replaceChildren(make("p", { class: "sentence error", text: sentence, attributes: { role: "alert" } }));
    markReady();
  }

  show(open: boolean): void {
    this.element.hidden = !open;
    this.links.hidden = !open;
    this.open = open;
    if (open) void this.makePanels();
  }

  private async makePanels(): Promise<void> {
    if (this.waits || this.makers.length === 0) return;
    const { makers, first, isLast, made } = this;
    this.makers = [];
    const parts = makers.slice(0, first).map((makePanel) => this.make(makePanel));
    this.panels.replaceChildren(...parts.flatMap(({ section }) => section ?? []));
    this.links.replaceChildren(...parts.flatMap(({ link }) => link ?? []));
    await later();
    for (const makePanel of makers.slice(first)) {
      if (this.made !== made) return;  // others have taken their place
      const { section, link } = this.make(makePanel);
      if (section !== null) this.panels.append(section);
      if (link !== null) this.links.append(link);
      await later();
    }
    if (this.made !== made) return;
    made();
    if (isLast) markReady();
  }

  private make(makePanel: PanelMaker): { section: HTMLElement | null; link: HTMLElement | null } {
    let panel: Panel | null;
    try {
      panel = makePanel();
    } catch (error) {
      console.error(error);
      const why = error instanceof Error ? error.message : String(error);
      return { section: make("p", { class: "sentence error", text: `A part of the page cannot be shown: ${why}` }), link: null };
    }
    if (panel === null) return { section: null, link: null };
    const id = this.idOf(panel.id);
    const heading = make("h2", {}, make("a", { text: panel.title, attributes: { href: `#${id}` } }));
    if (typeof panel.scope === "string" && panel.scope !== "") heading.append(make("span", { class: "scope", text: shownName(panel.scope, 200) }));
    return { section: make("section", { class: "panel", attributes: { id, "aria-label": panel.title, tabindex: -1 } }, heading, panel.element),
             link: make("a", { text: panel.title, attributes: { href: `#${id}` } }) };
  }
}
