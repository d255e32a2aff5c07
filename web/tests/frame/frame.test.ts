import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../src/frame/command_line";
import { noteOf } from "../../src/frame/latency_bars";
import { addressOf, idIn } from "../../src/frame/links";
import { moved, tabTitles } from "../../src/frame/tabs";

test("panels of the first profile have their own name, others a number behind it", () => {
  assert.equal(idIn("timeline", 0), "timeline");
  assert.equal(idIn("timeline", 1), "timeline-2");
  assert.deepEqual(addressOf("#timeline-2"), { id: "timeline-2", place: 1, chosen: "" });
  assert.deepEqual(addressOf("#timeline"), { id: "timeline", place: 0, chosen: "" });
  assert.deepEqual(addressOf("#%E0%A4%A"), { id: "", place: 0, chosen: "" });
});

test("arrow keys go round the tabs, Home and End to their ends", () => {
  assert.equal(moved("ArrowRight", 2, 3), 0);
  assert.equal(moved("ArrowLeft", 0, 3), 2);
  assert.equal(moved("Home", 2, 3), 0);
  assert.equal(moved("End", 0, 3), 2);
  assert.equal(moved("a", 0, 3), null);
});

test("a command can be typed as it is shown", () => {
  assert.equal(commandLine(["npuscope", "report", "my run", "it's", "-o", "a/b.html"]), `npuscope report 'my run' 'it'\\''s' -o a/b.html`);
});

test("tabs are called by what sets their profiles apart", () => {
  assert.deepEqual(tabTitles(["/runs/a/chain8 · optrace", "/runs/b/chain8 · optrace"]), ["a/chain8", "b/chain8"]);
  assert.deepEqual(tabTitles(["/runs/a · 1", "/runs/a · 2"]), ["a · 1", "a · 2"]);
  assert.deepEqual(tabTitles(["/runs/a · 1", "/runs/a · 1", "/runs/b"]), ["a · 1 (1)", "a · 1 (2)", "b"]);
  assert.deepEqual(tabTitles(["/runs/a · optrace"]), ["/runs/a"]);
  assert.deepEqual(tabTitles([]), []);
});

test("bars of latency say what the first page says", () => {
  const rows = [{ part: "call", warm: 0.002, cold: 0.003, other: null }, { part: "graph", warm: 0.0005, cold: 0.001, other: null }, { part: "of all", warm: 0.004, cold: null, other: null }];
  assert.deepEqual(rows.map((_, place) => noteOf(rows, place, 0.936)), ["93.6 % outside the NPU", "25.0 % of the call", ""]);
  assert.equal(noteOf(rows, 0, null), "");
});
