// The timeline as a panel: its elements, and who tells whom what.
import { make } from "../dom/make";
import { life } from "../dom/life";
import { FindingBar } from "../findings/bar";
import { bytesText, numberText, ticksWithUnit } from "../format/format";
import type { Context, MakePanel } from "../panel";
import { Card } from "./card";
import { choicesOf, colouringBy, usualChoice, type Colouring } from "./colouring";
import { Details } from "./details";
import type { SpanFacts } from "./facts";
import { keys } from "./keys";
import { Labels } from "./labels";
import { Legend } from "./legend";
import { Model } from "./model";
import { axisHeight } from "./paint/axis";
import { FramePainter } from "./paint/frame";
import { Surface } from "./paint/surface";
import { readColours, type Colours } from "./palette";
import { pick, type Picked } from "./pick";
import { pointer, wheel, type PointerActions } from "./pointer";
import { remarksOf } from "./remarks";
import { SearchBar } from "./search_bar";
import { valueAt, type Series } from "./series";
import { register } from "./show";
import { Timeline, type Change } from "./timeline";
import { keyHelp, toggleBox } from "./tools";

const maxPrinted = 4000;  // pixels of height

class TimelineView {
  readonly element: HTMLElement;
  private readonly lanes = new Surface(make("canvas", { class: "timeline-lanes", attributes: { tabindex: 0, role: "application", "aria-label": "timeline; W and S zoom, A and D pan, slash searches" } }));
  private readonly axis = new Surface(make("canvas", { class: "timeline-axis" , attributes: { role: "img", "aria-label": "time axis; drag to select a range" } }));
  private readonly labels: Labels;
  private readonly scroller: HTMLElement;
  private readonly content: HTMLElement;
  private readonly extent = make("span", { class: "timeline-extent quiet", title: "length of what is shown, or of the range that is being selected" });
  private readonly card = new Card();
  private readonly details: Details;
  private readonly searching: SearchBar;
  private readonly timeline: Timeline;
  private readonly painter: FramePainter;
  private readonly legend: Legend;
  private readonly finding: FindingBar;
  private readonly help = keyHelp();
  private colouring: Colouring;
  private colours: Colours | null = null;
  private waiting = false;
  private flows = true;
  private pointerX = -1;  // over the lanes; -1: elsewhere

  constructor(private readonly context: Context, private readonly model: Model) {
    this.timeline = new Timeline(model, (change) => this.changed(change));
    this.painter = new FramePainter(model, context.report.clock, context.data.head.timeline_begin);
    this.legend = new Legend(choicesOf(context), context.store, (colour) => context.store.set({ colour }));
    this.colouring = this.madeColouring();
    this.finding = new FindingBar(context);
    this.labels = new Labels((key) => this.timeline.toggle(key));
    this.details = new Details(context.report.clock, { zoomTo: (range) => this.timeline.zoomTo(range), clear: () => context.store.set({ range: null }) });
    this.searching = new SearchBar({ search: (pattern) => this.search(pattern), go: (by) => this.go(by), leave: () => this.lanes.canvas.focus({ preventScroll: true }) });
    this.content = make("div", { class: "timeline-content" }, this.labels.element, this.lanes.canvas);
    this.scroller = make("div", { class: "timeline-scroller", on: { scroll: () => this.moved() } }, this.content);
    this.element = make("div", { class: "timeline" }, this.tools(), this.finding.element, this.legend.element,
      make("div", { class: "timeline-body" },
        make("div", { class: "timeline-main" }, make("div", { class: "timeline-top" }, this.extent, this.axis.canvas), this.scroller),
        this.details.element),
      ...remarksOf(context.report, context.data.head).map((text) => make("p", { class: "quiet", text })), this.card.element);
    this.listen();
    this.legend.show(this.colouring, model.lanes, model.spans);
    this.changed({ layout: true, chosen: true });
    this.restore();
  }

  // What an address says: a finding, and where it was looked at.
  private restore(): void {
    const { finding, visible } = this.context.store.get();
    if (finding === null) return;
    this.finding.follow();
    if (visible !== null) this.context.store.set({ visible });
  }

  private madeColouring(): Colouring {
    const { context, model } = this;
    const choices = choicesOf(context);
    const { colour } = context.store.get();
    return colouringBy(context, model.spans, model.lanes, colour !== null && choices.includes(colour) ? colour : usualChoice(context));
  }

  private recolour(): void {
    this.colouring = this.madeColouring();
    this.colours = null;
    this.legend.show(this.colouring, this.model.lanes, this.model.spans);
    this.changed({ layout: true });
  }

