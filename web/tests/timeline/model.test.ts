import assert from "node:assert/strict";
import { test } from "node:test";
import { ChosenSpans } from "../../src/timeline/chosen";
import { allLanes } from "../../src/timeline/lanes";
import { closedAtFirst, itemAt, layOut, rowAt } from "../../src/timeline/layout";
import { Model } from "../../src/timeline/model";
import { pick } from "../../src/timeline/pick";
import { search } from "../../src/timeline/search";
import { maxByPixel, valueAt, type Series } from "../../src/timeline/series";
import { Timeline } from "../../src/timeline/timeline";
import { show } from "../../src/timeline/show";
import { contextOf, modelOf } from "../support/model";
import { Random } from "../support/random";

const model = modelOf({ spans: 3000, cores: 2 });
const { spans } = model;

test("lanes hold every span once, below their core and device", () => {
  const seen = new Set<number>();
  for (const lane of allLanes(model.lanes)) {
    for (const row of lane.rows) for (let i = 0; i < row.count; ++i) seen.add(row.spanAt(i));
  }
  assert.equal(seen.size, spans.total);
  assert.deepEqual(model.lanes.map((lane) => lane.label), ["device 0", "host"]);
  assert.deepEqual(model.lanes[0].lanes.map((lane) => lane.label), ["core 0", "core 1"]);
  assert.equal(model.lanes[0].lanes[0].lanes.length, 7);
});

test("a unit that is above itself is shown at the root", () => {
  const looped = new Model(contextOf({ spans: 300, cores: 1 }, (data) => data.units[2].parent = 3));
  assert.ok([...allLanes(looped.lanes)].some((lane) => lane.label === "HVX 0"));
});

test("several devices without a unit of their own are groups", () => {
  const cards = new Model(contextOf({ spans: 300, cores: 2 }, (data) => {
    data.units.forEach((unit, i) => {
      unit.parent = -1;
      unit.device = i % 2;
    });
  }));
  assert.deepEqual(cards.lanes.map((lane) => lane.label).sort(), ["device 0", "device 1", "host"]);
});

test("threads stand below a process's device, processes below devices, in their order", () => {
  const mixed = new Model(contextOf({ spans: 300, cores: 1 }, (data) => {
    data.units.forEach((unit, i) => {
      unit.parent = i >= 5 ? 4 : -1;
      unit.engine = ["process", "host", "thread", "core", "process", "thread", "dma", "thread", "compute"][i] ?? "other";
      unit.name = `${unit.engine} ${i}`;
      unit.is_device = !["host", "process", "thread"].includes(unit.engine);
    });
  }));
  const labels = mixed.lanes.map((lane) => lane.label);
  assert.deepEqual(labels, [...labels.filter((label) => /^(core|process 4|dma|compute)/.test(label)), ...labels.filter((label) => /^(process 0|host|thread)/.test(label))]);
  const below = mixed.lanes.find((lane) => lane.label === "process 4")!.lanes.map((lane) => lane.label);
  assert.ok(below.indexOf("dma 6") < below.indexOf("thread 5") && below.indexOf("thread 5") < below.indexOf("thread 7"), below.join());
});

test("a device's queue that is a thread stands before the host's threads", () => {
  const mixed = new Model(contextOf({ spans: 300, cores: 1 }, (data) => data.units.forEach((unit, i) => {
    [unit.parent, unit.engine, unit.name, unit.is_device] = [-1, "thread", `thread ${i}`, i === 5];
  })));
  const labels = mixed.lanes.map((lane) => lane.label);
  assert.deepEqual(labels, ["thread 5", ...labels.slice(1).sort()]);
});

test("items stand below one another and rows within their item", () => {
  const layout = layOut(model.lanes, model.series, new Set());
  layout.items.forEach((item, i) => {
    if (i > 0) assert.ok(item.y >= layout.items[i - 1].y + layout.items[i - 1].height);
    for (const row of item.rows) assert.ok(row.y >= item.y && row.y + row.height <= item.y + item.height);
    assert.equal(itemAt(layout, item.y + 1), item);
    for (const row of item.rows) assert.equal(rowAt(item, row.y), row);
  });
});

test("a closed group shows the rows of what it holds, and less height", () => {
  const open = layOut(model.lanes, [], new Set());
  const closed = layOut(model.lanes, [], new Set(["unit 1"]));
  assert.ok(closed.height < open.height);
  assert.equal(closed.items[0].open, false);
  assert.equal(closed.items[0].rows.length, 14);
});

test("many cores are closed at first, a few are not", () => {
  assert.equal(closedAtFirst(model.lanes, model.series).size, 0);
  const many = modelOf({ spans: 9000, cores: 32 });
  const closed = closedAtFirst(many.lanes, many.series);
  assert.ok(closed.size > 5 && !closed.has("unit 2"));
});

test("the unit of a span is the one that has it", () => {
  const { units } = model.context.data.head;
  units.forEach((unit, place) => {
    if (unit.spans === 0) return;
    for (const span of [unit.first_span, unit.first_span + unit.spans - 1]) assert.equal(model.unitOf(span), place);
  });
  assert.equal(model.unitOf(-1), -1);
  assert.equal(model.unitOf(spans.total), -1);
});

