import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, unitsInRange } from "../../src/units/in_range";
import { contextOf, dataOf, programNames, programOf } from "../support/program";

for (const name of programNames) {
  const program = programOf(name);
  for (const { begin, end, rows, levels } of program.units) {
    test(`${name}: units --from ${begin} --to ${end}`, async () => {
      const { data } = await contextOf(program);
      const found = unitsInRange(data, { begin, end });
      const named = found.units.map(({ unit, busy, dma, sync, barrier }) => ({ unit: data.head.units[unit].path, busy, dma, sync, barrier }));
      const byName = (a: { unit: string }, b: { unit: string }) => (a.unit < b.unit ? -1 : 1);
      assert.deepEqual(named.sort(byName), [...rows].sort(byName));
      for (const { count, time } of levels) if (count > 0) assert.equal(found.levels[count], time, `${count} units`);
      for (const unit of found.units) assert.equal(unit.busy + unit.dma + unit.sync + unit.barrier + unit.idle, end - begin);
      assert.equal(found.levels.reduce((sum, level) => sum + level, 0), end - begin);
    });
  }
}

const unit = (first_span: number, spans: number) => ({ name: "u", path: "u", engine: "host", is_device: true, device: 0, core: 0, parent: -1, first_span, spans });
const kinds = ["op", "sync", "barrier", "dma_wait", "wait"];
const columns = (spans: [kind: string, start: number, duration: number][]) => ({
  "span.kind": spans.map(([kind]) => kinds.indexOf(kind)), "span.start": spans.map(([, start]) => start), "span.duration": spans.map(([, , duration]) => duration), "span.op": spans.map(() => -1),
});

test("a moment in which several wait counts for DMA before sync before barrier, and for work first", () => {
  const data = dataOf({ kinds, units: [unit(0, 4)] }, columns([["op", 0, 10], ["dma_wait", 5, 10], ["sync", 5, 20], ["barrier", 20, 20]]));
  const [{ busy, dma, sync, barrier, idle }] = unitsInRange(data, { begin: 0, end: 50 }).units;
  assert.deepEqual([busy, dma, sync, barrier, idle], [10, 5, 10, 15, 10]);
});

test("a host that waits in the midst of an op does not work meanwhile", () => {
  const data = dataOf({ kinds, units: [unit(0, 3)] }, columns([["op", 0, 100], ["wait", 20, 30], ["op", 30, 5]]));
  const [{ busy, sync }] = unitsInRange(data, { begin: 0, end: 100 }).units;
  assert.deepEqual([busy, sync], [75, 25]);
});

test("a difference is what is left", () => {
  assert.deepEqual(difference([[0, 10], [20, 30]], [[2, 4], [8, 22], [29, 40]]), [[0, 2], [4, 8], [22, 29]]);
  assert.deepEqual(difference([[0, 10]], []), [[0, 10]]);
});
