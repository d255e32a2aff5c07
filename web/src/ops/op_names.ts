// What ops and units are called: by their places in the columns.
//
//   const names = new OpNames(report, data);
//   names.label(3)                          // "MatMul_0"
//   names.opsNamed(new Set(["MatMul_0"]))   // the ops of a row of that name
import type { Data } from "../data/data";
import type { ProfileReport } from "../data/report";
import { find, sectionsOf, text } from "../section/section";

const enginesOfKinds: ReadonlyMap<string, string> = new Map([
  ["kernel", "compute"], ["copy", "dma"], ["communication", "communication"], ["host", "host"], ["runtime_call", "host"], ["runtime call", "host"],
]);

export class OpNames {
  private readonly strings: readonly string[];
  private readonly name: ArrayLike<number>;
  private readonly node: ArrayLike<number>;
  private readonly kind: ArrayLike<number>;
  private readonly row: ArrayLike<number>;
  private readonly engines: ArrayLike<number>;
  private readonly rowNames: string[];
  private first: Map<number, number> | null = null;  // span of each op on each unit

  constructor(report: ProfileReport, private readonly data: Data) {
    this.strings = data.head.strings;
    this.name = data.column("op.name");
    this.node = data.column("op.node");
    this.kind = data.column("op.kind");
    this.row = data.column("op.row_op");
    this.engines = data.column("op.engine");
    const page = report.pages.ops_op;
    this.rowNames = page === undefined ? [] : (find(sectionsOf(page), "ops")?.rows ?? []).map((row) => text(row.op));
  }

  // The model's operator where it is part of one, else its own name.
  label(op: number): string {
    if (op < 0) return "(no op)";
    return this.strings[this.node[op] ?? 0] || this.strings[this.name[op] ?? 0] || "(no name)";
  }

  kindOf(op: number): string {
    return op < 0 ? "" : (this.strings[this.kind[op] ?? 0] ?? "");
  }

  // Its row of the table of ops: the same operator of repeated layers is one.
  rowName(op: number): string {
    return (op >= 0 && op < this.row.length ? this.rowNames[this.row[op]] : undefined) ?? this.label(op);
  }

  unit(unit: number): string {
    return this.data.head.units[unit]?.path ?? "";
  }

  // The hardware that a span uses: what its op says, else its kind or its unit (engine_of() of
  // include/npuscope/analysis/timeline.hpp). A DMA op on a lane that is no DMA engine issues a transfer.
  engine(op: number, unit: number, kind: string): string {
    const lane = this.data.head.units[unit]?.engine ?? "none";
    const used = op < 0 ? "" : (this.strings[this.engines[op] ?? -1] ?? "");
    if (used === "" || used === "none") {
      const isNamed = !["none", "process", "thread", "other"].includes(lane);
      return isNamed ? lane : (enginesOfKinds.get(kind) ?? lane);
    }
    return used === "dma" && lane !== "dma" && lane !== "none" && kind !== "transfer" ? "dma_issue" : used;
  }

  // Of a span by its place; -1, of one that was merged: of its op's first span on the unit.
  engineOfSpan(span: number, op: number, unit: number): string {
    const place = span >= 0 ? span : this.firstSpan(op, unit);
    return this.engine(op, unit, this.data.head.kinds[this.data.column("span.kind")[place] ?? -1] ?? "");
  }

  private firstSpan(op: number, unit: number): number {
    const ops = this.data.column("span.op");
    const size = this.name.length + 1;
    if (this.first === null) {
      this.first = new Map();
      for (const [place, { first_span: begin, spans }] of this.data.head.units.entries()) {
        for (let i = begin; i < begin + spans; ++i) {
          const key = place * size + ops[i] + 1;
          if (!this.first.has(key)) this.first.set(key, i);
        }
      }
    }
    return this.first.get(unit * size + op + 1) ?? -1;
  }

  // Ops of rows of some table, by the names that it has for them.
  opsNamed(names: ReadonlySet<string>): Set<number> {
    const ops = new Set<number>();
    for (let op = 0; op < this.name.length; ++op) if (names.has(this.rowName(op)) || names.has(this.label(op))) ops.add(op);
    return ops;
  }
}
