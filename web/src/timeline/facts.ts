// What the page says about one span, as pairs of a label and a text: the card under the pointer and
// the details of the chosen one.
import type { ProfileReport } from "../data/report";
import { bytesText, numberText, shareText, shownName, ticksWithUnit } from "../format/format";
import type { Data } from "../data/data";
import type { Spans } from "./spans";

export interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface SpanFacts {
  readonly title: string;
  readonly facts: Fact[];
}

// What a unit waits for in a span of this kind.
const reasons: { [kind: string]: string } = {
  sync: "semaphores, until producers have signalled",
  barrier: "the other threads of the group, or to signal",
  dma_wait: "an asynchronous DMA transfer to land",
  wait: "another unit",
};

const stringOf = (data: Data, column: string, op: number): string => {
  const places = data.column(column);
  return op >= 0 && op < places.length ? data.head.strings[places[op]] ?? "" : "";
};

export const kindName = (kind: string): string => kind.replaceAll("_", " ");

// What stands on the span.
export function nameOf(spans: Spans, span: number): string {
  const name = stringOf(spans.data, "op.name", spans.op[span]);
  return name === "" ? kindName(spans.data.head.kinds[spans.kind[span]] ?? "span") : name;
}

function mergedFacts(spans: Spans, span: number): Fact[] {
  const merged = spans.mergedCount(span);
  if (merged <= 1) return [];
  const share = spans.duration[span] > 0 ? spans.active[span] / spans.duration[span] : 1;
  return [{ label: "merged", text: `${numberText(merged)} spans merged` }, { label: "active", text: `${shareText(share)} of this stretch` }];
}

export function factsOf(report: ProfileReport, spans: Spans, span: number, unit: number, step: string): SpanFacts {
  const { data } = spans;
  const op = spans.op[span];
  const kind = data.head.kinds[spans.kind[span]] ?? "";
  const ticks = (value: number): string => ticksWithUnit(report.clock, value);
  const waitsFor = reasons[kind] ?? "";
  const facts: Fact[] = [
    { label: "kind", text: stringOf(data, "op.kind", op) },
    { label: "node", text: stringOf(data, "op.node", op) },
    { label: "layer", text: stringOf(data, "op.layer", op) },
    { label: "shape", text: stringOf(data, "op.shape", op) },
    { label: "types", text: stringOf(data, "op.types", op) },
    { label: "unit", text: data.head.units[unit]?.path ?? "" },
    { label: "span", text: kindName(kind) },
    { label: "waits for", text: waitsFor },
    { label: "start", text: ticks(spans.start[span]) },
    { label: "duration", text: ticks(spans.duration[span]) },
    { label: "bytes", text: spans.bytes.length > 0 && spans.bytes[span] > 0 ? bytesText(spans.bytes[span]) : "" },
    { label: "inference", text: spans.inference.length > 0 && spans.inference[span] >= 0 ? numberText(spans.inference[span]) : "" },
    { label: "critical path", text: step },
    ...mergedFacts(spans, span),
  ];
  return { title: shownName(nameOf(spans, span), 300),
           facts: facts.filter((fact) => fact.text !== "").map((fact) => ({ label: fact.label, text: shownName(fact.text, 300) })) };
}
