// The critical path as a strip, what it is made of, and what-if.
import { drawBar, type Part } from "../bar/bar";
import { make } from "../dom/make";
import { shownName, ticksText, ticksWithUnit } from "../format/format";
import { Hover } from "../hover/hover";
import type { Context, MakePanel, Panel } from "../panel";
import type { Range } from "../state/store";
import { drawFacts, drawRemarks, drawSection, tableOf } from "../section/draw";
import { find, heading, sectionsOf, text, type Section } from "../section/section";
import { wholeNote } from "../section/whole_note";
import { show } from "../timeline/show";
import { OpNames } from "../ops/op_names";
import { engineColour, gapColour, partsOf } from "./parts";
import { observedPath, type ObservedStep } from "./observed";
import { pathGraph } from "./graph";
import type { Step } from "./schedule";
import { Strip } from "./strip";
import { partsOfPieces, piecesOfPath, type Piece } from "./in_range";
import { WhatIfView } from "./what_if_view";

export const makePathPanel: MakePanel = (context) => {
  const { report, data } = context;
  return report.pages.path === undefined && data.column("step.start").length === 0 ? null : new PathPanel(context);
};

class PathPanel implements Panel {
  readonly id = "path";
  readonly title = "Critical path";
  readonly scope: string | null;
  readonly element = make("div", { class: "path" });
  private readonly names: OpNames;
  private readonly hover: Hover;

  constructor(private readonly context: Context) {
    const { report, data } = context;
    this.names = new OpNames(report, data);
    this.hover = new Hover(this.element);
    this.scope = report.pages.path?.scope ?? null;
    const sections = report.pages.path === undefined ? [] : sectionsOf(report.pages.path);
    const head = find(sections, "path");
    this.element.append(wholeNote(context.store, "Figures, tables and what-if are", "Strip and parts are the pieces of that path which lie in the range."));
    const facts = head === null ? null : drawFacts(head, report);
    if (facts !== null) this.element.append(facts);
    const steps = observedPath(data);
    if (steps.length > 0) this.element.append(this.strip(steps));
    this.element.append(this.parts(steps));
    if (head !== null) this.element.append(...drawRemarks(head.remarks));
    const whatIf = this.whatIf(sections);
    if (whatIf !== null) this.element.append(whatIf);
    for (const section of sections) {
      if (["path", "parts", "ops"].includes(section.key)) continue;
      const drawn = drawSection(section, report, { title: "" });
      if (drawn !== null) this.element.append(make("details", {}, make("summary", { text: heading(section.title) || section.key }), drawn));
    }
  }

  // Of the path, or of its pieces in the range that is selected.
  private parts(steps: ObservedStep[]): HTMLElement {
    const { report, data } = this.context;
    const place = make("div");
    this.followRange((range) => {
      const length = range === null ? 1 : Math.max(1, range.end - range.begin);
      const parts = range === null ? partsOf(report) :
        partsOfPieces(piecesOfPath(steps, range), length, (step) => this.names.engineOfSpan(steps[step.place].span, step.op, step.unit), (step) => data.head.reasons[step.reason] ?? "")
          .map((part) => ({ ...part, share: part.ticks / length }));
      const drawn = parts.map((part): Part => ({
        label: part.label, value: ticksText(report.clock, part.ticks), share: part.share, colour: partColour(part.label),
      }));
      if (drawn.length === 0) return place.replaceChildren();
      place.replaceChildren(make("h3", { text: `Parts of the path, of ${range === null ? "wall" : "the selected range"}` }), drawBar(drawn, "parts of the path"));
    });
    return place;
  }

  // Calls `draw` now and with each range that is selected, in ticks since the path's begin.
  private followRange(draw: (range: Range | null) => void): void {
    const { data, store } = this.context;
    const follow = (): void => {
      const { range } = store.get();
      draw(range === null ? null : { begin: Math.floor(range.begin) - data.head.path_begin, end: Math.ceil(range.end) - data.head.path_begin });
    };
    store.subscribe((_, changed) => {
      if (changed.range) follow();
    });
    follow();
  }