test("what is under a point is the span that is drawn there", () => {
  const layout = layOut(model.lanes, model.series, new Set());
  const view = { ...model.whole, width: 100000 };
  for (const item of layout.items) {
    for (const drawn of item.rows) {
      const place = Math.floor(drawn.row.count / 2);
      const x = ((drawn.row.start[place] + drawn.row.duration[place] / 2) * view.width) / (view.end - view.begin);
      assert.equal(pick(layout, view, x, drawn.y + 1)?.span, drawn.row.spanAt(place));
    }
  }
});

test("search finds by name, kind, node and shape, whatever the case", () => {
  const { data } = model.context;
  const slow = (pattern: RegExp): number[] => Array.from(data.column("op.name"), (_, op) =>
    ["name", "kind", "node", "shape"].some((column) => pattern.test(data.head.strings[data.column(`op.${column}`)[op]])) ? 1 : 0);
  for (const pattern of ["matmul", "layers.3", "^q::add$", "x128", "_1\\d$", "nothing like it"]) {
    const found = search(data, pattern);
    assert.ok(typeof found !== "string");
    assert.deepEqual(Array.from(found.ops), slow(new RegExp(pattern, "i")), pattern);
  }
});

test("a pattern that is not one is answered with a sentence", () => {
  assert.match(String(search(model.context.data, "a(")), /^not a regular expression: .*Unterminated group/);
});

test("matches follow one another in time, all of them, forth and back and round", () => {
  const random = new Random(23);
  const wanted = new Set(Array.from({ length: 50 }, () => random.below(spans.total)));
  const chosen = new ChosenSpans(model.lanes, spans, (span) => wanted.has(span));
  const order = [...wanted].sort((a, b) => spans.start[a] - spans.start[b] || a - b);
  assert.equal(chosen.count, order.length);
  let at = -1;
  let start = -Infinity;
  order.forEach((span, i) => {
    at = chosen.next(spans, at, start);
    start = spans.start[at];
    assert.equal(at, span);
    assert.equal(chosen.indexOf(at, start), i);
  });
  assert.equal(chosen.next(spans, at, start), order[0]);
  for (const span of [...order].reverse().slice(1)) {
    at = chosen.before(spans, at, start);
    start = spans.start[at];
    assert.equal(at, span);
  }
  assert.equal(chosen.before(spans, order[0], spans.start[order[0]]), order[order.length - 1]);
});

test("the max of each pixel of a series is that of the values which hold in it", () => {
  const random = new Random(29);
  const time = Float64Array.from({ length: 300 }, () => random.below(1000)).sort();
  const value = Float64Array.from(time, () => random.below(100));
  const series: Series = { key: "", label: "", title: "", quantity: "", time, value, end: 950, max: 100 };
  for (const [begin, end] of [[0, 1000], [100, 130], [500, 502], [990, 1000]]) {
    const width = 50;
    const perPixel = (end - begin) / width;
    const slow = Float64Array.from({ length: width }, (_, x) => {
      const from = begin + x * perPixel;
      if (from >= series.end) return NaN;
      const held = Array.from(value).filter((_, i) => time[i] < from + perPixel && (time[i + 1] ?? Infinity) > from);
      return held.length === 0 ? NaN : Math.max(...held);
    });
    assert.deepEqual(maxByPixel(series, begin, end, width), slow);
  }
  assert.equal(valueAt(series, time[0] - 1), null);
  assert.equal(valueAt(series, 949), value[time.findLastIndex((one) => one <= 949)]);
});

test("others follow what the timeline shows, and it follows them", () => {
  const context = contextOf({ spans: 3000, cores: 2 });
  const timeline = new Timeline(new Model(context), () => {});
  timeline.width = 1000;
  timeline.zoom(0.5, 500);
  timeline.publish();
  assert.deepEqual(context.store.get().visible, timeline.view);
  context.store.set({ visible: { begin: 10, end: 20 } });
  assert.deepEqual(timeline.view, { begin: 10, end: 20 });
  context.store.set({ visible: null });
  assert.deepEqual(timeline.view, timeline.model.whole);
  show(context.store, { begin: 30, end: 40 });
  assert.deepEqual(context.store.get().visible, { begin: 30, end: 40 });
});

test("fit goes to the selection, then to all; Escape lets go of the span, then of the range", () => {
  const context = contextOf({ spans: 3000, cores: 2 });
  const timeline = new Timeline(new Model(context), () => {});
  timeline.width = 1000;
  timeline.select(100, 150, false);
  assert.equal(context.store.get().range, null, "tables follow when the selection is done");
  timeline.select(100, 200, true);
  const { range } = context.store.get();
  timeline.fit();
  assert.ok(timeline.view.begin <= range!.begin && timeline.view.end >= range!.end && timeline.view.end < timeline.model.whole.end / 2);
  timeline.fit();
  assert.deepEqual(timeline.view, timeline.model.whole);
  timeline.choose(5);
  timeline.clear();
  assert.deepEqual([context.store.get().span, context.store.get().range], [null, range]);
  timeline.clear();
  assert.equal(context.store.get().range, null);
});
