// The tab of a fleet's store.
import assert from "node:assert/strict";
import { fleetReport } from "../support/fleet";
import { makePage } from "../support/fixture";
import { artefact, browserTest } from "./harness";

const withFleet = () => {
  const page = makePage({ title: "its median" });
  page.report.fleet = fleetReport();
  return page;
};

browserTest("a fleet is a tab before the profiles", withFleet, async (page) => {
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Fleet", "its median"]);
  assert.equal(await page.locator(".profile:not([hidden]) h1").innerText(), "fleet.db");
  assert.equal(await page.locator(".profile:not([hidden]) .scope").first().innerText(), "runs where soc = 'SM8650'");
  assert.deepEqual(await page.locator("#fleet h2").allInnerTexts(), ["Latency by device", "Latency along build", "What stands out", "Runs", "Not answered"]);
});

browserTest("a fleet's devices are spreads on one scale, its builds a line with its changes", withFleet, async (page) => {
  assert.deepEqual(await page.locator("#fleet-latency .spread-row:not(.spread-scale) .unit-name").allTextContents(), ["pixel-3", "pixel-1", "not known"]);
  assert.deepEqual(await page.locator("#fleet-latency .spread-row:not(.spread-scale) .number").allInnerTexts(), ["3.000 ms", "2.000 ms", "1.800 ms"]);
  const lefts = await page.locator("#fleet-latency .spread-bar").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left));
  assert.ok(lefts[0] > lefts[1] && lefts[1] > lefts[2], lefts.join(" "));
  assert.equal(await page.locator("#fleet-along .trend-point").count(), 3);
  assert.match((await page.locator("#fleet-along .trend-change title").textContent()) ?? "", /^build 11: 2 changed, \(whole inference\), conv_7$/);
  await page.screenshot({ path: artefact("fleet.png"), fullPage: true });
});

browserTest("what a fleet cannot answer is said, and its links stay in its tab", withFleet, async (page) => {
  assert.match(await page.locator("#fleet-missing li").innerText(), /npuscope fleet ops fleet\.db: times of different clocks/);
  await page.locator(".links a:visible", { hasText: "What stands out" }).click();
  await page.waitForFunction(() => location.hash === "#fleet-outliers");
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Fleet");
});

browserTest("a report of a fleet alone has no list of tabs", () => {
  const page = withFleet();
  page.report.profiles = [];
  page.data = [];
  return page;
}, async (page) => {
  assert.equal(await page.getByRole("tab").count(), 0);
  assert.equal(await page.title(), "fleet.db – npuscope");
  assert.equal(await page.locator("#fleet-latency .spread-bar").count(), 3);
});
