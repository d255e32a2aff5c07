import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, colouringBy, hues, usualChoice } from "../../src/timeline/colouring";
import { usedBy } from "../../src/timeline/legend";
import { allLanes } from "../../src/timeline/lanes";
import { coloursOf, pixelOf, tonesOfGroup, type Rgb } from "../../src/timeline/palette";
import { looks, Spans, wait, work } from "../../src/timeline/spans";
import { contextOf as fixture, dataOf, modelOf } from "../support/model";
import { contextOf, programNames, programOf } from "../support/program";
import { Model } from "../../src/timeline/model";

test("an op has the colours of the engine that it uses, a wait is lighter than work", () => {
  const data = dataOf([
    { name: "span.start", values: [0, 1, 2, 3] }, { name: "span.duration", values: [1, 1, 1, 1] }, { name: "span.op", values: [0, 1, 1, -1] },
    { name: "span.kind", values: [0, 0, 1, 0] }, { name: "op.name", values: [0, 0] }, { name: "op.kind", values: [0, 0] }, { name: "op.engine", values: [0, 1] }],
    ["op", "sync"], ["", "dma_issue"]);
  const colouring = colouringBy({ ...fixture({}), data }, new Spans(data), [], "engine");
  const rgbOf = (name: string): Rgb => (name === "engine-hmx" ? [200, 60, 0] : name === "engine-dma_issue" ? [140, 90, 180] : [0, 0, 0]);
  const pixels = colouring.groups.flatMap((group) => Array.from(coloursOf(rgbOf(group.colour), [128, 128, 128], [255, 255, 255]).pixels));
  const colour = (span: number): number => pixels[colouring.tone(span, colouring.laneGroup("hmx", 0))];
  assert.equal(colour(0), pixelOf([200, 60, 0]));
  assert.equal(colour(1), pixelOf([140, 90, 180]));
  assert.ok((colour(2) & 255) > 200);
  assert.equal(colour(3), colour(0));
});

for (const name of programNames) {
  test(`${name}: each op is in one group, that of its row, and the first rows have colours of their own`, async () => {
    const context = await contextOf(programOf(name));
    const model = new Model(context);
    for (const by of choicesOf(context)) {
      if (by === "engine" || by === "unit") continue;
      const { groups } = colouringBy(context, model.spans, model.lanes, by);
      assert.ok(groups.length <= hues + 1);
      assert.equal(new Set(groups.map((group) => group.colour)).size, groups.length);
      const all = groups.flatMap((group) => [...group.ops]);
      assert.equal(new Set(all).size, all.length);
      assert.equal(all.length, context.data.column("op.name").length);
      const row = context.data.column(by === "part" ? "op.row_model_part" : `op.row_${by}`);
      for (const group of groups.slice(0, -1)) assert.equal(new Set([...group.ops].map((op) => row[op])).size, 1, group.label);
    }
  });
}

test("lanes have one colour each only when colours stand for units", () => {
  const model = modelOf({ cores: 2 });
  const tonesOf = (by: "op" | "unit"): Set<number>[] => {
    const colouring = colouringBy(model.context, model.spans, model.lanes, by);
    return [...allLanes(model.lanes)].filter((lane) => lane.rows.length > 0).map((lane) => {
      const group = colouring.laneGroup(lane.engine, lane.unit);
      return new Set(lane.rows.flatMap((row) => Array.from({ length: row.count }, (_, i) => Math.floor(colouring.tone(row.spanAt(i), group) / tonesOfGroup))));
    });
  };
  assert.ok(tonesOf("unit").every((groups) => groups.size === 1));
  assert.ok(tonesOf("op").some((groups) => groups.size > 3));
});

test("the legend has the groups that are drawn, work and waits", () => {
  const model = modelOf({ cores: 1 });
  const colouring = colouringBy(model.context, model.spans, model.lanes, "engine");
  const used = usedBy(colouring, model.lanes);
  const drawn = (name: string, look: number): boolean => used[colouring.groups.findIndex((group) => group.colour === `engine-${name}`) * looks + look] === 1;
  assert.ok(drawn("hvx", work) && drawn("hmx", work) && drawn("hvx", wait));
  assert.ok(!drawn("communication", work) && !drawn("communication", wait));
});

test("ops are the usual choice where nine of them are most of the time", () => {
  assert.equal(usualChoice(fixture({ ops: 8 })), "op");
  assert.equal(usualChoice(fixture({ ops: 600 })), "kind");
});
