// Reports that the program wrote, and what it answers to what the page computes itself
// (tests/data/program).
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Data } from "../../src/data/data";
import { openBlob } from "../../src/data/decode";
import type { Report } from "../../src/data/report";
import type { Context } from "../../src/panel";
import { Store } from "../../src/state/store";
import { fillTemplate } from "./encode";

export interface WhatIfAnswer {
  pattern: string;
  times: string;
  answer: {
    wall_before: number; wall_after: number; gain: number; taken_off_path: number; wall_if_free: number | null;
    gain_ends_at_speedup: number | null; rows: { op: string; on_path_before: number; on_path_after: number }[];
  };
}

export interface OpsAnswer {
  by: string;
  begin: number;
  end: number;
  rows: { name: string; [key: string]: number | string | null }[];
}

export interface UnitsAnswer {
  begin: number;
  end: number;
  rows: { unit: string; busy: number; dma: number; sync: number; barrier: number }[];
  levels: { count: number; time: number }[];
  overlap: { a: string; b: string; both: number; active_a: number; active_b: number }[];
}

export interface Program {
  report: Report;
  blob: string;
  whatIf: WhatIfAnswer[];
  ops: OpsAnswer[];
  units: UnitsAnswer[];
}

export const programNames = ["qnn_htp", "torq"];

export const programOf = (name: string): Program =>
  JSON.parse(gunzipSync(readFileSync(`tests/data/program/${name}.json.gz`)).toString("utf8")) as Program;

export async function contextOf(program: Program): Promise<Context> {
  const [data] = await openBlob(program.blob);
  return { report: program.report.profiles[0], data, store: new Store() };
}

// Columns without a blob.
export function dataOf(head: Partial<Data["head"]>, columns: { [name: string]: ArrayLike<number> }): Data {
  const full = {
    begin: "0", length: 1000, timeline_begin: 0, timeline_length: 1000, span_total: 0, merged_spans: 0, merge_ticks: 0, flows_left_out: 0,
    strings: [""], kinds: ["op", "sync", "barrier", "transfer", "inference", "async", "instant", "wait"], reasons: ["start", "data", "DMA wait", "unit"],
    units: [], counters: [], bandwidth: null, path_left_out: "", wall: 0, path_begin: 0, columns: [], ...head,
  } as Data["head"];
  return { head: full, column: (name) => Float64Array.from(columns[name] ?? []) };
}

// `template`: built/page.html.
export const programPage = (template: string, { report, blob }: Program): string => fillTemplate(template, report, blob);
