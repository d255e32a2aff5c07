import assert from "node:assert/strict";
import { test } from "node:test";
import { aroundAll, findingsOf, opsIn, summaryOf } from "../../src/findings/findings";
import { contextOf, dataOf, programNames, programOf } from "../support/program";
import type { Values } from "../../src/data/report";

for (const name of programNames) {
  test(`${name}: findings are those of the page, with their evidence`, async () => {
    const { report, data } = await contextOf(programOf(name));
    const findings = findingsOf(report, data);
    const page = report.pages.diagnose.values.findings as Values[];
    assert.deepEqual(findings.map(({ rank, rule, title, gainShare }) => [rank, rule, title, gainShare]),
                     page.map((finding) => [finding.rank, finding.rule, finding.title, finding.call_gain_share ?? finding.gain_share ?? null]));
    findings.forEach((finding, i) => assert.deepEqual(finding.evidence.map((each) => each.value), (page[i].rows as Values[]).map((row) => row.text)));
    assert.equal(findings.reduce((sum, finding) => sum + finding.places.length, 0), data.column("finding.of").length);
  });

  test(`${name}: the places of evidence lie on the timeline, and something ran there`, async () => {
    const { report, data } = await contextOf(programOf(name));
    for (const finding of findingsOf(report, data)) {
      for (const place of finding.places) assert(place.begin <= place.end && place.unit < data.head.units.length);
      if (finding.places.length > 0) assert(aroundAll(finding.places, data.head.length).begin >= 0);
    }
  });
}

test("a bar of a gain is of the warm call by which the finding is ranked, not of the cold wall", async () => {
  const { report, data } = await contextOf(programOf("qnn_htp"));
  const page = report.pages.diagnose.values.findings as Values[];
  const drawn = findingsOf(report, data).filter((_, i) => typeof page[i].call_gain_share === "number");
  assert(drawn.length > 0);
  for (const finding of drawn) assert.equal(finding.gainOf, "a warm call");
});

test("the summary counts the rules", () => {
  const [report] = programOf("qnn_htp").report.profiles;
  const { found, quiet, untried } = report.pages.diagnose.values.summary as { [key: string]: number };
  assert.equal(summaryOf(report).counts, `${found} findings (${found + quiet} rules checked, ${untried} skipped: missing data)`);
});

test("around all places is some of what is beside them, within the timeline", () => {
  assert.deepEqual(aroundAll([{ begin: 100, end: 200 }, { begin: 400, end: 600 }], 620), { begin: 60, end: 620 });
});

test("the ops of places are those that ran there on that unit", () => {
  const unit = (first_span: number, spans: number) => ({ name: "", path: "", engine: "hvx", is_device: true, device: 0, core: 0, parent: -1, first_span, spans });
  const data = dataOf({ units: [unit(0, 2), unit(2, 1)] }, { "span.start": [0, 100, 50], "span.duration": [10, 10, 100], "span.op": [1, 2, 3] });
  assert.deepEqual([...opsIn(data, [{ begin: 5, end: 60, unit: -1 }])], [1, 3]);
  assert.deepEqual([...opsIn(data, [{ begin: 5, end: 60, unit: 0 }])], [1]);
  assert.deepEqual([...opsIn(data, [{ begin: 10, end: 50, unit: -1 }])], []);
});
