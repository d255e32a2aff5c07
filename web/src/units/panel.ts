// Units: what each did of the wall, which classes of hardware work at once, how many units at once,
// and how unequally they are loaded.
import { drawBar, percent } from "../bar/bar";
import { apart, apartElement, type Apart } from "../dom/apart";
import { make } from "../dom/make";
import { engineName } from "../format/engines";
import { changeText, numberText, shownName } from "../format/format";
import { OpNames } from "../ops/op_names";
import { rangeText, wholeRange } from "../ops/tables";
import type { Context, MakePanel } from "../panel";
import type { ProfileReport } from "../data/report";
import { drawFacts, drawRemarks, drawSection, tableOf } from "../section/draw";
import { heading, sectionsOf } from "../section/section";
import { wholeNote } from "../section/whole_note";
import { commonPrefix } from "../table/model";
import { overlapInRange } from "./overlap_in_range";
import { concurrencyOf, imbalanceOf, matrixOf, overlapOf, unitRows, unitRowsInRange, unitsSection, type Imbalance, type Level, type Overlap, type UnitRow } from "./units";

const drawnAtFirst = 24;
const mostLevelsNamed = 16;
const withDrawing = new Set(["units", "overlap", "concurrency", "imbalance"]);

export const makeUnitsPanel: MakePanel = (context) => {
  const { report, store } = context;
  const page = report.pages.units;
  if (page === undefined) return null;
  const element = make("div", { class: "units" });
  const wall = unitsSection(report, "wall");
  if (wall !== null) {
    const facts = drawFacts(wall, report);
    if (facts !== null) element.append(facts);
  }
  element.append(followRange(context), wholeNote(store, "What follows is"), ...imbalance(report));
  for (const section of sectionsOf(page)) {
    if (section.key === "wall" || withDrawing.has(section.key)) continue;
    const drawn = drawSection(section, report);
    if (drawn !== null) element.append(drawn);
  }
  return { id: "units", title: "Units", element, scope: page.scope };
};

// The numbers that a drawing is made of.
function numbersOf(report: ProfileReport, key: string): HTMLElement[] {
  const section = unitsSection(report, key);
  if (section === null || section.rows.length === 0) return [];
  const labelled = { ...section, fields: section.fields.map((field) => ({ ...field, label: field.label || field.key.replaceAll("_", " ") })) };
  return [make("details", {}, make("summary", { text: `Numbers: ${lowered(heading(section.title)) || key}` }), tableOf(labelled, report).element),
          ...drawRemarks(section.remarks)];
}

const lowered = (title: string): string => title.slice(0, 1).toLowerCase() + title.slice(1);

// Utilisation, concurrency and overlap, of the range that is selected on the timeline, else of the wall.
function followRange({ report, data, store }: Context): HTMLElement {
  const place = make("div");
  const names = new OpNames(report, data);
  let waiting = 0;
  const draw = (): void => {
    const { range } = store.get();
    const whole = concurrencyOf(report);
    if (range === null) {
      place.replaceChildren(...utilisation(unitRows(report, data), "wall", numbersOf(report, "units")), make("div", { class: "side-by-side" },
        ...(whole === null ? [] : concurrency(whole.levels, "wall", averageText(whole), numbersOf(report, "concurrency"))),
        ...overlap(overlapOf(report), numbersOf(report, "overlap"))));
      return;
    }
    const { rows, levels, merged } = unitRowsInRange(report, data, wholeRange(range));
    const remark = merged ? drawRemarks(["Some spans were merged when the report was written: busy times are upper bounds."]) : [];
    place.replaceChildren(make("p", { class: "range-note", text: `Selected range: ${rangeText(report, data, range)}` }), ...utilisation(rows, "range", remark), make("div", { class: "side-by-side" }, ...concurrency(levels, "range", "", []),
      ...overlap(matrixOf(report, overlapInRange(names, data, wholeRange(range))), remark)));
  };
  store.subscribe((_, changed) => {
    if (!changed.range) return;
    clearTimeout(waiting);
    waiting = window.setTimeout(draw, data.head.span_total > 200_000 ? 200 : 40);
  });
  draw();
  return place;
}

