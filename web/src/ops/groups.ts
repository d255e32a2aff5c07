// The groupings of ops that the page has a table for, and which row of it each span counts in.
import type { Context } from "../panel";

export interface Grouping {
  key: string;    // of the page: "ops_kind"
  by: string;     // the word behind --by, and the column of its names: "kind"
}

export const groupings: Grouping[] =
  ["op", "node", "part", "kind", "layer", "rule", "core", "unit"].map((by) => ({ key: `ops_${by}`, by }));

// Of each span the row of the grouping's table; -1: none.
export type RowOfSpan = (span: number, unit: number) => number;

export function rowsOf({ report, data }: Context, grouping: Grouping): RowOfSpan {
  if (grouping.by !== "core" && grouping.by !== "unit") {
    const row = data.column(`op.row_${grouping.by}`);
    const op = data.column("span.op");
    return (span) => (op[span] >= 0 && op[span] < row.length ? row[op[span]] : -1);
  }
  const table = report.pages[grouping.key]?.values.ops;
  const rows = isObject(table) && Array.isArray(table.rows) ? table.rows : [];
  const byName = new Map<string, number>();
  rows.forEach((row, place) => {
    const name = isObject(row) ? row[grouping.by] : null;
    if (typeof name === "string") byName.set(name, place);
  });
  const { units } = data.head;
  const ofUnit = units.map((unit) => {
    if (grouping.by === "unit") return byName.get(unit.path) ?? byName.get(unit.name) ?? -1;
    if (!enginesOfCores.has(unit.engine)) return byName.get(unit.path) ?? -1;
    return byName.get(`device ${unit.device} > core ${unit.core}`) ?? byName.get(`core ${unit.core}`) ?? -1;
  });
  return (_, unit) => ofUnit[unit] ?? -1;
}

// The ops that a row of the table counts.
export function opsByRow({ data }: Context, grouping: Grouping, rows: number): Set<number>[] {
  const ops = Array.from({ length: rows }, () => new Set<number>());
  const row = data.column(`op.row_${grouping.by}`);
  for (let op = 0; op < row.length; ++op) ops[row[op]]?.add(op);
  return ops;
}

const enginesOfCores = new Set(["core", "hvx", "hmx", "dma_issue", "dma", "compute"]);

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
