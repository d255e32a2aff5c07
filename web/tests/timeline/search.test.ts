import assert from "node:assert/strict";
import { test } from "node:test";
import { OpNames } from "../../src/ops/op_names";
import { search } from "../../src/timeline/search";
import { contextOf, programNames, programOf } from "../support/program";

// The text that the program wrote first was never found: its place stood for "unknown".
for (const name of programNames) {
  test(`${name}: every op with a name is found by it`, async () => {
    const { report, data } = await contextOf(programOf(name));
    assert.equal(data.head.strings[0], "");
    const names = new OpNames(report, data);
    const found = search(data, ".");
    assert(typeof found !== "string");
    assert.ok(found.ops.length > 0);
    found.ops.forEach((is, op) => assert.equal(is === 1, names.label(op) !== "(no name)" || names.kindOf(op) !== "", names.label(op)));
  });
}
