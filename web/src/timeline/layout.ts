// What stands where: groups, lanes and series from top to bottom, as the reader has opened them.
import type { Lane } from "./lanes";
import type { Row } from "./row";
import type { Series, SeriesGroup } from "./series";

export interface DrawnRow {
  readonly row: Row;
  readonly engine: string;
  readonly unit: number;
  readonly y: number;
  readonly height: number;
}

export interface Item {
  readonly key: string;
  readonly label: string;
  readonly depth: number;
  readonly open: boolean | null;  // null: nothing to open
  readonly engine: string;        // "" of series
  readonly y: number;
  readonly height: number;
  readonly rows: DrawnRow[];
  readonly series: Series | null;
}

export interface Layout {
  readonly items: Item[];
  readonly height: number;
}

const gap = 3;
const thin = 3;        // of rows of a closed group
const headHeight = 20;
const seriesHeight = 40;

// Rows of one lane: as high as text needs, lower where there are many.
const rowHeight = (rows: number): number => (rows <= 8 ? 17 : rows <= 16 ? 10 : 5);

function rowsBelow(lane: Lane): { row: Row; lane: Lane }[] {
  return [...lane.rows.map((row) => ({ row, lane })), ...lane.lanes.flatMap(rowsBelow)];
}

class Builder {
  readonly items: Item[] = [];
  y = 0;

  constructor(private readonly closed: ReadonlySet<string>) {}

  add(item: Omit<Item, "y" | "rows">, rows: { row: Row; lane: Lane; height: number }[]): void {
    let y = this.y + (item.height - rows.reduce((sum, one) => sum + one.height, 0)) / 2;
    const drawn = rows.map(({ row, lane, height }) => {
      const out = { row, engine: lane.engine, unit: lane.unit, y: Math.round(y), height };
      y += height;
      return out;
    });
    this.items.push({ ...item, y: this.y, rows: drawn });
    this.y += item.height + gap;
  }

  lane(lane: Lane, depth: number): void {
    const open = lane.lanes.length === 0 ? null : !this.closed.has(lane.key);
    const own = open === false ? rowsBelow(lane).map((one) => ({ ...one, height: thin }))
                               : lane.rows.map((row) => ({ row, lane, height: rowHeight(lane.rows.length) }));
    const height = Math.max(headHeight, own.reduce((sum, one) => sum + one.height, 2));
    this.add({ key: lane.key, label: lane.label, depth, open, engine: lane.engine, height, series: null }, own);
    if (open === true) for (const below of lane.lanes) this.lane(below, depth + 1);
  }

  group(group: SeriesGroup): void {
    const open = !this.closed.has(group.key);
    this.add({ key: group.key, label: group.label, depth: 0, open, engine: "", height: headHeight, series: null }, []);
    if (!open) return;
    for (const series of group.series) {
      this.add({ key: series.key, label: series.label, depth: 1, open: null, engine: "", height: seriesHeight, series }, []);
    }
  }
}

export function layOut(lanes: readonly Lane[], groups: readonly SeriesGroup[], closed: ReadonlySet<string>): Layout {
  const builder = new Builder(closed);
  for (const lane of lanes) builder.lane(lane, 0);
  for (const group of groups) builder.group(group);
  return { items: builder.items, height: builder.y };
}

// Of sorted things with y and height, the places first … last - 1 that are seen.
export function seen<T extends { y: number; height: number }>(things: readonly T[], top: number, bottom: number): T[] {
  return things.filter((thing) => thing.y < bottom && thing.y + thing.height > top);
}

export function itemAt(layout: Layout, y: number): Item | null {
  return layout.items.find((item) => y >= item.y - gap / 2 && y < item.y + item.height + gap / 2) ?? null;
}

export function rowAt(item: Item, y: number): DrawnRow | null {
  return item.rows.find((row) => y >= row.y && y < row.y + row.height) ?? null;
}

// What to close at first: what would make the timeline longer than a few screens.
export function closedAtFirst(lanes: readonly Lane[], groups: readonly SeriesGroup[]): Set<string> {
  const closed = new Set<string>();
  const maxRowsOpen = 120;
  const maxSeriesOpen = 8;
  for (const group of groups) if (group.series.length > maxSeriesOpen) closed.add(group.key);
  let rows = lanes.reduce((sum, lane) => sum + rowsBelow(lane).length, 0);
  // Innermost groups from the last one on; the first stays open as an example.
  const groupsOf = (lane: Lane): Lane[] => [...lane.lanes.flatMap(groupsOf), ...(lane.lanes.length > 0 ? [lane] : [])];
  const innermost = lanes.flatMap(groupsOf).filter((lane) => lane.lanes.every((below) => below.lanes.length === 0));
  for (const lane of innermost.slice(1).reverse()) {
    if (rows <= maxRowsOpen) break;
    closed.add(lane.key);
    rows -= rowsBelow(lane).length;
  }
  return closed;
}
