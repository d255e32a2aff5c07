// An invented run on an invented NPU: units with spans, as many as asked for, the same for the same
// seed. Every unit walks through the ops in order: it waits, runs its part of the op, waits again.
import type { CounterHead, UnitHead } from "../../src/data/report";
import { Random } from "./random";

export interface MachineOptions {
  seed: number;
  cores: number;
  spans: number;  // about so many
  ops: number;
}

export const kinds = ["op", "sync", "barrier", "transfer", "inference", "activation", "host", "dma_wait", "slice"];
const kindOf = (name: string): number => kinds.indexOf(name);

export interface Spans {
  start: Float64Array;
  duration: Float64Array;
  op: Int32Array;
  kind: Int32Array;
  bytes: Float64Array;
  count: number;
}

export interface Machine {
  units: UnitHead[];
  counters: CounterHead[];
  counterTimes: number[];
  counterValues: number[];
  spans: Spans;
  length: number;
}

function emptySpans(capacity: number): Spans {
  return { start: new Float64Array(capacity), duration: new Float64Array(capacity), op: new Int32Array(capacity),
           kind: new Int32Array(capacity), bytes: new Float64Array(capacity), count: 0 };
}

function add(spans: Spans, kind: string, start: number, duration: number, op: number, bytes = 0): void {
  const i = spans.count++;
  spans.start[i] = start;
  spans.duration[i] = duration;
  spans.op[i] = op;
  spans.kind[i] = kindOf(kind);
  spans.bytes[i] = bytes;
}

const engines: [name: string, engine: string][] = [
  ["HVX 0", "hvx"], ["HVX 1", "hvx"], ["HVX 2", "hvx"], ["HVX 3", "hvx"],
  ["HMX", "hmx"], ["DMA issue", "dma_issue"], ["DMA 0", "dma"],
];

function unitOf(name: string, path: string, engine: string, core: number, parent: number): UnitHead {
  return { name, path, engine, is_device: !["host", "process", "thread"].includes(engine), device: 0, core, parent, first_span: 0, spans: 0 };
}

// The host: an inference with phases in it and calls in those, so that slices nest.
function hostSpans(spans: Spans, length: number): void {
  add(spans, "slice", 0, length, -1);
  const phases = 4;
  for (let phase = 0; phase < phases; ++phase) {
    const begin = Math.floor((length * phase) / phases);
    const end = Math.floor((length * (phase + 1)) / phases) - 1;
    add(spans, "slice", begin, end - begin, -1);
    const calls = 3;
    for (let call = 0; call < calls; ++call) {
      const from = begin + Math.floor(((end - begin) * call) / calls);
      add(spans, "slice", from, Math.floor((end - begin) / calls / 2), -1);
    }
  }
}

function engineSpans(spans: Spans, engine: string, count: number, length: number, ops: number, random: Random): void {
  const step = length / count;
  const opAt = (time: number): number => Math.min(ops - 1, Math.floor((time * ops) / length));
  let end = 0;
  for (let i = 0; i + 3 <= count; i += 3) {
    const begin = Math.max(end, Math.floor(i * step));
    const room = Math.max(6, Math.floor(3 * step));
    const op = opAt(begin);
    const wait = 1 + random.below(room / 6);
    const work = 1 + random.below(room / 2);
    if (engine === "dma") {
      add(spans, "transfer", begin, wait + work, op, 64 * (1 + random.below(4096)));
      add(spans, "transfer", begin + wait + work, wait, op, 64);
      end = begin + 2 * wait + work;
    } else {
      add(spans, engine === "dma_issue" ? "dma_wait" : "sync", begin, wait, op);
      add(spans, "op", begin + wait, work, op, engine === "dma_issue" ? 4096 : 0);
      end = begin + wait + work;
      if (engine !== "hmx") {
        const barrier = 1 + random.below(room / 8);
        add(spans, "barrier", end, barrier, op);
        end += barrier;
      }
    }
  }
}

export function makeMachine(options: MachineOptions): Machine {
  const random = new Random(options.seed);
  const lanes = options.cores * engines.length;
  const perLane = Math.floor(options.spans / lanes);
  const length = Math.max(1000, perLane * 40);
  const spans = emptySpans(options.spans + 1000);
  const units: UnitHead[] = [];
  const place = (unit: UnitHead, fill: () => void): void => {
    unit.first_span = spans.count;
    units.push(unit);
    fill();
    unit.spans = spans.count - unit.first_span;
  };
  if (options.spans > 0) place(unitOf("host", "host", "host", 0, -1), () => hostSpans(spans, length));
  const device = units.length;
  if (options.spans > 0) place(unitOf("device 0", "device 0", "device", 0, -1), () => {});
  for (let core = 0; core < options.cores && options.spans > 0; ++core) {
    const parent = units.length;
    place(unitOf(`core ${core}`, `core ${core}`, "core", core, device), () => {});
    for (const [name, engine] of engines) {
      place(unitOf(name, `core ${core} > ${name}`, engine, core, parent),
            () => engineSpans(spans, engine, perLane, length, options.ops, random));
    }
  }
  return { units, spans, length, ...countersOf(options, length, random) };
}

function countersOf(options: MachineOptions, length: number, random: Random): Pick<Machine, "counters" | "counterTimes" | "counterValues"> {
  const counters: CounterHead[] = [];
  const counterTimes: number[] = [];
  const counterValues: number[] = [];
  const samples = 200;
  for (let core = 0; core < options.cores && options.spans > 0; ++core) {
    counters.push({ name: "VTCM in use", part: `core ${core}`, quantity: "bytes", unit: -1,
                    first_sample: counterTimes.length, samples });
    let value = 0;
    for (let i = 0; i < samples; ++i) {
      value = Math.min(8 << 20, Math.max(0, value + (random.below(1 << 20) - (1 << 19))));
      counterTimes.push(Math.floor((length * i) / samples));
      counterValues.push(value);
    }
  }
  return { counters, counterTimes, counterValues };
}
