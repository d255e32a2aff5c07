import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf, pathOf } from "../../src/graph/layers";
import { OpEdges } from "../../src/graph/neighbourhood";
import { unitByOp, workByOp } from "../../src/graph/work";
import { contextOf, dataOf, programOf } from "../support/program";

const graphOf = (ops: number, ...edges: [number, number, number?][]) => new OpEdges(dataOf({}, {
  "op.name": new Array<number>(ops).fill(0), "edge.from": edges.map((edge) => edge[0]), "edge.to": edges.map((edge) => edge[1]), "edge.kind": edges.map((edge) => edge[2] ?? 0),
}));
const chain = () => graphOf(6, [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]);

test("goes both ways, so many edges away", () => {
  assert.deepEqual(chain().around(2, 1, 9).ops, [2, 1, 3]);
  assert.deepEqual(chain().around(2, 2, 9).ops, [2, 1, 3, 0, 4]);
  assert.equal(chain().around(2, 2, 9).edges.length, 4);
});

test("near ops come before far ones, and what is left out is counted", () => {
  const { ops, leftOut } = chain().around(2, 3, 3);
  assert.deepEqual([ops, leftOut], [[2, 1, 3], 2]);
});

test("edges between shown ops are there once", () => {
  const found = graphOf(3, [0, 1], [0, 1], [1, 2], [0, 2]).around(0, 1, 9);
  assert.deepEqual(found.edges.map(({ from, to }) => [from, to]), [[0, 1], [0, 2], [1, 2]]);
});

test("false dependencies count at the op itself; between others they are counted, or drawn on request", () => {
  const graph = graphOf(5, [0, 1], [1, 2], [1, 3, 1], [2, 3, 4], [3, 4, 1]);
  const found = graph.around(1, 2, 9);
  assert.deepEqual([found.ops, found.falseOthers], [[1, 0, 2, 3], 1]);
  assert.deepEqual(found.edges.map((edge) => `${edge.from} ${edge.to} ${edge.kind}`).sort(), ["0 1 data", "1 2 data", "1 3 reuse"]);
  assert.equal(graph.around(1, 2, 9, true).edges.length, found.edges.length + 1);
});

test("an op that edges do not know is alone, a circle ends", () => {
  assert.deepEqual(graphOf(2).around(1, 3, 9), { ops: [1], edges: [], leftOut: 0, falseOthers: 0 });
  assert.deepEqual(graphOf(3, [0, 1], [1, 2], [2, 0], [1, 1]).around(0, 3, 9).ops.length, 3);
});

test("edges to ops that do not exist hold nothing up", () => {
  assert.deepEqual(graphOf(2, [0, 7], [-1, 1], [0, 1]).around(0, 1, 9).ops.includes(1), true);
});

test("layers go down along edges", () => {
  const found = chain().around(0, 3, 9);
  const { boxes, lines, width, height } = layersOf(found);
  const y = (op: number) => boxes.find((box) => box.op === op)!.y;
  assert(y(0) < y(1) && y(1) < y(2) && y(2) < y(3));
  assert(width > 0 && height > y(3) && lines.every((line) => line.points.length > 1));
});

test("lines begin and end at their points", () => {
  assert.equal(pathOf([{ x: 0, y: 1 }, { x: 2, y: 3 }]), "M0.0 1.0L2.0 3.0");
  assert.equal(pathOf([{ x: 0, y: 0 }, { x: 4, y: 4 }, { x: 8, y: 0 }]), "M0.0 0.0Q4.0 4.0 8.0 0.0");
  assert.equal(pathOf([]), "");
});

test("work and unit of an op are of its spans of work", () => {
  const unit = (engine: string, first_span: number, spans: number) => ({ name: "", path: "", engine, is_device: true, device: 0, core: 0, parent: -1, first_span, spans });
  const data = dataOf({ units: [unit("hvx", 0, 2), unit("hmx", 2, 1)] }, { "op.name": [0, 0], "span.op": [0, 1, 0], "span.kind": [0, 1, 0], "span.duration": [5, 7, 11], "span.start": [0, 5, 0] });
  assert.deepEqual([Array.from(workByOp(data)), Array.from(unitByOp(data))], [[16, 0], [0, -1]]);
});

test("every op of the program's graph has a neighbourhood that can be drawn", async () => {
  const { data } = await contextOf(programOf("qnn_htp"));
  const edges = new OpEdges(data);
  const ops = data.column("op.name").length;
  for (let op = 0; op < ops; op += 7) assert.equal(layersOf(edges.around(op, 2, 40)).boxes[0].op, op);
});
