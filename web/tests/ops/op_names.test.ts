import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { dataOf, programOf } from "../support/program";

const [report] = programOf("qnn_htp").report.profiles;
const unit = (engine: string) => ({ name: engine, path: `core 0 > ${engine}`, engine, is_device: true, device: 0, core: 0, parent: -1, first_span: 0, spans: 0 });
const data = (columns: { [name: string]: number[] }) => dataOf({ strings: ["", "MatMul_0", "q::Conv", "node_0", "hvx", "dma", "none"], units: [unit("hmx"), unit("dma")] }, columns);

test("an op is called by its node, else by its name", () => {
  const names = new OpNames({ ...report, pages: {} }, data({ "op.name": [1, 1, 0], "op.node": [3, 0, 0], "op.kind": [2, 2, 0] }));
  assert.deepEqual([names.label(0), names.label(1), names.label(2), names.label(-1), names.kindOf(0), names.unit(1)],
                   ["node_0", "MatMul_0", "(no name)", "(no op)", "q::Conv", "core 0 > dma"]);
  assert.deepEqual([...names.opsNamed(new Set(["node_0"]))], [0]);
});

test("an execution is of the engine that its op uses, else of its unit's", () => {
  const names = new OpNames({ ...report, pages: {} }, data({ "op.name": [1, 1, 1, 1], "op.engine": [4, 5, 6, 0] }));
  assert.deepEqual([names.engine(0, 0, "op"), names.engine(1, 0, "op"), names.engine(1, 1, "op"), names.engine(2, 0, "op"), names.engine(3, 0, "op"), names.engine(-1, 1, "op")],
                   ["hvx", "dma_issue", "dma", "hmx", "hmx", "dma"]);
});

test("without a column of engines the unit says it", () => {
  assert.equal(new OpNames({ ...report, pages: {} }, data({ "op.name": [1] })).engine(0, 0, "op"), "hmx");
});

// On the path of a Torq run transfers were called issues of transfers, and streams of an accelerator threads.
test("a transfer is of the DMA wherever it runs, and a kernel on a thread's lane computes", () => {
  const made = dataOf({ strings: ["", "copy", "dma"], kinds: ["op", "transfer", "kernel"],
                        units: [{ ...unit("core"), spans: 1 }, { ...unit("thread"), first_span: 1, spans: 1 }] },
                      { "op.name": [1, 1], "op.engine": [2, 0], "span.op": [0, 1], "span.kind": [1, 2] });
  const names = new OpNames({ ...report, pages: {} }, made);
  assert.deepEqual([names.engine(0, 0, "transfer"), names.engine(0, 0, "op"), names.engine(1, 1, "kernel"), names.engine(1, 0, "kernel"), names.engine(1, 1, "op")],
                   ["dma", "dma_issue", "compute", "core", "thread"]);
  assert.deepEqual([names.engineOfSpan(0, 0, 0), names.engineOfSpan(-1, 0, 0), names.engineOfSpan(-1, 1, 1)], ["dma", "dma", "compute"]);
});
