// What a report holds, as `npuscope report` writes it into the page: the JSON of
// <script id="npuscope-report"> (docs/schema/report.schema.json) and the columns of
// <script id="npuscope-data">, each as gzip in base64 (decode.ts). A page of many spans has them once more in
// <script id="npuscope-coarse">, merged to few: the first picture is of these.
//
// Times are ticks of the profile's base clock. In columns they count from `begin` of their profile,
// so that they are exact numbers of JavaScript; in pages they are as every command prints them.

export type Scalar = string | number | boolean | null | string[] | number[];

export type Format =
  | "name" | "names" | "numbers" | "truth" | "count" | "number" | "exact" | "ticks" | "seconds"
  | "bytes" | "bytes_per_second" | "hertz" | "share" | "change" | "bar";

// How one value of a page is called and read. `clock`: which of the profile's clocks its ticks are
// of; none: the base clock.
export interface Field {
  key: string;
  label: string;  // empty: not shown
  format: Format;
  clock?: number;
  only_if_known?: boolean;  // a column that is left out when no row has a value
}

// How a section of a page is shown. Its values are in the page under `key`: facts under their own
// keys, rows of the table under "rows", remarks under "remarks", parts under their keys. Of sections
// `in_list` the page has an array under `key`, and the layout one entry for each element.
export interface Layout {
  key: string;
  title: string;
  facts: Field[];
  fields: Field[];  // of the table's rows; empty: no table
  parts: Layout[];
  in_list?: boolean;
}

export type Values = { [key: string]: Scalar | Values | Values[] };

// A page: what the command of that name prints as JSON of this profile, and how it is shown.
export interface Page {
  command: string;  // "npuscope ops --by kind", as it can be typed for the same numbers
  scope: string | null;  // which inferences the numbers are of: "all 3 inferences together"; null: there is one
  values: Values;
  layout: Layout[];
}

export interface Clock {
  name: string;
  kind: "wall" | "timer" | "unit_cycles";
  unit: string;          // "cycles", "ns"
  hertz: number | null;  // null: no time can be derived from it
}

export interface Note {
  severity: "info" | "warning" | "error";
  file: string;
  offset: number;
  count: number;
  message: string;
}

export interface ProfileReport {
  title: string;     // what was profiled, a line
  files: string[];
  format: string;
  clock: Clock;      // the base clock
  clocks: Clock[];   // all, as Field.clock counts them
  partial: boolean;  // records that the files held are missing
  scope: string | null;      // which inferences the timeline is of
  selection: string | null;  // which part of the profile; null: all
  verdict: string;   // the first page's sentence
  cautions: string[];
  // Keys of pages: "show", "diagnose", "units", "path", "memory", "graph", and for the groupings of ops
  // "ops_op", "ops_node", "ops_part", "ops_kind", "ops_layer", "ops_rule", "ops_core", "ops_unit". One that the profile cannot
  // have is missing; `missing_pages` says why, by key.
  pages: { [key: string]: Page };
  missing_pages: { [key: string]: string };
  notes: Note[];
}

// The tab of a fleet's store.
export interface FleetReport {
  store: string;
  where: string | null;  // which runs, as SQL; null: all
  pages: Page[];         // of `npuscope fleet ls`, `latency`, `outliers`, …, in this order
  missing: { command: string; why: string }[];
}

export interface Report {
  schema_version: number;
  npuscope: string;
  command: "report";
  arguments: string[];  // the command line that made the page
  profiles: ProfileReport[];
  comparison: Page | null;  // of `npuscope report --a … --b …`: what `npuscope diff` prints
  fleet: FleetReport | null;  // of `npuscope report fleet.db`
  notes: Note[];
}

// The head of the columns, by profile in the order of Report.profiles.
export interface DataHead {
  profiles: ProfileDataHead[];
}

export interface UnitHead {
  name: string;    // "DMA 1"
  path: string;    // "core 0 > DMA 1"
  engine: string;  // "hvx", "hmx", "dma", "dma_issue", "core", "device", "host", "process", "thread", "compute", "communication", "other", "none"
  is_device: boolean;  // no process and no thread, or one that has work of a device
  device: number;
  core: number;
  parent: number;  // place in units; -1: none
  first_span: number;  // its spans are first_span … first_span + spans - 1 of the span columns
  spans: number;
}

