// What the colours of spans mean, as the reader chooses: the ops, kinds or parts of the model that
// take most of the time, engines, or units. A span's tone is its group's colour (palette.ts), pale
// where it waits, grey where it frames others.
//
//   const colouring = colouringBy(context, spans, lanes, "kind");
//   colouring.groups[0]                                  { label: "Conv2d", colour: "hue-1", ops: … }
//   colouring.tone(span, colouring.laneGroup("hvx", 3))  place in the palette of these groups
import type { Column } from "../data/data";
import { engineName } from "../format/engines";
import type { Context } from "../panel";
import { find, sectionsOf, text } from "../section/section";
import type { By } from "../state/store";
import { allLanes, type Lane } from "./lanes";
import { shades, tonesOfGroup } from "./palette";
import { engineOf, engines, type Spans } from "./spans";

export const hues = 9;  // src/style/colours.css has as many

export interface Group {
  readonly label: string;
  readonly colour: string;           // of the style: "hue-1", "engine-hvx"
  readonly ops: ReadonlySet<number>; // empty: its spans are of no op
}

export class Colouring {
  constructor(readonly by: By, readonly groups: readonly Group[], private readonly spans: Spans,
              private readonly groupOfOp: Int16Array,  // -1: its lane's
              private readonly shadeOfOp: Uint8Array,
              readonly laneGroup: (engine: string, unit: number) => number) {}

  // Place in a palette, of a span in a lane whose group is `lane`.
  tone(span: number, lane: number): number {
    const op = this.spans.op[span];
    const look = this.spans.look(span) * shades;
    if (op < 0) return lane * tonesOfGroup + look;
    const group = this.groupOfOp[op];
    return (group < 0 ? lane : group) * tonesOfGroup + look + this.shadeOfOp[op];
  }
}

interface Source {
  page: string;     // with the names of groups
  section: string;
  name: string;     // column of the page
  column: string;   // of ops: their row
}

const sources: { [by in "op" | "kind" | "part"]: Source } = {
  op: { page: "ops_op", section: "ops", name: "op", column: "op.row_op" },
  kind: { page: "ops_kind", section: "ops", name: "kind", column: "op.row_kind" },
  part: { page: "show", section: "model_parts", name: "part", column: "op.row_model_part" },
};

function rowsOf({ report }: Context, { page, section, name }: Source): string[] {
  const found = report.pages[page] === undefined ? null : find(sectionsOf(report.pages[page]), section);
  return (found?.rows ?? []).map((row) => text(row[name]));
}

const isGrouped = (by: By): by is "op" | "kind" | "part" => by in sources;

// The first rows of the page that have ops get a colour each.
function colouredRows(context: Context, by: "op" | "kind" | "part"): { shown: number[]; names: string[]; opsOfRow: Set<number>[]; row: Column } {
  const row = context.data.column(sources[by].column);
  const names = rowsOf(context, sources[by]);
  const opsOfRow = names.map(() => new Set<number>());
  for (let op = 0; op < row.length; ++op) opsOfRow[row[op]]?.add(op);
  return { shown: [...names.keys()].filter((place) => opsOfRow[place].size > 0 && names[place] !== "other").slice(0, hues), names, opsOfRow, row };
}

// Of the rows of the table of ops by a word, those that have a colour on the timeline when it is coloured by that word.
export const coloursOfRows = (context: Context, by: string): Map<number, string> =>
  new Map(by !== "op" && by !== "kind" ? [] : colouredRows(context, by).shown.map((place, i) => [place, `hue-${i + 1}`]));

// All other rows have one together.
function byRows(context: Context, spans: Spans, by: "op" | "kind" | "part"): Colouring {
  const { shown, names, opsOfRow, row } = colouredRows(context, by);
  const groups = shown.map((place, i): Group => ({ label: names[place], colour: `hue-${i + 1}`, ops: opsOfRow[place] }));
  const count = context.data.column("op.name").length;
  const groupOfOp = new Int16Array(count).fill(groups.length);
  groups.forEach(({ ops }, group) => ops.forEach((op) => groupOfOp[op] = group));
  const others = new Set<number>();
  for (let op = 0; op < count; ++op) if (groupOfOp[op] === groups.length) others.add(op);
  const shadeOfOp = Uint8Array.from({ length: count }, (_, op) => (others.has(op) ? Math.max(0, row[op] ?? 0) % shades : 0));
  return new Colouring(by, [...groups, { label: "others", colour: "hue-other", ops: others }], spans, groupOfOp, shadeOfOp, () => groups.length);
}

// Neighbours of different kinds are told apart by shades of their engine's colour.
function byEngine({ data }: Context, spans: Spans): Colouring {
  const kinds = data.column("op.kind");
  const used = data.column("op.engine");
  const groupOfOp = new Int16Array(kinds.length).fill(-1);
  const ops = engines.map(() => new Set<number>());
  // On the HTP the lane HMX issues DMA as well: an op has the colour of what it uses.
  used.forEach((place, op) => {
    const name = data.head.strings[place] ?? "";
    if (op >= kinds.length || name === "" || name === "none") return;
    groupOfOp[op] = engineOf(name);
    ops[groupOfOp[op]].add(op);
  });
  const groups = engines.map((name, place): Group => ({ label: engineName(name), colour: `engine-${name}`, ops: ops[place] }));
  return new Colouring("engine", groups, spans, groupOfOp, Uint8Array.from(kinds, (kind) => kind % shades), engineOf);
}

function byUnit(context: Context, spans: Spans, lanes: readonly Lane[]): Colouring {
  const units = [...allLanes(lanes)].filter((lane) => lane.rows.length > 0).map((lane) => lane.unit);
  const place = new Map(units.map((unit, i) => [unit, i % hues]));
  const groups = Array.from({ length: hues }, (_, i): Group => ({ label: "", colour: `hue-${i + 1}`, ops: new Set() }));
  const none = new Int16Array(context.data.column("op.name").length).fill(-1);
  return new Colouring("unit", groups, spans, none, new Uint8Array(none.length), (_, unit) => place.get(unit) ?? 0);
}

export function colouringBy(context: Context, spans: Spans, lanes: readonly Lane[], by: By): Colouring {
  if (isGrouped(by)) return byRows(context, spans, by);
  return by === "engine" ? byEngine(context, spans) : byUnit(context, spans, lanes);
}

// Those that tell anything apart, in the order of their buttons.
export const choicesOf = (context: Context): By[] =>
  (["op", "kind", "part", "engine", "unit"] as const).filter((by) =>
    !isGrouped(by) || (rowsOf(context, sources[by]).length > 1 && context.data.column(sources[by].column).some((row) => row >= 0)));

// The ops, where their first colours are for most of the time; else their kinds.
export function usualChoice(context: Context): By {
  const choices = choicesOf(context);
  const covered = (by: "op" | "kind"): number => {
    const rows = (find(sectionsOf(context.report.pages[sources[by].page]), "ops")?.rows ?? []).map((row) => Number(row.work ?? 0));
    const sum = (values: number[]): number => values.reduce((all, value) => all + value, 0);
    return sum(rows.slice(0, hues)) / Math.max(1e-9, sum(rows));
  };
  const enough = 0.75;
  if (!choices.includes("op") || !choices.includes("kind")) return choices[0];
  return covered("op") >= Math.min(enough, covered("kind")) ? "op" : "kind";
}
