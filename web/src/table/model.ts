// What a table shows, without how: rows in the order and of the choice that the reader asked for.
//
//   const model = new TableModel(fields, rows, (field, value) => text);
//   model.sortBy("work"); model.filterBy("MatMul");
//   model.order            // places in rows, first to last
//   model.csv()            // as `npuscope … --csv` prints it, of these rows
import type { Field, Scalar } from "../data/report";
import type { Row } from "../section/section";

export type TextOf = (field: Field, value: Scalar) => string;

export interface Sorting {
  key: string;
  descending: boolean;
}

const collator = new Intl.Collator("en", { numeric: true });

export class TableModel {
  order: number[];
  sorting: Sorting | null = null;  // null: the order of the page
  filter = "";
  problem = "";                    // with the filter; empty: none
  readonly prefixes: Map<string, string>;  // by key of a column of names: what all of them begin with

  constructor(readonly fields: readonly Field[], readonly rows: readonly Row[], readonly textOf: TextOf) {
    this.order = rows.map((_, place) => place);
    this.prefixes = new Map();
    for (const field of fields) {
      if (field.format !== "name") continue;
      const prefix = commonPrefix(rows.map((row) => row[field.key]));
      if (prefix !== "") this.prefixes.set(field.key, prefix);
    }
  }

  // Numbers from the largest, names from A; the same again turns it around, then back to the page's.
  sortBy(key: string): void {
    const field = this.fields.find((each) => each.key === key);
    if (field === undefined) return;
    const first = isNumber(field);
    if (this.sorting?.key !== key) this.sorting = { key, descending: first };
    else if (this.sorting.descending === first) this.sorting = { key, descending: !first };
    else this.sorting = null;
    this.update();
  }

  // A regular expression, looked for in all texts of a row.
  filterBy(text: string): void {
    this.filter = text;
    this.update();
  }

  cell(place: number, field: Field): string {
    const text = this.textOf(field, this.rows[place][field.key] ?? null);
    const prefix = this.prefixes.get(field.key);
    return prefix !== undefined && text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }

  private update(): void {
    this.problem = "";
    let pattern: RegExp | null = null;
    try {
      pattern = this.filter === "" ? null : new RegExp(this.filter, "iu");
    } catch (error) {
      this.problem = `not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, "")}`;
    }
    const texts = this.fields.filter((field) => !isNumber(field));
    const fits = (row: Row) => pattern === null || texts.some((field) => pattern.test(this.textOf(field, row[field.key] ?? null)));
    this.order = [];
    this.rows.forEach((row, place) => {
      if (fits(row)) this.order.push(place);
    });
    if (this.sorting === null) return;
    const { key, descending } = this.sorting;
    const sign = descending ? -1 : 1;
    this.order.sort((a, b) => {
      const left = this.rows[a][key] ?? null;
      const right = this.rows[b][key] ?? null;
      if (left === null || right === null) return left === right ? a - b : left === null ? 1 : -1;
      return sign * compare(left, right) || a - b;
    });
  }

  // The header first; values as they are, as the program's CSV has them.
  csv(fields: readonly Field[] = this.fields): string {
    const lines = [fields.map((field) => quoted(field.key)).join(",")];
    for (const place of this.order) {
      lines.push(fields.map((field) => csvCell(this.rows[place][field.key] ?? null)).join(","));
    }
    return lines.join("\n") + "\n";
  }
}

export const isNumber = (field: Field): boolean =>
  !["name", "names", "numbers", "truth"].includes(field.format);

// Numbers next to the name of a row, which on a narrow screen other texts would push out of it.
export const nameThenNumbers = (fields: readonly Field[]): Field[] =>
  [...fields.slice(0, 1), ...fields.slice(1).filter(isNumber), ...fields.slice(1).filter((field) => !isNumber(field))];

function compare(a: Scalar, b: Scalar): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(plain(a), plain(b));
}

function plain(value: Scalar): string {
  if (value === null) return "";
  return Array.isArray(value) ? value.join(";") : String(value);
}

// RFC 4180; what a spreadsheet would take for a formula gets an apostrophe in front.
function csvCell(value: Scalar): string {
  const text = plain(value);
  return typeof value === "number" ? text : quoted(text);
}
function quoted(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text);
  if (!isFormula && !/[",\r\n]/.test(text)) return text;
  return `"${isFormula ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

// What all names begin with, up to the last separator; empty where it is not worth cutting.
export function commonPrefix(values: readonly (Scalar | undefined)[]): string {
  const names = [...new Set(values.filter((value): value is string => typeof value === "string" && value !== "" && !value.startsWith("(")))];
  const shortest = 6;
  if (names.length < 2) return "";
  let prefix = names[0];
  for (const name of names) {
    let same = 0;
    while (same < prefix.length && same < name.length && prefix[same] === name[same]) ++same;
    prefix = prefix.slice(0, same);
    if (prefix.length < shortest) return "";
  }
  const cut = Math.max(prefix.lastIndexOf("/"), prefix.lastIndexOf("."), prefix.lastIndexOf(":"), prefix.lastIndexOf("> ") + 1);
  prefix = prefix.slice(0, cut + 1);
  return prefix.length >= shortest && names.every((name) => name.length > prefix.length) ? prefix : "";
}
