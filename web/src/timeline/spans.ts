// The span columns of a profile, with what the timeline asks of them most.
import type { Data } from "../data/data";
import type { Column } from "./times";

// What a span is to the eye.
export const work = 0;
export const wait = 1;
export const frame = 2;  // holds other spans, or names a stretch of time: never work
export const looks = 3;

export const engines = ["none", "device", "core", "hvx", "hmx", "dma_issue", "dma", "host", "process", "thread", "compute", "communication", "other"];

// Place in engines; "other" where it is none of them.
export const engineOf = (name: string): number => {
  const place = engines.indexOf(name);
  return place < 0 ? engines.length - 1 : place;
};

const waits = new Set(["sync", "barrier", "dma_wait", "wait"]);
const frames = new Set(["inference", "activation", "annotation", "profiler"]);

export const lookOfKind = (kind: string): number => (waits.has(kind) ? wait : frames.has(kind) ? frame : work);

export class Spans {
  readonly start: Column;
  readonly duration: Column;
  readonly active: Column;
  readonly op: Column;
  readonly kind: Column;
  readonly count: Column;  // may be empty: each is one
  readonly bytes: Column;  // may be empty
  readonly inference: Column;  // may be empty
  private readonly lookOf: Uint8Array;   // by kind

  constructor(readonly data: Data) {
    this.start = data.column("span.start");
    this.duration = data.column("span.duration");
    const active = data.column("span.active");
    this.active = active.length === this.start.length ? active : this.duration;
    this.op = data.column("span.op");
    this.kind = data.column("span.kind");
    this.count = data.column("span.count");
    this.bytes = data.column("span.bytes");
    this.inference = data.column("span.inference");
    this.lookOf = Uint8Array.from(data.head.kinds, lookOfKind);
  }

  get total(): number {
    return this.start.length;
  }

  look(span: number): number {
    return this.lookOf[this.kind[span]];
  }

  // That its op uses; empty: not known.
  engineOf(span: number): string {
    const op = this.op[span];
    return op < 0 ? "" : this.data.head.strings[this.data.column("op.engine")[op]] ?? "";
  }

  mergedCount(span: number): number {
    return this.count.length > 0 ? this.count[span] : 1;
  }
}