  private strip(steps: ObservedStep[]): HTMLElement {
    const { report, data, store } = this.context;
    const { wall, path_begin: begin, reasons } = data.head;
    let pieces: Piece[] | null = null;  // null: all steps
    const placeOf = (shown: number): number => (pieces === null ? shown : pieces[shown].place);
    const strip = new Strip({
      label: "path", scale: Math.max(1, wall), wall,
      colourOf: (step) => engineColour(this.names.engineOfSpan((step as ObservedStep).span, step.op, step.unit)), gapColourOf: (step) => gapColour(reasons[step.reason] ?? ""),
      card: (step, place) => this.card(steps[placeOf(place)] ?? step, placeOf(place)),
      onStep: (place) => {
        const step = steps[placeOf(place)];
        const margin = Math.max(2, step.duration + step.gap);
        store.set({ span: step.span >= 0 ? step.span : null, ops: step.op >= 0 ? new Set([step.op]) : new Set<number>(), path: true });
        show(store, { begin: Math.max(0, begin + step.start - step.gap - margin), end: Math.min(data.head.length, begin + step.start + step.duration + margin) },
             step.unit >= 0 ? [step.unit] : []);
      },
    }, this.hover);
    this.followRange((range) => {
      pieces = range === null ? null : piecesOfPath(steps, range);
      const length = range === null ? wall : range.end - range.begin;
      strip.set(pieces ?? steps, length, ticksWithUnit(report.clock, length), Math.max(1, length));
    });
    const shown = make("input", { attributes: { type: "checkbox" } });
    shown.checked = store.get().path;
    shown.addEventListener("change", () => store.set({ path: shown.checked }));
    store.subscribe(({ path }, changed) => {
      if (changed.path) shown.checked = path;
    });
    return make("div", { class: "strips" }, strip.element,
      make("p", { class: "remark" }, "Work in the colour of its engine, waits lighter. A click takes the timeline to a step. ",
           make("label", {}, shown, " draw the path over the timeline")));
  }

  private card(step: Step, place: number): { title: string; lines: [string, string][] } {
    const { report, data } = this.context;
    const ticks = (value: number): string => ticksWithUnit(report.clock, value);
    return {
      title: this.names.label(step.op),
      lines: [["step", String(place + 1)], ["kind", this.names.kindOf(step.op)], ["unit", this.names.unit(step.unit)], ["start", ticks(step.start)],
              ["duration", ticks(step.duration)], ["waiting before", step.gap > 0 ? `${ticks(step.gap)}, ${data.head.reasons[step.reason] ?? ""}` : ""]],
    };
  }

  private whatIf(sections: readonly Section[]): HTMLElement | null {
    const { report, data } = this.context;
    const section = sections.find((each) => each.key === "ops") ?? null;
    const graph = pathGraph(data);
    if (graph === null) {
      const why = data.head.path_left_out !== "" ? data.head.path_left_out : "the page has no path graph";
      const table = section === null ? null : drawSection(section, report);
      return make("div", {}, make("h3", { text: "What if" }), make("p", { class: "remark", text: `No what-if: ${shownName(why)}` }), table);
    }
    const view = new WhatIfView(this.context, graph, this.names, this.hover, (step, place) => this.card(step, place));
    const element = make("div", {}, view.element);
    if (section !== null && section.rows.length > 0) {
      const chosen = new Set<number>();
      const table = tableOf(section, report, { nameFirst: true, onRow: (place) => {
        if (!chosen.delete(place)) chosen.add(place);
        table.select(chosen);
        view.chooseRows(new Set([...chosen].map((row) => text(section.rows[row].op))));
      } });
      element.append(make("h3", { text: heading(section.title) }), make("p", { class: "remark", text: "A click on a row chooses it for the what-if above." }),
                     table.element, ...drawRemarks(section.remarks));
    }
    return element;
  }
}

function partColour(label: string): string {
  const [what, of] = label.split(", ");
  if (what === "work") return `fill-${(of ?? "other").toLowerCase().replaceAll(" ", "_")}`;
  return of === "DMA" || of === "DMA wait" ? "fill-wait-dma" : of === "barrier" ? "fill-barrier" : of === "nothing recorded" || what === "not on the path" ? "fill-idle" : "fill-wait";
}
