// The page as a whole: a bar with tabs and links, and the tabs, each made when it is first opened.
import { comparisonTitle, hasNames, sideNames } from "../comparison/comparison";
import type { Data } from "../data/data";
import type { Report } from "../data/report";
import { endLife, life } from "../dom/life";
import { make } from "../dom/make";
import { printable, shownName } from "../format/format";
import { comparisonPanels, firstPanels, fleetPanels, panels } from "../panels";
import { chosenIn, fragmentOf, type Bounds } from "../state/fragment";
import { Store } from "../state/store";
import { comparisonHead, fleetHead, profileHead } from "./head";
import { addressOf, hashOf, idIn, setHash, type Address } from "./links";
import { markReady, Tab, type PanelMaker } from "./tab";
import { tabList, tabTitles } from "./tabs";

function titleOf(report: Report): string {
  if (report.comparison !== null) return `${comparisonTitle(report.comparison)} – npuscope`;
  const titles = [...(report.fleet === null ? [] : [report.fleet.store]), ...report.profiles.map((profile) => profile.title)];
  return `${titles.map((title) => shownName(title)).join(" · ") || "no profile"} – npuscope`;
}

function boundsOf({ head }: Data): Bounds {
  const rows = (name: string): number => head.columns.find((column) => column.name === name)?.count ?? 0;
  return { length: head.length, ops: rows("op.name"), spans: rows("span.start") };
}

export class Frame {
  private readonly tabs: Tab[] = [];
  private readonly choose: (index: number) => void;
  private readonly stores: Store[] = [];  // of profiles
  private data: Data[] = [];
  private open = 0;               // tab
  private telling = 0;

  // `opener`: at the end of the bar. What of the report cannot be shown is thrown before the root changes.
  constructor(root: HTMLElement, private readonly report: Report, opener: HTMLElement) {
    const titles = report.profiles.map((profile) => profile.title);
    if (report.comparison !== null) this.tabs.push(new Tab("comparison", "Comparison", "Comparison", comparisonHead(report, report.comparison)));
    if (report.fleet !== null) this.tabs.push(new Tab("fleet", "Fleet", `Fleet: ${shownName(report.fleet.store, 200)}`, fleetHead(report, report.fleet)));
    const sides = report.comparison === null || titles.length !== 2 ? null : sideNames(report.comparison);
    const names = sides !== null && hasNames(sides) ? sides : tabTitles(titles);
    report.profiles.forEach((profile, i) => {
      this.tabs.push(new Tab(`profile-${i + 1}`, printable(names[i]), printable(profile.title), profileHead(report, profile)));
    });
    const bar = make("div", { class: "bar" });
    const list = tabList(this.tabs, (index) => this.show(index));
    this.choose = list.choose;
    if (this.tabs.length > 1) bar.append(list.element);
    for (const tab of this.tabs) bar.append(tab.links);
    bar.append(opener);
    document.title = titleOf(report);
    root.replaceChildren(bar, ...this.tabs.map((tab) => tab.element));
    if (this.tabs.length === 0) {
      root.append(make("p", { class: "sentence", text: "The report has no profile." }));
      markReady();
    }
    const address = addressOf(location.hash);
    this.choose(Math.max(0, this.tabIndex(address)));
  }

  // Coarse data are shown until the others are there; what was chosen meanwhile stays, but a span, which is another then.
  setData(data: Data[]): void {
    const isCoarse = data.some(({ head }) => head.coarse === true);
    const hadCoarse = this.data.some(({ head }) => head.coarse === true);
    if (hadCoarse) endLife();
    this.data = data;
    window.addEventListener("hashchange", () => this.follow(), { signal: life() });
    const address = addressOf(location.hash);
    this.report.profiles.forEach((profile, i) => {
      const before = this.stores[i]?.get();
      const store = this.stores[i] = new Store();
      const said = address.place === i ? chosenIn(address.chosen, boundsOf(data[i])) : {};
      store.set(before === undefined ? said : { ...before, span: said.span ?? null });
      store.subscribe(() => this.tellSoon());
      const makers = (isCoarse ? firstPanels : panels).map((makePanel): PanelMaker => () => makePanel({ report: profile, data: data[i], store }));
      this.setMakers(`profile-${i + 1}`, makers, i, { first: isCoarse || hadCoarse ? firstPanels.length : 1, last: !isCoarse });
    });
    const { comparison, fleet } = this.report;
    if (fleet !== null) this.setMakers("fleet", fleetPanels.map((makePanel): PanelMaker => () => makePanel(fleet)), 0);
    if (comparison !== null) {
      this.setMakers("comparison", comparisonPanels.map((makePanel): PanelMaker => () => makePanel(comparison, this.report)), 0);
    }
  }

  setDamage(sentence: string): void {
    for (const tab of this.tabs) tab.say(sentence);
  }

  private setMakers(id: string, makers: PanelMaker[], place: number, how: { first?: number; last?: boolean } = {}): void {
    this.tabs.find((tab) => tab.id === id)?.setMakers(makers, (panel) => idIn(panel, place), () => this.scroll(), how);
  }

  private show(index: number): void {
    this.open = index;
    this.tabs.forEach((tab, i) => tab.show(i === index));
  }

  private tabIndex(address: Address): number {
    return address.id === "" ? -1 : this.tabs.findIndex((tab) => tab.holds(address));
  }

  private follow(): void {
    const address = addressOf(location.hash);
    const index = this.tabIndex(address);
    if (index < 0) return;
    this.choose(index);
    const data = this.data[address.place];
    if (address.chosen !== "" && data !== undefined) this.stores[address.place]?.set(chosenIn(address.chosen, boundsOf(data)));
    else this.tellSoon();
    this.scroll();
  }

  // Into the address, behind the part of the page that it names.
  private tellSoon(): void {
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => {
      const place = this.open - (this.tabs.length - this.report.profiles.length);
      const store = this.stores[place];
      if (store === undefined) return;
      const { id } = addressOf(location.hash);
      const chosen = fragmentOf(store.get());
      const isHere = id !== "" && this.tabIndex(addressOf(location.hash)) === this.open;
      const hash = hashOf(isHere ? id : idIn("timeline", place), chosen);
      if (chosen === "" && id === "") return;
      setHash(hash);
    }, 150);
  }

  // To the panel of the address, once it is there.
  private scroll(): void {
    const { id } = addressOf(location.hash);
    if (id !== "") document.getElementById(id)?.scrollIntoView();
  }
}
