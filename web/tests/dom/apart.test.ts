import assert from "node:assert/strict";
import { test } from "node:test";
import { apart } from "../../src/dom/apart";
import { Random } from "../support/random";

test("the word that tells names apart stands alone", () => {
  assert.deepEqual(apart(["VTCM read bytes", "VTCM write bytes"]), [["VTCM ", "read", " bytes"], ["VTCM ", "write", " bytes"]]);
  assert.deepEqual(apart(["thread 1457 (a)", "thread 1838 (b)"]), [["thread ", "1457", " (a)"], ["thread ", "1838", " (b)"]]);
  assert.deepEqual(apart(["core 0 > HVX", "core 0 > HVX 1"]), [["core 0 > ", "HVX", ""], ["core 0 > HVX ", "1", ""]]);
  assert.deepEqual(apart(["alone"]), [["", "alone", ""]]);
  assert.deepEqual(apart(["same", "same", ""]), [["", "same", ""], ["", "same", ""], ["", "", ""]]);
});

test("parts add up to the name, and different names have different begins up to the key", () => {
  const random = new Random(3);
  for (let round = 0; round < 200; ++round) {
    const names = Array.from({ length: 2 + random.below(8) }, () => Array.from({ length: 1 + random.below(10) }, () => "ab /"[random.below(4)]).join(""));
    const parts = apart(names);
    parts.forEach(([before, key, behind], i) => assert.equal(before + key + behind, names[i]));
    names.forEach((name, i) => {
      const told = parts[i][0] + parts[i][1];
      for (const other of names) if (other !== name && other.startsWith(told)) assert.ok(told === name, `"${told}" of "${name}" is the begin of "${other}", too`);
    });
  }
});
