import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenIn, fragmentOf } from "../../src/state/fragment";
import { Store, type Chosen } from "../../src/state/store";
import { addressOf, hashOf } from "../../src/frame/links";
import { Random } from "../support/random";

const bounds = { length: 5000, ops: 60, spans: 3000 };
const usual = new Store().get();

test("what is chosen comes back from its address", () => {
  const chosen: Chosen = { range: { begin: 100, end: 900 }, visible: { begin: 0.125, end: 17 }, ops: new Set([3, 5]), finding: null, span: 12, path: false, colour: "part" };
  const text = fragmentOf(chosen);
  assert.equal(text, "view=0.125-17&range=100-900&op=3,5&span=12&colour=part&path=0");
  assert.deepEqual({ ...usual, ...chosenIn(text, bounds) }, chosen);
  assert.deepEqual(addressOf(hashOf("timeline-2", text)), { id: "timeline-2", place: 1, chosen: text });
  assert.equal(fragmentOf(usual), "");
});

test("a finding stands for its ops, with its place or all of them", () => {
  const of = (place: number): Chosen => ({ ...usual, ops: new Set([1]), finding: { of: 1, place } });
  assert.equal(fragmentOf(of(2)), "finding=2.3");
  assert.deepEqual(chosenIn("finding=2.3", bounds), { finding: { of: 1, place: 2 } });
  assert.deepEqual(chosenIn(fragmentOf(of(-1)), bounds), { finding: { of: 1, place: -1 } });
});

test("an address of another file, or by hand, chooses nothing that is not there", () => {
  assert.deepEqual(chosenIn("op=59,60,-1,x&span=3000&range=6000-7000&view=9-3&colour=red&finding=0&constructor=1&=&", bounds),
                   { ops: new Set([59]), span: null, range: null, visible: null, colour: null, finding: null });
  assert.deepEqual(chosenIn("range=4000-9999", bounds), { range: { begin: 4000, end: 5000 } });
  const random = new Random(9);
  for (let round = 0; round < 2000; ++round) {
    const text = Array.from({ length: random.below(30) }, () => "range=view&op,span.-0123456789e".charAt(random.below(31))).join("");
    const { ops, span, range } = chosenIn(text, bounds);
    for (const op of ops ?? []) assert.ok(op >= 0 && op < bounds.ops);
    if (span !== undefined && span !== null) assert.ok(span < bounds.spans);
    if (range !== undefined && range !== null) assert.ok(range.begin >= 0 && range.begin < range.end && range.end <= bounds.length, text);
  }
});
