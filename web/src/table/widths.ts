// How wide the columns of a long table are, in letters: the rows that are drawn change while the
// reader scrolls, the columns do not.
import type { Field } from "../data/report";
import { isNumber, type TableModel } from "./model";

const samples = 400;
const widest = 44;

export function widthsOf(model: TableModel, fields: readonly Field[]): number[] {
  const { rows } = model;
  const step = Math.max(1, Math.floor(rows.length / samples));
  return fields.map((field) => {
    let width = field.label.length + 1;
    const each = isNumber(field) ? 1 : 0.92;  // of a letter, in digits
    for (let place = 0; place < rows.length; place += step) width = Math.max(width, Math.ceil(model.cell(place, field).length * each));
    return Math.min(width, isNumber(field) ? 24 : widest);
  });
}

// The rows to draw of a list that is scrolled: [first, last).
export function drawnRows(count: number, rowHeight: number, scrollTop: number, height: number): [number, number] {
  const beyond = 10;
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - beyond));
  return [first, Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + beyond)];
}
