// A page of the report as sections of facts, a table and remarks: what every command prints of it,
// whatever the command.
//
//   const all = sectionsOf(report.pages.units);
//   all[0].facts[0]         // {field: {label: "wall", …}, value: 64829}
//   find(all, "overlap")    // the section of that key
import type { Field, Layout, Page, Scalar, Values } from "../data/report";

export type Row = { [key: string]: Scalar };

export interface Fact {
  field: Field;
  value: Scalar;
}

export interface Section {
  key: string;
  title: string;
  facts: Fact[];         // with those that are not shown (empty label)
  fields: Field[];       // of the rows
  rows: Row[];
  rowCount: number;      // with those that were not kept
  values: Values;        // all that the page has of it
  remarks: string[];
  parts: Section[];
}

export const sectionsOf = (page: Page): Section[] => sectionsIn(page.values, page.layout);

function sectionsIn(values: Values, layouts: readonly Layout[]): Section[] {
  const seen = new Map<string, number>();  // of sections in lists: how many came before
  const sections: Section[] = [];
  for (const layout of layouts) {
    let of: unknown = values[layout.key];
    if (layout.in_list) {
      const place = seen.get(layout.key) ?? 0;
      seen.set(layout.key, place + 1);
      of = Array.isArray(of) ? of[place] : undefined;
    }
    if (isValues(of)) sections.push(sectionOf(of, layout));
  }
  return sections;
}

function sectionOf(values: Values, layout: Layout): Section {
  const rows = Array.isArray(values.rows) ? (values.rows as Row[]) : [];
  const { row_count: count, remarks } = values;
  return {
    key: layout.key,
    title: layout.title,
    facts: layout.facts.map((field) => ({ field, value: scalar(values[field.key]) })),
    fields: layout.fields,
    rows,
    rowCount: typeof count === "number" ? count : rows.length,
    values,
    remarks: Array.isArray(remarks) ? (remarks as string[]) : [],
    parts: sectionsIn(values, layout.parts),
  };
}

export function find(sections: readonly Section[], key: string): Section | null {
  for (const section of sections) {
    if (section.key === key) return section;
    const part = find(section.parts, key);
    if (part !== null) return part;
  }
  return null;
}

export const isKnown = (value: Scalar | undefined): boolean => value !== null && value !== undefined;

export const shownFacts = (section: Section): Fact[] =>
  section.facts.filter(({ field, value }) => field.label !== "" && field.key !== "" && isKnown(value));

// Without those that say nothing here.
export function shownFields(section: Section): Field[] {
  return section.fields.filter((field) =>
    field.label.trim() !== "" && field.key !== "" && (!field.only_if_known || section.rows.some((row) => isKnown(row[field.key]))));
}

// Whether anything of it would be seen.
export const saysSomething = (section: Section): boolean =>
  shownFacts(section).length > 0 || (section.rows.length > 0 && shownFields(section).length > 0) ||
  section.remarks.length > 0 || section.parts.some(saysSomething);

export const fact = (section: Section | null, key: string): Scalar => scalar(section?.values[key]);

export const number = (value: Scalar | undefined): number | null => (typeof value === "number" ? value : null);
export const text = (value: Scalar | undefined): string => (typeof value === "string" ? value : "");

// "OPS ON THE PATH, in cycles" as a heading: "Ops on the path, in cycles". Words that are names stay.
export function heading(title: string): string {
  const names = new Set(["DDR", "VTCM", "DMA", "HVX", "HMX", "MAC", "MACS", "PMU", "TCM", "LRAM", "CPU", "NPU", "QNN", "NSS", "CSS"]);
  let first = true;
  return title.replace(/[A-Z]{2,}/g, (word) => {
    if (names.has(word)) {
      first = false;
      return word;
    }
    const lower = word.toLowerCase();
    const made = first ? lower[0].toUpperCase() + lower.slice(1) : lower;
    first = false;
    return made;
  });
}

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const scalar = (value: unknown): Scalar =>
  value === undefined || isValues(value) ? null : (value as Scalar);
