// Memory: roofline, traffic over time, spill, the ops that move most bytes, and the rest of page
// "memory".
import { make } from "../dom/make";
import { shownName } from "../format/format";
import type { Context, MakePanel } from "../panel";
import { OpNames } from "../ops/op_names";
import { opsThatRan } from "../ops/ran";
import { drawFacts, drawRemarks, drawSection, tableOf } from "../section/draw";
import { heading, sectionsOf, text } from "../section/section";
import { wholeNote } from "../section/whole_note";
import { ceilingAt, memorySection, rooflineOf } from "./roofline";
import { drawRoofline } from "./scatter";
import { TrafficView } from "./traffic_view";

export const makeMemoryPanel: MakePanel = (context) => {
  const { report, data } = context;
  const page = report.pages.memory;
  const hasTraffic = data.head.bandwidth !== null && data.head.bandwidth.routes.length > 0;
  if (page === undefined && !hasTraffic) return null;
  const element = make("div", { class: "memory" }, wholeNote(context.store, "Numbers of ops and tables are", "Roofline and ops show what ran in the range."), ...roofline(context));
  if (hasTraffic) element.append(make("h3", {}, "Traffic over time", make("span", { class: "scope", text: shownName(report.scope ?? "", 200) })), new TrafficView(context).element);
  element.append(...topOps(context));
  const drawnElsewhere = new Set(["roofline", "ops", "over_time"]);
  const first = ["spill", "traffic"];  // before the others
  const sections = page === undefined ? [] : sectionsOf(page).filter((section) => !drawnElsewhere.has(section.key));
  sections.sort((a, b) => Number(first.includes(b.key)) - Number(first.includes(a.key)));
  for (const section of sections) {
    const drawn = drawSection(section, report);
    if (drawn !== null) element.append(drawn);
  }
  return { id: "memory", title: "Memory", element, scope: page?.scope ?? null };
};

// Highlights the ops of a row.
function highlighter(context: Context): (name: string) => void {
  const names = new OpNames(context.report, context.data);
  return (name) => context.store.set({ ops: names.opsNamed(new Set([name])) });
}

function roofline(context: Context): HTMLElement[] {
  const { report } = context;
  const found = rooflineOf(report);
  if (found === null) return [];
  const facts = drawFacts(found.section, report);
  const drawn: HTMLElement[] = [make("h3", { text: "Roofline" })];
  if (facts !== null) drawn.push(facts);
  if (found.points.length > 0) {
    const drawing = drawRoofline(report, found, highlighter(context));
    followRows(context, (rows) => drawing.fadeOthers(rows));
    drawn.push(drawing.element);
    const early = found.points.filter((point) => found.perSecond && point.rate > ceilingAt(found, point.intensity) * 1.0001).length;
    if (early > 0) drawn.push(make("p", { class: "remark", text: `${early} ${early === 1 ? "op lies" : "ops lie"} above the ceiling: bytes that were moved while other ops computed are not part of an op's active time.` }));
    if (found.leftOut > 0) drawn.push(make("p", { class: "remark", text: `Not drawn: ${found.leftOut} ${found.leftOut === 1 ? "row" : "rows"} without MACs or without DDR traffic.` }));
  }
  return [make("section", { class: "section" }, ...drawn, ...drawRemarks(found.section.remarks))];
}

function topOps(context: Context): HTMLElement[] {
  const section = memorySection(context.report, "ops");
  if (section === null || section.rows.length === 0) return [];
  const highlight = highlighter(context);
  const place = make("div");
  followRows(context, (ran) => {
    const rows = ran === null ? section.rows : section.rows.filter((row) => ran.has(text(row.op)));
    const table = tableOf({ ...section, rows, rowCount: ran === null ? section.rowCount : rows.length }, context.report, { nameFirst: true, onRow: (row) => {
      table.select(new Set([row]));
      highlight(text(rows[row].op));
    } });
    place.replaceChildren(table.element);
  });
  return [make("section", { class: "section" }, make("h3", { text: heading(section.title) || "Ops by bytes" }), place, ...drawRemarks(section.remarks))];
}

// Calls `show` now and when a range is selected, with the names of rows that ran in it; null: all.
function followRows({ report, data, store }: Context, show: (rows: ReadonlySet<string> | null) => void): void {
  const names = new OpNames(report, data);
  let waiting = 0;
  const follow = (): void => {
    const { range } = store.get();
    if (range === null) return show(null);
    const rows = new Set<string>();
    for (const op of opsThatRan(data, range)) rows.add(names.rowName(op)).add(names.label(op));
    show(rows);
  };
  store.subscribe((_, changed) => {
    if (!changed.range) return;
    clearTimeout(waiting);
    waiting = window.setTimeout(follow, data.head.span_total > 200_000 ? 200 : 40);
  });
  follow();
}
