// What ops and units are called: by their places in the columns.
//
//   const names = new OpNames(report, data);
//   names.label(3)                          // "MatMul_0"
//   names.opsNamed(new Set(["MatMul_0"]))   // the ops of a row of that name
import type { Data } from "../data/data";
import type { ProfileReport } from "../data/report";
import { find, sectionsOf, text } from "../section/section";

export class OpNames {
  private readonly strings: readonly string[];
  private readonly name: ArrayLike<number>;
  private readonly node: ArrayLike<number>;
  private readonly kind: ArrayLike<number>;
  private readonly row: ArrayLike<number>;
  private readonly engines: ArrayLike<number>;
  private readonly rowNames: string[];

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

  // The hardware that an execution uses: what its op says, else its unit. A DMA op on a lane that is
  // no DMA engine issues a transfer.
  engine(op: number, unit: number): string {
    const lane = this.data.head.units[unit]?.engine ?? "other";
    const used = this.strings[this.engines[op] ?? -1] ?? "";
    if (op < 0 || used === "" || used === "none") return lane;
    return used === "dma" && lane !== "dma" && lane !== "none" ? "dma_issue" : used;
  }

  // Ops of rows of some table, by the names that it has for them.
  opsNamed(names: ReadonlySet<string>): Set<number> {
    const ops = new Set<number>();
    for (let op = 0; op < this.name.length; ++op) if (names.has(this.rowName(op)) || names.has(this.label(op))) ops.add(op);
    return ops;
  }
}