  private tools(): HTMLElement {
    const { store } = this.context;
    const button = (text: string, title: string, act: () => void): HTMLElement =>
      make("button", { text, title, attributes: { type: "button", "aria-label": title }, on: { click: act } });
    const tools = make("div", { class: "timeline-tools no-print" }, this.searching.element,
      button("−", "zoom out (S)", () => this.zoomBy(2)), button("+", "zoom in (W)", () => this.zoomBy(0.5)),
      button("fit", "fit the selection, or all (F)", () => this.timeline.fit()));
    if (this.model.steps.count > 0) {
      const box = toggleBox({ label: "critical path", on: store.get().path, set: (on) => store.set({ path: on }) });
      store.subscribe((chosen, what) => {
        if (what.path) box.check(chosen.path);
      });
      tools.append(box.element);
    }
    if (this.context.data.column("flow.from").length > 0) {
      tools.append(toggleBox({ label: "flows", on: true, set: (on) => {
        this.flows = on;
        this.invalidate();
      } }).element);
    }
    tools.append(this.help.element);
    return tools;
  }

  private listen(): void {
    const lanes: PointerActions = {
      pan: (pixels) => this.timeline.pan(pixels),
      scroll: (pixels) => this.scroller.scrollBy(0, pixels),
      zoom: (factor, x) => this.timeline.zoom(factor, x),
      select: (from, to, done) => this.timeline.select(from, to, done),
      clearSelection: () => this.context.store.set({ range: null }),
      choose: (x, y, twice) => this.choose(x, y, twice),
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    };
    pointer(this.lanes.canvas, lanes, false);
    pointer(this.axis.canvas, { ...lanes, scroll: () => {}, hover: () => {} }, true);
    wheel(this.lanes.canvas, lanes);
    wheel(this.axis.canvas, lanes);
    keys(() => this.onScreen(), () => this.element.offsetParent !== null, () => document.activeElement === this.lanes.canvas, {
      zoom: (factor) => this.timeline.zoom(factor, this.pointerX < 0 ? this.timeline.width / 2 : this.pointerX),
      pan: (share) => this.timeline.pan(share * this.timeline.width),
      fit: () => this.timeline.fit(),
      search: () => this.searching.field.focus(),
      clear: () => this.clear(),
      step: (by) => this.timeline.step(by),
      place: (by) => this.finding.step(by),
      match: (by) => this.go(by),
      help: () => this.help.toggle(),
    });
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    const signal = life();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours = null;
      this.invalidate();
    }, { signal });
    // On paper nothing scrolls, and there is no dark.
    const print = (on: boolean): void => {
      this.colours = null;
      this.resize(on ? maxPrinted : undefined);
    };
    window.addEventListener("scroll", () => this.card.hide(), { passive: true, signal });
    window.addEventListener("beforeprint", () => print(true), { signal });
    window.addEventListener("afterprint", () => print(false), { signal });
    window.matchMedia("print").addEventListener("change", (event) => print(event.matches), { signal });
    this.context.store.subscribe((_, changed) => {
      if (changed.colour) this.recolour();
    });
    register(this.context.store, (range, units) => {
      this.timeline.show(range, units);
      this.element.scrollIntoView({ block: "nearest" });
    });
  }

  // What is under the pointer is another.
  private moved(): void {
    this.card.hide();
    this.invalidate();
  }

  // The keys, then the search, then what was chosen.
  private clear(): void {
    if (this.help.close()) return;
    if (this.timeline.found !== null) this.searching.clear();
    else this.timeline.clear();
  }

  private onScreen(): boolean {
    const box = this.element.getBoundingClientRect();
    return box.height > 0 && box.bottom > 80 && box.top < window.innerHeight - 80;
  }

  private zoomBy(factor: number): void {
    this.timeline.zoom(factor, this.timeline.width / 2);
  }

  private changed(change: Change): void {
    if (change.layout === true) {
      this.labels.show(this.timeline.layout, this.colouring, window.matchMedia("(max-width: 900px)").matches);
      this.element.style.setProperty("--labels", `${this.labels.width}px`);
      this.content.style.height = `${this.timeline.layout.height}px`;
      this.resize();
    }
    if (change.chosen === true) this.showDetails();
    if (change.unit !== undefined) this.scrollTo(change.unit);
    this.moved();
  }

  private showDetails(): void {
    const { span, range } = this.context.store.get();
    this.details.show(span === null ? null : { ...this.timeline.factsOf(span), range: this.timeline.rangeOf(span) },
                      range === null ? null : { ...range, spans: this.model.spansIn(range) });
  }

  private scrollTo(unit: number): void {
    const item = this.timeline.layout.items.find((one) => one.rows.some((row) => row.unit === unit));
    if (item === undefined) return;
    const { scrollTop, clientHeight } = this.scroller;
    if (item.y < scrollTop || item.y + item.height > scrollTop + clientHeight) this.scroller.scrollTop = item.y - clientHeight / 3;
  }

  private resize(height = this.scroller.clientHeight): void {
    const width = this.scroller.clientWidth - this.labels.element.offsetWidth;
    if (width <= 0) return;
    this.timeline.width = width;
    this.lanes.fit(width, Math.max(1, Math.min(height, this.timeline.layout.height)));
    this.axis.fit(width, axisHeight);
    this.paint();
  }

  private invalidate(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
      this.timeline.publish();
    });
  }

  private paint(): void {
    if (this.lanes.width === 0) return;
    if (window.devicePixelRatio !== this.lanes.ratio) {
      this.lanes.fit(this.lanes.width, this.lanes.height);
      this.axis.fit(this.axis.width, this.axis.height);
    }
    const { store } = this.context;
    const { span, path } = store.get();
    const { layout, scale: view, highlighted, found, draft } = this.timeline;
    const range = draft ?? store.get().range;
    this.painter.paint(this.lanes, this.axis, this.colours ??= readColours(this.element, this.colouring.groups.map((group) => group.colour)),
                       { layout, top: this.scroller.scrollTop, view, range, span, highlighted, found, path, flows: this.flows, colouring: this.colouring });
    const measured = draft ?? view;
    this.extent.textContent = ticksWithUnit(this.context.report.clock, measured.end - measured.begin);
  }

  private pickAt(x: number, y: number): Picked | null {
    return pick(this.timeline.layout, this.timeline.scale, x, y + this.scroller.scrollTop);
  }

  private choose(x: number, y: number, twice: boolean): void {
    const span = this.pickAt(x, y)?.span ?? -1;
    this.timeline.choose(span);
    if (twice && span >= 0) this.timeline.zoomTo(this.timeline.rangeOf(span));
    this.lanes.canvas.focus({ preventScroll: true });
  }

  private leave(): void {
    this.pointerX = -1;
    this.card.hide();
  }

  private hover(x: number, y: number, event: PointerEvent): void {
    this.pointerX = x;
    const picked = this.pickAt(x, y);
    const facts = picked === null ? null : picked.span >= 0 ? this.spanFacts(picked) : picked.item.series !== null ? this.seriesFacts(picked.item.series, picked.time) : null;
    if (facts === null) this.card.hide();
    else this.card.show(facts, event.clientX, event.clientY);
    this.lanes.canvas.classList.toggle("over-span", picked !== null && picked.span >= 0);
  }

  private spanFacts(picked: Picked): SpanFacts {
    const { title, facts } = this.timeline.factsOf(picked.span);
    if (picked.near <= 1) return { title, facts };
    return { title, facts: [...facts, { label: "here", text: `the longest of ${numberText(picked.near)} spans in this pixel` }] };
  }

  private seriesFacts(series: Series, time: number): SpanFacts {
    const value = valueAt(series, time);
    const { hertz, unit } = this.context.report.clock;
    const text = value === null ? "none" : series.quantity === "bytes" ? bytesText(value)
      : series.quantity !== "bytes per tick" ? numberText(value)
      : hertz !== null ? `${numberText((value * hertz) / 1e9)} GB/s` : `${numberText(value)} bytes per ${unit.replace(/s$/, "")}`;
    return { title: series.title, facts: [{ label: "value", text }, { label: "time", text: ticksWithUnit(this.context.report.clock, Math.max(0, Math.floor(time))) }] };
  }

  search(pattern: string): void {
    const found = this.timeline.search(pattern);
    if (typeof found === "string") this.searching.say(found, true);
    else if (pattern === "") this.searching.say("");
    else this.searching.found(found, -1);
  }

  // Keys of the timeline work where the match is.
  go(by: 1 | -1): boolean {
    const index = this.timeline.go(by);
    if (index < 0) return false;
    this.searching.found(this.timeline.found?.count ?? 0, index);
    this.lanes.canvas.focus({ preventScroll: true });
    return true;
  }
}

export const makeTimeline: MakePanel = (context) => {
  const model = new Model(context);
  const element = model.lanes.length === 0 && model.series.length === 0
    ? make("p", { class: "sentence quiet", text: "No spans were recorded." })
    : new TimelineView(context, model).element;
  return { id: "timeline", title: "Timeline", element, scope: context.report.scope };
};
