// The table of ops by op, node, part, kind, layer, rule, core or unit. A row highlights its ops on the
// timeline, ops that are highlighted there are marked here; a range that is selected there is what
// the table is of.
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Context, MakePanel, Panel } from "../panel";
import { drawRemarks, textOfReport } from "../section/draw";
import { isKnown } from "../section/section";
import { coloursOfRows, usualChoice } from "../timeline/colouring";
import { TableModel } from "../table/model";
import { Table } from "../table/table";
import { opsByRow, type Grouping } from "./groups";
import { groupingsOf, rangeText, tableInRange, wholeTable, type OpsTable } from "./tables";

export const makeOpsPanel: MakePanel = (context) => {
  const groupings = groupingsOf(context.report);
  return groupings.length === 0 ? null : new OpsPanel(context, groupings);
};

class OpsPanel implements Panel {
  readonly id = "ops";
  readonly title = "Ops";
  readonly element = make("div", { class: "ops" });
  private readonly place = make("div");
  private readonly rangeNote = make("p", { class: "range-note", attributes: { "aria-live": "polite" } });
  private readonly scopeNote = make("span", { class: "scope" });  // of a range the numbers are of the range
  private readonly buttons: HTMLButtonElement[];
  private grouping: Grouping;
  private table: Table | null = null;
  private content: OpsTable | null = null;
  private ops: Set<number>[] = [];      // of each row of the page's table
  private ownChange = false;
  private waiting = 0;

  constructor(private readonly context: Context, groupings: Grouping[]) {
    this.grouping = groupings[0];
    this.buttons = groupings.map((grouping) => make("button", {
      text: grouping.by, attributes: { type: "button", "aria-pressed": "false", "data-by": grouping.by },
      on: { click: () => this.choose(grouping) },
    }));
    const choice = make("div", { class: "choice", attributes: { role: "group", "aria-label": "group ops by" } },
                        make("span", { text: "by" }), ...this.buttons, this.scopeNote);
    this.element.append(choice, this.rangeNote, this.place);
    this.followColours();
    context.store.subscribe((_, changed) => {
      if (changed.colour) this.followColours();
      if (changed.range) this.drawSoon();
      else if (changed.ops) this.mark(!this.ownChange);
    });
    this.choose(this.grouping);
  }

  // Rows have the colours of the timeline where those stand for the same (ops.css).
  private followColours(): void {
    this.element.dataset["coloured"] = this.context.store.get().colour ?? usualChoice(this.context);
  }

  private swatch(colour: string | undefined): HTMLElement | null {
    if (colour === undefined) return null;
    const swatch = make("span", { class: `swatch of-${this.grouping.by}`, attributes: { "aria-hidden": "true" } });
    swatch.style.background = `var(--${colour})`;
    return swatch;
  }

  private choose(grouping: Grouping): void {
    this.grouping = grouping;
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.by === grouping.by));
    this.draw();
  }

  // A range that is being dragged changes with each frame.
  private drawSoon(): void {
    clearTimeout(this.waiting);
    const spans = this.context.data.head.span_total;
    this.waiting = window.setTimeout(() => this.draw(), spans > 200_000 ? 200 : 40);
  }

  private draw(): void {
    const { context, grouping } = this;
    const { report, store } = context;
    const { range } = store.get();
    this.content = range === null ? wholeTable(report, grouping) : tableInRange(context, grouping, range);
    this.rangeNote.replaceChildren();
    this.rangeNote.hidden = range === null;
    this.scopeNote.textContent = range === null ? shownName(report.pages[grouping.key]?.scope ?? "", 200) : "";
    if (range !== null) {
      this.rangeNote.append(`Selected range: ${rangeText(report, context.data, range)} `,
        make("button", { class: "quiet", text: "whole profile", attributes: { type: "button" }, on: { click: () => store.set({ range: null }) } }));
    }
    this.place.replaceChildren();
    if (this.content === null) return;
    const { fields, rows, rowCount, remarks, command } = this.content;
    const shown = fields.filter((field) => field.label.trim() !== "" && field.key !== "" &&
                                           (!field.only_if_known || rows.some((row) => isKnown(row[field.key]))));
    this.ops = opsByRow(context, grouping, Math.max(0, ...this.content.places.map((place) => place + 1)));
    const hasOps = this.ops.some((ops) => ops.size > 0);
    const model = new TableModel(fields, rows, textOfReport(report));
    const colours = coloursOfRows(context, grouping.by);
    const { places } = this.content;
    this.table = new Table(model, { name: `ops by ${grouping.by}`, shown, rowCount, nameFirst: true, mark: (row) => this.swatch(colours.get(places[row])), ...(hasOps ? { onRow: (row: number) => this.chooseRow(row) } : {}) });
    this.place.append(this.table.element, ...drawRemarks(remarks));
    if (command !== "") this.place.append(make("p", { class: "command" }, "The same: ", make("code", { text: command })));
    this.mark(false);
  }

  // The row's ops; none of them when they are highlighted already.
  private chooseRow(row: number): void {
    const ops = this.ops[this.content?.places[row] ?? -1] ?? new Set<number>();
    const { store } = this.context;
    const same = sameSet(store.get().ops, ops);
    this.ownChange = true;
    store.set({ ops: same ? new Set<number>() : ops });
    this.ownChange = false;
  }

  // The rows whose ops are highlighted: all of them, or where there is no such row, some.
  private mark(show: boolean): void {
    const { ops } = this.context.store.get();
    const marked = new Set<number>();
    if (ops.size > 0) {
      this.content?.places.forEach((place, row) => {
        for (const op of this.ops[place] ?? []) {
          if (!ops.has(op)) continue;
          marked.add(row);
          break;
        }
      });
    }
    this.table?.select(marked, show);
  }
}

function sameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  if (a.size !== b.size) return false;
  for (const each of a) if (!b.has(each)) return false;
  return true;
}
