// A section as elements: heading, facts, table, remarks, parts.
import type { ProfileReport, Scalar, Field } from "../data/report";
import { make } from "../dom/make";
import { clockOf, shownName, showsTime, valueText } from "../format/format";
import { TableModel, type TextOf } from "../table/model";
import { Table, type TableOptions } from "../table/table";
import { heading, saysSomething, shownFacts, shownFields, type Section } from "./section";

// Null: of no profile, as in a comparison.
export const textOfReport = (report: ProfileReport | null): TextOf =>
  (field: Field, value: Scalar) => valueText(field, value, report);

// The same with the unit of plain ticks, where no head of a column says it: "64,829 cycles".
export const factTextOf = (report: ProfileReport | null): TextOf => (field, value) => {
  const text = valueText(field, value, report);
  const clock = report === null || field.format !== "ticks" || typeof value !== "number" ? undefined : clockOf(report, field.clock);
  return clock === undefined || showsTime(clock) ? text : `${text} ${clock.unit}`;
};

export interface DrawOptions extends Partial<TableOptions> {
  level?: 3 | 4;
  title?: string;          // in place of the section's
  withoutTable?: boolean;  // which is drawn elsewhere
}

export function drawSection(section: Section, report: ProfileReport | null, options: DrawOptions = {}): HTMLElement | null {
  if (!saysSomething(section)) return null;
  const { level = 3, title = heading(section.title), withoutTable = false, ...table } = options;
  const element = make("section", { class: "section", attributes: { "data-section": section.key } });
  if (title !== "") element.append(make(level === 3 ? "h3" : "h4", { text: title }));
  const facts = drawFacts(section, report);
  if (facts !== null) element.append(facts);
  if (section.rows.length > 0 && !withoutTable) element.append(tableOf(section, report, table).element);
  element.append(...drawRemarks(section.remarks));
  for (const part of section.parts) {
    const drawn = drawSection(part, report, { level: 4 });
    if (drawn !== null) element.append(drawn);
  }
  return element;
}

export function tableOf(section: Section, report: ProfileReport | null, options: Partial<TableOptions> = {}): Table {
  const model = new TableModel(section.fields, section.rows, textOfReport(report));
  return new Table(model, { name: heading(section.title) || section.key, shown: shownFields(section), rowCount: section.rowCount, ...options });
}

export function drawFacts(section: Section, report: ProfileReport | null): HTMLElement | null {
  const facts = shownFacts(section);
  if (facts.length === 0) return null;
  const textOf = factTextOf(report);
  const list = make("dl", { class: "fact-list" });
  for (const { field, value } of facts) {
    list.append(make("div", {}, make("dt", { text: field.label }), make("dd", { text: shownName(textOf(field, value), 2000) })));
  }
  return list;
}

export const drawRemarks = (remarks: readonly string[]): HTMLElement[] =>
  remarks.map((remark) => make("p", { class: "remark", text: shownName(remark, 4000) }));
