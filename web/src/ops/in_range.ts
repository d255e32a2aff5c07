// The rows of a table of ops, of the spans within a window: what `npuscope ops --by … --from … --to …`
// prints as work, waiting, active and instances. Of several inferences in the window values are
// medians of all but the first, as there.
import type { Data } from "../data/data";
import type { CutSpans } from "./self_times";
import type { RowOfSpan } from "./groups";

export interface RowInRange {
  row: number;                 // of the table
  work: number | null;         // ticks; null: nothing of it worked here
  issue: number | null;
  waiting: number | null;
  async: number | null;
  active: number | null;
  instances: number;           // spans of work; of an inference
}

interface Sums {
  work: number;
  issue: number;
  waiting: number;
  async: number;
  begins: number[];   // of its spans of work
  ends: number[];
  instances: number;
}

interface OfRow {
  known: Known;
  slots: Map<number, Sums>;  // by inference
}

interface Known {
  work: boolean;
  issue: boolean;
  waiting: boolean;
  async: boolean;
}

export function rowsInRange(data: Data, cut: CutSpans, rowOf: RowOfSpan): RowInRange[] {
  const kind = data.column("span.kind");
  const asyncKind = data.head.kinds.indexOf("async");
  const inferences = inferencesOf(data, cut);
  const byRow: (OfRow | undefined)[] = [];
  for (let i = 0; i < cut.count; ++i) {
    const place = cut.place[i];
    const row = rowOf(place, cut.unit[i]);
    if (row < 0) continue;
    const of = (byRow[row] ??= { known: { work: false, issue: false, waiting: false, async: false }, slots: new Map() });
    const slot = inferences.of(place);
    let sums = of.slots.get(slot);
    if (sums === undefined) of.slots.set(slot, (sums = { work: 0, issue: 0, waiting: 0, async: 0, begins: [], ends: [], instances: 0 }));
    const role = cut.roles[kind[place]];
    if (role === "work") {
      sums.work += cut.own[i] - cut.issue[i];
      of.known.work = true;
      sums.begins.push(cut.begin[i]);
      sums.ends.push(cut.end[i]);
      sums.instances += 1;
    } else if (role === "wait") {
      sums.waiting += cut.own[i];
      of.known.waiting = true;
    } else if (kind[place] === asyncKind) {
      sums.async += cut.own[i];
      of.known.async = true;
    }
    if (cut.issue[i] > 0) {
      sums.issue += cut.issue[i];
      of.known.issue = true;
    }
  }
  const rows: RowInRange[] = [];
  byRow.forEach((of, row) => {
    if (of === undefined) return;
    const { known, slots } = of;
    const value = (is: boolean, of: (sums: Sums) => number): number | null => (is ? overInferences(slots, inferences.count, of) : null);
    const active = inferences.count > 1
      ? value(known.work, (sums) => unionLength([sums]))
      : known.work ? unionLength([...slots.values()]) : null;
    rows.push({
      row, active,
      work: value(known.work, (sums) => sums.work),
      issue: value(known.issue, (sums) => sums.issue),
      waiting: value(known.waiting, (sums) => sums.waiting),
      async: value(known.async, (sums) => sums.async),
      instances: instancesOf(slots, inferences.count),
    });
  });
  return rows.sort((a, b) => (b.work ?? 0) - (a.work ?? 0) || (b.waiting ?? 0) - (a.waiting ?? 0) || a.row - b.row);
}

// Time in which any of these ran: what lies between the begins that no end has followed yet.
export function unionLength(all: readonly Pick<Sums, "begins" | "ends">[]): number {
  const sorted = (of: "begins" | "ends"): Float64Array => {
    const times = new Float64Array(all.reduce((sum, each) => sum + each[of].length, 0));
    let at = 0;
    for (const each of all) {
      times.set(each[of], at);
      at += each[of].length;
    }
    return times.sort();
  };
  const begins = sorted("begins");
  const ends = sorted("ends");
  let length = 0;
  let from = 0;
  for (let begun = 0, ended = 0; ended < ends.length; ++ended) {
    while (begun < begins.length && begins[begun] <= ends[ended]) {
      if (begun === ended) from = begins[begun];
      begun += 1;
    }
    if (begun === ended + 1) length += ends[ended] - from;
  }
  return length;
}

const none = 0xffffffff;  // inference of a span that is of none or of all

interface Inferences {
  count: number;
  of: (span: number) => number;  // from 0 on
}

function inferencesOf(data: Data, cut: CutSpans): Inferences {
  const column = data.column("span.inference");
  if (column.length === 0) return { count: 1, of: () => 0 };
  const isOne = (id: number) => id >= 0 && id !== none;
  const ids = new Set<number>();
  for (let i = 0; i < cut.count; ++i) if (isOne(column[cut.place[i]])) ids.add(column[cut.place[i]]);
  if (ids.size < 2) return { count: 1, of: () => 0 };
  const sorted = [...ids].sort((a, b) => a - b);
  const place = new Map(sorted.map((id, at) => [id, at]));
  return { count: sorted.length, of: (span) => place.get(column[span]) ?? sorted.length };
}

function overInferences(slots: Map<number, Sums>, count: number, of: (sums: Sums) => number): number {
  if (count < 2) {
    let sum = 0;
    for (const sums of slots.values()) sum += of(sums);
    return sum;
  }
  const samples: number[] = [];
  for (let inference = 1; inference < count; ++inference) {
    const sums = slots.get(inference);
    samples.push(sums === undefined ? 0 : of(sums));
  }
  return median(samples);
}

function instancesOf(slots: Map<number, Sums>, count: number): number {
  let sum = 0;
  for (const [inference, { instances }] of slots) {
    if (count < 2 || (inference > 0 && inference < count)) sum += instances;
  }
  return count > 1 ? sum / (count - 1) : sum;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const below = Math.floor(middle);
  return sorted[below] + (middle - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}
