// A table that is sorted by its heads, filtered by a regular expression, copied as CSV, and walked
// through by keyboard. Of a long one only the rows in sight are elements.
//
//   const table = new Table(model, { name: "ops", onRow: (place) => highlight(place) });
//   panel.append(table.element);
//   table.select(new Set([3]));      // places in model.rows
import type { Field, Scalar } from "../data/report";
import { make } from "../dom/make";
import { printable, shortened, shownName } from "../format/format";
import { copyText } from "./copy";
import { isNumber, nameThenNumbers, type TableModel } from "./model";
import { drawnRows, widthsOf } from "./widths";

export interface TableOptions {
  name: string;                          // for those who do not see it: "ops"
  shown?: readonly Field[];              // of the model's fields; none: all with a label
  onRow?: (place: number) => void;       // clicked, or Enter on it
  extra?: (place: number) => Node | null;  // behind the first cell's text
  mark?: (place: number) => Node | null;   // before it
  rowCount?: number;                     // with those that the page was not given
  plain?: boolean;                       // without filter, count and copy
  nameFirst?: boolean;                   // the first cell alone names a row: on a telephone numbers follow it
}

const rowHeight = 22;
const mostPlain = 150;   // rows of a table that is drawn as a whole
const mostOpen = 26;     // rows of one that does not scroll
const mostPrinted = 1000;

const printing = "table-printing";
let tellsOfPrinting = false;

// One listener for all tables: those that are gone are not kept.
function tellOfPrinting(): void {
  if (tellsOfPrinting) return;
  tellsOfPrinting = true;
  const tell = (is: boolean): void =>
    document.querySelectorAll(".drawn-in-part").forEach((each) => each.dispatchEvent(new CustomEvent(printing, { detail: is })));
  addEventListener("beforeprint", () => tell(true));
  addEventListener("afterprint", () => tell(false));
}

export class Table {
  readonly element: HTMLElement;
  private readonly shown: readonly Field[];
  private readonly body = make("tbody");
  private readonly scroller: HTMLElement;
  private readonly count = make("span", { class: "table-count", attributes: { role: "status" } });
  private readonly heads = new Map<string, HTMLElement>();
  private selected: ReadonlySet<number> = new Set();
  private current = 0;      // place in model.order that the keyboard is at
  private printing = false;
  private drawn: [number, number] = [0, 0];
  private largest = new Map<string, number>();

  constructor(readonly model: TableModel, private readonly options: TableOptions) {
    const shown = options.shown ?? model.fields.filter((field) => field.label !== "");
    this.shown = options.nameFirst && matchMedia("(max-width: 500px)").matches ? nameThenNumbers(shown) : shown;
    const head = make("thead", {}, make("tr", {}, ...this.shown.map((field) => this.head(field))));
    const table = make("table", { attributes: { "aria-label": options.name, "aria-rowcount": model.rows.length, role: options.onRow ? "grid" : null } },
                       ...this.columns(), head, this.body);
    this.scroller = make("div", { class: this.isLong ? "table-scroll long drawn-in-part" : model.rows.length > mostOpen ? "table-scroll long" : "table-scroll" }, table);
    if (this.isLong) {
      this.scroller.tabIndex = options.onRow ? -1 : 0;
      this.scroller.addEventListener("scroll", () => this.drawIfMoved(), { passive: true });
      tellOfPrinting();
      this.scroller.addEventListener(printing, (event) => this.print((event as CustomEvent<boolean>).detail));
    }
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.element = make("div", { class: "table" }, options.plain ? null : this.tools(), ...this.prefixNotes(), this.scroller);
    this.draw();
  }

  // Marks these rows; `show`: and scrolls to the first.
  select(places: ReadonlySet<number>, show = false): void {
    this.selected = places;
    if (show && places.size > 0) {
      const at = this.model.order.findIndex((place) => places.has(place));
      if (at >= 0) this.scrollTo(at);
    }
    this.draw();
  }

  private get isLong(): boolean {
    return this.model.rows.length > mostPlain;
  }

  private columns(): HTMLElement[] {
    for (const field of this.shown) {
      if (field.format !== "share") continue;
      this.largest.set(field.key, Math.max(0, ...this.model.rows.map((row) => Number(row[field.key] ?? 0)).filter(Number.isFinite)));
    }
    if (!this.isLong) return [];
    const group = make("colgroup");
    for (const width of widthsOf(this.model, this.shown)) {
      const column = make("col");
      column.style.width = `calc(${width}ch + 1.3rem)`;
      group.append(column);
    }
    return [group];
  }

  private tools(): HTMLElement {
    const filter = make("input", {
      class: "table-filter",
      attributes: { type: "search", placeholder: "filter (regular expression)", "aria-label": `filter ${this.options.name}`, spellcheck: "false" },
      on: { input: () => { this.model.filterBy(filter.value); this.current = 0; this.scroller.scrollTop = 0; this.draw(); } },
    });
    const copied = make("button", { class: "quiet", text: "copy as CSV", attributes: { type: "button" } });
    copied.addEventListener("click", () => void copyText(this.model.csv()).then((done) => {
      copied.textContent = done ? "copied" : "not copied: the browser refused";
      setTimeout(() => (copied.textContent = "copy as CSV"), 1500);
    }));
    const few = 8;
    return make("div", { class: "table-tools" }, this.model.rows.length > few ? filter : null, this.count, copied);
  }