export interface CounterHead {
  name: string;
  part: string;
  quantity: string;  // "bytes", ""
  unit: number;      // place in units; -1: of the whole profile
  first_sample: number;
  samples: number;
}

export interface ProfileDataHead {
  coarse?: boolean;  // spans are merged so far that they are quickly read, and edges, flows and path are missing
  begin: string;     // of the timeline, in ticks, as text: it may be beyond 2^53
  length: number;    // ticks, with counters
  timeline_begin: number;   // of the spans, ticks since begin: shown at first
  timeline_length: number;
  span_total: number;      // spans of the profile
  merged_spans: number;    // of those, how many are part of a merged one; 0: nothing is left out
  merge_ticks: number;     // shorter ones, closer together than this, were merged; 0: none were
  strings: string[];       // names in columns are places in it; the first is ""
  kinds: string[];         // span kinds by number: "op", "sync", "barrier", "transfer", …
  reasons: string[];       // of the critical path's steps and links: "data", "memory reuse", …
  units: UnitHead[];
  counters: CounterHead[];
  flows_left_out: number;  // 0: none
  // Bytes in buckets of `width` ticks from bandwidth.begin (ticks since begin) on, by route ("DDR read", …); null: not known.
  bandwidth: { begin: number; width: number; routes: { name: string; bytes: number[] }[] } | null;
  path_left_out: string;  // why there is no what-if; empty: there is
  wall: number;           // of the critical path's inference, ticks
  path_begin: number;     // of it, ticks since begin
  columns: ColumnHead[];
}

// Columns, by name. Spans lie by unit, then start, the longer first.
//   span.start, span.duration   ticks
//   span.op                     place in the op columns; -1: none
//   span.kind                   place in kinds
//   span.inference              which one; missing when the profile does not say
//   span.count                  spans that were merged into it; 1: it is one
//   span.active                 ticks during which one of them ran: its duration unless merged
//   span.bytes                  bytes that it moves; missing when no span has any
//   op.name, op.kind, op.node, op.shape, op.types, op.layer   places in strings; ("" is unknown)
//   op.engine                   the same, as UnitHead.engine has it: what the op uses; may be missing
//   op.row_op, op.row_node, op.row_part, op.row_kind, op.row_layer, op.row_rule   the row of page "ops_…" that counts it;
//                               -1: none (its row was not kept)
//   op.row_model_part           the row of section "model_parts" of page "show"; missing where it has none; -1: "other"
//   edge.from, edge.to          places in the op columns
//   edge.kind                   0 data, 1 reuse, 2 flow, 3 transfer, 4 order
//   flow.from, flow.to          places in the span columns
//   counter.time, counter.value the samples of all series, one after the other
//   step.span                   of the observed critical path, its place in the span columns; -1: merged
//   step.op, step.unit          places; -1: none
//   step.start, step.duration, step.gap   ticks; start since begin
//   step.reason                 place in reasons
//   finding.of, finding.unit, finding.begin, finding.end   where evidence lies: row of page
//                               "diagnose", unit (-1: any), ticks since begin
// The graph that what-if runs on (path.ts), a node a row, each behind what holds it back:
//   node.kind                   0 execution, 1 mark, 2 landing, 3 run begin, 4 run end
//   node.op, node.unit          places; -1: none
//   node.row                    order of its span in the profile: breaks ties
//   node.start, node.end        ticks since path_begin
//   node.delay                  ticks
//   node.unit_before            the node before it on its unit; -1: none
//   node.unit_latency           ticks behind that one
//   node.links                  how many links it has; they follow one another in the link columns
//   link.from                   node; -1: none
//   link.reason                 place in reasons
//   link.latency                ticks behind the end of `from`
//   link.part                   -1: it lets go at the end of `from`; else after so many ticks of it
export interface ColumnHead {
  name: string;
  // varint: LEB128 of the zigzag of each value, or with `delta` of its difference from the value
  // before. planes: the lowest byte of each zigzag, then the second byte of each, …. f64: 8 bytes each, little-endian.
  encoding: "varint" | "planes" | "f64";
  delta: boolean;
  after?: string;  // with delta: from the value before and that of this column before, the end of a span
  count: number;
  offset: number;  // in the bytes behind the head
  bytes: number;
}