function utilisation(rows: readonly UnitRow[], of: string, below: HTMLElement[]): HTMLElement[] {
  if (rows.length === 0) return [];
  const entry = (colour: string, label: string): HTMLElement =>
    make("li", {}, make("span", { class: `swatch ${colour}`, attributes: { "aria-hidden": "true" } }), label);
  const engines = new Map(rows.map((row) => [row.parts[0].colour, row.engine === "" ? "busy" : `busy, ${engineName(row.engine)}`]));
  const legend = make("ul", { class: "legend inline" }, ...[...engines].map(([colour, label]) => entry(colour, label)),
                      ...rows[0].parts.flatMap((part, i) => (i > 0 && rows.some((row) => row.parts[i].share > 0) ? [entry(part.colour, part.label)] : [])));
  const prefix = commonPrefix(rows.map((row) => row.name));
  const names = apart(rows.map((row) => row.name.slice(prefix.length)));
  const bars = rows.map((row, i) => unitBar(row, names[i]));
  const list = make("div", { class: "unit-bars" }, ...bars.slice(0, drawnAtFirst));
  const section = make("section", { class: "section" }, make("h3", { text: `Utilisation, of ${of}` }), legend);
  if (prefix !== "") section.append(make("p", { class: "remark" }, "Names begin with ", make("code", { text: shownName(prefix) }), ", left out below."));
  section.append(list);
  if (rows.length > drawnAtFirst) {
    const more = make("button", { class: "quiet", text: `${rows.length - drawnAtFirst} more units`, attributes: { type: "button" } });
    more.addEventListener("click", () => {
      list.append(...bars.slice(drawnAtFirst));
      more.remove();
    });
    section.append(more);
  }
  section.append(...below);
  return [section];
}

const unitBar = (row: UnitRow, name: Apart): HTMLElement => make("div", { class: "unit-bar", title: shownName(row.name) },
  apartElement(name, "unit-name"),
  drawBar(row.parts, row.name, { legend: false }),
  make("span", { class: "number", text: percent(row.busy) }));

function overlap(matrix: Overlap | null, below: HTMLElement[]): HTMLElement[] {
  if (matrix === null) return [];
  return [make("section", { class: "section" }, make("h3", { text: "Overlap of classes, of the shorter" }), make("div", { class: "matrix-scroll" }, drawMatrix(matrix)), ...below)];
}

function drawMatrix({ classes, cells }: Overlap): HTMLElement {
  const head = make("tr", {}, make("td"), ...classes.map((name) => make("th", { text: name, attributes: { scope: "col" } })));
  const rows = classes.map((name, i) => make("tr", {}, make("th", { text: name, attributes: { scope: "row" } }), ...cells[i].map((cell, j) => {
    const isOwn = i === j;
    const drawn = make("td", { class: isOwn ? "own" : "heat", title: cell.title, text: isOwn ? "" : percent(cell.share) });
    if (!isOwn) drawn.style.setProperty("--heat", String(Math.min(1, cell.share)));
    return drawn;
  })));
  return make("table", { class: "matrix", attributes: { "aria-label": "overlap of classes of hardware" } }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function concurrency(levels: readonly Level[], of: string, average: string, below: HTMLElement[]): HTMLElement[] {
  if (levels.length === 0) return [];
  const largest = Math.max(1e-9, ...levels.map((level) => level.share));
  const step = Math.ceil(levels.length / mostLevelsNamed);
  const bars = make("div", { class: `histogram${levels.length > mostLevelsNamed ? " dense" : ""}`, attributes: { role: "img", "aria-label": levels.map((level) => level.title).join("; ") } },
    ...levels.map((level) => {
      const bar = make("div", { class: level.units === 0 ? "fill-idle" : "fill-busy" });
      bar.style.height = `${(100 * level.share) / largest}%`;
      return make("div", { class: "histogram-column", title: level.title }, make("div", { class: "histogram-room" }, bar), make("span", { text: level.units % step === 0 ? String(level.units) : "" }));
    }));
  return [make("section", { class: "section" }, make("h3", { text: `Concurrency: units at work, of ${of}` }), bars, make("p", { class: "remark", text: average }), ...below)];
}

const averageText = ({ average, max }: { average: number | null; max: number | null }): string =>
  average === null ? "" : `average while active ${numberText(average)}, max ${numberText(max ?? 0)}`;

function imbalance(report: ProfileReport): HTMLElement[] {
  const rows = imbalanceOf(report);
  if (rows.length === 0) return [];
  const list = make("div", { class: "unit-bars" }, ...rows.slice(0, drawnAtFirst).map(imbalanceBar));
  return [make("section", { class: "section" }, make("h3", { text: "Imbalance: min, mean and max" }), list, ...numbersOf(report, "imbalance"))];
}

// From min to max, with a mark at the mean, on a scale from 0.
function imbalanceBar(row: Imbalance): HTMLElement {
  const whole = Math.max(row.max, 1e-9);
  const range = make("div", { class: "range-bar" });
  range.style.left = `${(100 * row.min) / whole}%`;
  range.style.width = `${(100 * (row.max - row.min)) / whole}%`;
  const mean = make("div", { class: "range-mean" });
  mean.style.left = `${(100 * row.mean) / whole}%`;
  const unit = row.unit === "" ? "" : ` ${row.unit}`;
  const title = `min ${numberText(row.min)}${unit} (${shownName(row.least, 60)}), mean ${numberText(row.mean)}${unit}, max ${numberText(row.max)}${unit} (${shownName(row.most, 60)})`;
  return make("div", { class: "unit-bar", title },
    make("span", { class: "unit-name", text: shownName(row.what, 60) }),
    make("div", { class: "range-track", attributes: { role: "img", "aria-label": title } }, range, mean),
    make("span", { class: "number", text: changeText(row.excess) }));
}