  private prefixNotes(): HTMLElement[] {
    return this.shown.filter((field) => this.model.prefixes.has(field.key)).map((field) =>
      make("p", { class: "remark" }, `Names in ${field.label} begin with `,
           make("code", { text: shownName(this.model.prefixes.get(field.key) ?? "") }), ", left out below."));
  }

  private head(field: Field): HTMLElement {
    const button = make("button", { text: field.label, attributes: { type: "button" }, on: { click: () => {
      this.model.sortBy(field.key);
      this.current = 0;
      this.draw();
    } } });
    const head = make("th", { class: isNumber(field) ? "number" : "", attributes: { scope: "col" } }, button);
    this.heads.set(field.key, head);
    return head;
  }

  draw(): void {
    for (const [key, head] of this.heads) {
      const { sorting } = this.model;
      const sort = sorting?.key !== key ? "none" : sorting.descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", sort);
    }
    const { order, rows, problem, filter } = this.model;
    const all = Math.max(this.options.rowCount ?? 0, rows.length);
    const kept = all > rows.length ? `; the page has these of ${all.toLocaleString("en")}` : "";
    this.count.textContent = problem !== "" ? problem
      : `${filter !== "" ? `${order.length.toLocaleString("en")} of ` : ""}${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}${kept}`;
    this.count.classList.toggle("problem", problem !== "");
    this.drawn = this.range();
    const [first, last] = this.drawn;
    this.body.replaceChildren();
    if (this.isLong) this.body.append(this.spacer(first));
    for (let at = first; at < last; ++at) this.body.append(this.row(at));
    if (this.isLong) this.body.append(this.spacer(order.length - last));
  }

  private range(): [number, number] {
    const { order } = this.model;
    if (!this.isLong) return [0, order.length];
    if (this.printing) return [0, Math.min(order.length, mostPrinted)];
    return drawnRows(order.length, rowHeight, this.scroller.scrollTop, this.scroller.clientHeight || 480);
  }

  private drawIfMoved(): void {
    const [first, last] = this.range();
    if (first === this.drawn[0] && last === this.drawn[1]) return;
    const held = this.body.contains(document.activeElement);
    this.draw();
    if (held) this.focusCurrent();
  }

  private spacer(rows: number): HTMLElement {
    const cell = make("td", { attributes: { colspan: this.shown.length } });
    cell.style.height = `${(this.printing ? 0 : rows) * rowHeight}px`;
    return make("tr", { class: "spacer", attributes: { "aria-hidden": "true" } }, cell);
  }

  private row(at: number): HTMLElement {
    const place = this.model.order[at];
    const isSelected = this.selected.has(place);
    const row = make("tr", { class: isSelected ? "selected" : "", attributes: { "aria-rowindex": place + 1 } });
    if (this.options.onRow) {
      row.tabIndex = at === this.current ? 0 : -1;
      row.setAttribute("aria-selected", String(isSelected));
      row.addEventListener("click", () => {
        if (getSelection()?.isCollapsed === false) return;  // text was being selected
        this.current = at;
        this.options.onRow?.(place);
      });
    }
    this.shown.forEach((field, column) => row.append(this.cell(place, field, column)));
    return row;
  }

  private cell(place: number, field: Field, column: number): HTMLElement {
    const text = this.model.cell(place, field);
    const value: Scalar = this.model.rows[place][field.key] ?? null;
    const cell = make("td", { class: isNumber(field) ? "number" : "name" });
    const long = 60;
    if (field.format === "share" && typeof value === "number") cell.append(this.bar(field, value));
    const mark = column === 0 ? this.options.mark?.(place) : null;
    if (mark) cell.append(mark);
    cell.append(isNumber(field) ? text : shownName(text));
    if (!isNumber(field) && (text.length > long || this.model.prefixes.has(field.key))) {
      cell.title = printable(shortened(this.model.textOf(field, value), 2000));
    }
    const extra = column === 0 ? this.options.extra?.(place) : null;
    if (extra) cell.append(extra);
    return cell;
  }

  private bar(field: Field, value: number): HTMLElement {
    const bar = make("span", { class: "share-bar", attributes: { "aria-hidden": "true" } });
    const whole = Math.max(this.largest.get(field.key) ?? 0, 1e-9);
    bar.style.width = `${Math.max(0, Math.min(1, value / Math.max(whole, value))) * 100}%`;
    return bar;
  }

  private key(event: KeyboardEvent): void {
    if (!this.options.onRow) return;
    const last = this.model.order.length - 1;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 2);
    const moves: { [key: string]: number } = {
      ArrowDown: this.current + 1, ArrowUp: this.current - 1, Home: 0, End: last,
      PageDown: this.current + page, PageUp: this.current - page,
    };
    if (event.key === "Enter" || event.key === " ") {
      this.options.onRow(this.model.order[this.current]);
      this.focusCurrent();
    } else if (event.key in moves) {
      this.current = Math.max(0, Math.min(last, moves[event.key]));
      this.scrollTo(this.current);
      this.draw();
      this.focusCurrent();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private focusCurrent(): void {
    const rows = this.body.querySelectorAll<HTMLElement>("tr:not(.spacer)");
    rows[this.current - this.drawn[0]]?.focus({ preventScroll: this.isLong });
  }

  private scrollTo(at: number): void {
    if (!this.isLong) return;
    const top = at * rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + 2 * rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + 2 * rowHeight - clientHeight;
  }

  private print(printing: boolean): void {
    this.printing = printing;
    this.draw();
  }
}
