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

  setMakers(makers: PanelMaker[], idOf: (panel: string) => string, made: () => void): void {
    this.makers = makers;
    this.idOf = idOf;
    this.made = made;
    this.waits = false;
    this.panels.replaceChildren();
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
    if (this.waits) return;
    const makers = this.makers;
    this.makers = [];
    for (const makePanel of makers) {
      this.add(makePanel);
      await later();
    }
    this.made();
    markReady();
  }

  private add(makePanel: PanelMaker): void {
    let panel: Panel | null;
    try {
      panel = makePanel();
    } catch (error) {
      console.error(error);
      const why = error instanceof Error ? error.message : String(error);
      this.panels.append(make("p", { class: "sentence error", text: `A part of the page cannot be shown: ${why}` }));
      return;
    }
    if (panel === null) return;
    const id = this.idOf(panel.id);
    const heading = make("h2", {}, make("a", { text: panel.title, attributes: { href: `#${id}` } }));
    if (typeof panel.scope === "string" && panel.scope !== "") heading.append(make("span", { class: "scope", text: shownName(panel.scope, 200) }));
    this.panels.append(make("section", { class: "panel", attributes: { id, "aria-label": panel.title, tabindex: -1 } }, heading, panel.element));
    this.links.append(make("a", { text: panel.title, attributes: { href: `#${id}` } }));
  }
}
