import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { partsOfPieces, piecesOfPath } from "../../src/path/in_range";
import { observedPath } from "../../src/path/observed";
import { partsOf } from "../../src/path/parts";
import { Random } from "../support/random";
import { contextOf, programNames, programOf } from "../support/program";

const step = (start: number, duration: number, gap: number, op = 0) => ({ node: -1, op, unit: 0, start, duration, gap, reason: 1 });

test("steps and the waits before them are cut to the range", () => {
  const pieces = piecesOfPath([step(10, 20, 10), step(40, 10, 10), step(60, 5, 10)], { begin: 5, end: 45 });
  assert.deepEqual(pieces.map(({ place, start, duration, gap }) => [place, start, duration, gap]), [[0, 5, 20, 5], [1, 35, 5, 10]]);
  assert.deepEqual(piecesOfPath([step(10, 20, 0)], { begin: 30, end: 99 }), []);
});

for (const name of programNames) {
  test(`${name}: a range of the whole path has the parts of npuscope path`, async () => {
    const { report, data } = await contextOf(programOf(name));
    const names = new OpNames(report, data);
    const { wall, reasons } = data.head;
    const steps = observedPath(data);
    const pieces = piecesOfPath(steps, { begin: 0, end: wall });
    const mine = partsOfPieces(pieces, wall, (each) => names.engineOfSpan(steps[each.place].span, each.op, each.unit), (each) => reasons[each.reason] ?? "");
    const work = (parts: { label: string; ticks: number }[]) => new Map(parts.filter(({ label }) => label.startsWith("work")).map(({ label, ticks }) => [label, ticks]));
    assert.deepEqual(work(mine), work(partsOf(report)));
    assert.equal(mine.reduce((sum, part) => sum + part.ticks, 0), wall);
  });

  test(`${name}: the parts of neighbouring ranges add up`, async () => {
    const { data } = await contextOf(programOf(name));
    const steps = observedPath(data);
    const random = new Random(7);
    const sum = (begin: number, end: number) => piecesOfPath(steps, { begin, end }).reduce((all, piece) => all + piece.duration + piece.gap, 0);
    for (let i = 0; i < 200; ++i) {
      const [a, b, c] = [0, 0, 0].map(() => random.below(data.head.wall)).sort((x, y) => x - y);
      assert.equal(sum(a, b) + sum(b, c), sum(a, c));
    }
  });
}
