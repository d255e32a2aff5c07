// The observed critical path, as the timeline asks for it.
import type { Data } from "../data/data";
import { ticksWithUnit } from "../format/format";
import type { ProfileReport } from "../data/report";
import type { Column } from "./times";

export class Steps {
  readonly span: Column;
  readonly unit: Column;
  readonly start: Column;
  readonly duration: Column;
  readonly gap: Column;
  readonly reason: Column;
  private readonly bySpan = new Map<number, number>();

  constructor(private readonly data: Data) {
    const column = (name: string): Column => data.column(`step.${name}`);
    this.span = column("span");
    this.unit = column("unit");
    this.start = column("start");
    this.duration = column("duration");
    this.gap = column("gap");
    this.reason = column("reason");
    for (let i = 0; i < this.span.length; ++i) if (this.span[i] >= 0) this.bySpan.set(this.span[i], i);
  }

  get count(): number {
    return this.start.length;
  }

  // "step 3 of 14, 120 cycles after the step before (data)"; empty: not on the path.
  text(report: ProfileReport, span: number): string {
    const step = this.bySpan.get(span);
    if (step === undefined) return "";
    const reason = this.data.head.reasons[this.reason[step]] ?? "";
    const gap = this.gap[step] > 0 ? `, ${ticksWithUnit(report.clock, this.gap[step])} after the step before` : "";
    return `step ${step + 1} of ${this.count}${gap}${reason === "" ? "" : ` (${reason})`}`;
  }
}
