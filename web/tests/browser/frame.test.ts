import assert from "node:assert/strict";
import { comparisonPage } from "../support/comparison";
import { fillPage } from "../support/encode";
import { makePage } from "../support/fixture";
import { artefact, browserTest, htmlOf } from "./harness";

const text = (page: import("playwright-core").Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

browserTest("the head says what was profiled, the latency, the verdict and what to be careful about", { title: "chain8 · invented" }, async (page) => {
  assert.equal(await text(page, "h1"), "chain8 · invented");
  assert.equal(await page.title(), "chain8 · invented – npuscope");
  assert.match(await text(page, ".verdict"), /^98\.5 % of a warm call/);
  assert.match(await text(page, ".cautions"), /^one cold, instrumented inference/);
  assert.match(await text(page, ".latency"), /call\s+2\.439 ms\s+3\.907 ms/);
  await page.locator(".provenance summary").click();
  assert.match(await text(page, ".provenance"), /npuscope report fixture\.json -o report\.html/);
});

browserTest("each profile has a tab, and arrow keys go from one to the next", [{ title: "first" }, { title: "second", seed: 2 }], async (page) => {
  const visible = (): Promise<string> => text(page, ".profile:not([hidden]) h1");
  assert.equal(await visible(), "first");
  await page.getByRole("tab", { name: "second" }).click();
  assert.equal(await visible(), "second");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await visible(), "first");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "first");
  await page.keyboard.press("End");
  assert.equal(await visible(), "second");
  await page.waitForSelector("#timeline-2 canvas");
});

browserTest("an address with the number of a profile opens its tab at that panel", [{ title: "first" }, { title: "second" }], async (page) => {
  assert.equal(await text(page, ".profile:not([hidden]) h1"), "second");
  await page.waitForFunction(() => (document.getElementById("timeline-2")?.getBoundingClientRect().top ?? 1e9) < 500);
}, { hash: "#timeline-2", viewport: { width: 1280, height: 500 } });

browserTest("links of the bar lead to their panels", {}, async (page) => {
  await page.setViewportSize({ width: 1280, height: 400 });
  await page.locator(".links a", { hasText: "Timeline" }).click();
  await page.waitForFunction(() => document.getElementById("timeline")!.getBoundingClientRect().top < 120);
});

browserTest("a comparison is the first tab", () => {
  const page = makePage({ title: "before" }, { title: "after" });
  page.report.comparison = { command: "npuscope diff before after", scope: null, values: {}, layout: [] };
  return page;
}, async (page) => {
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Comparison", "before", "after"]);
  assert.equal(await text(page, ".profile:not([hidden]) h1"), "Comparison");
});

const twoRunsCompared = (): ReturnType<typeof makePage> => {
  const page = makePage({ title: "before" }, { title: "after" });
  page.report.comparison = comparisonPage();
  return page;
};

browserTest("links of a comparison led to the first profile", twoRunsCompared, async (page) => {
  await page.locator(".links a:visible", { hasText: "Ops" }).click();
  await page.waitForFunction(() => location.hash === "#comparison-ops");
  assert.equal(await text(page, ".profile:not([hidden]) h1"), "A: a · B: b");
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Comparison", "A: a", "B: b"]);
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Comparison");
});

browserTest("a profile without spans is a page that says so", { spans: 0, ops: 0 }, async (page) => {
  assert.equal(await text(page, "#timeline .sentence"), "No spans were recorded.");
});

browserTest("a report without a profile is a page that says so", () => {
  const page = makePage();
  page.report.profiles = [];
  page.data = [];
  return page;
}, async (page) => {
  assert.match(await text(page, "main"), /The report has no profile\./);
});

const blob = /(id="npuscope-data">)[^<]*/;

browserTest("damaged data are a sentence below the head", () => htmlOf(makePage({ spans: 300 })).replace(blob, "$1H4sIAAAA"), async (page) => {
  assert.equal(await text(page, "h1"), "fixture: an invented run");
  assert.match(await text(page, ".panels [role=alert]"), /^The data of this page are damaged \(.*\): write the report again\.$/);
});

browserTest("a report that is no JSON is a sentence", () => fillPage(htmlOf(makePage({ spans: 300 })).replace(/(id="npuscope-report">)[^<]*/, "$1{"), makePage()), async (page) => {
  assert.equal(await text(page, "main .sentence"), "The data of this page are damaged (they are not a report): write the report again.");
});

const scripts = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`;
const hostile = (name: string): string => `${name}${scripts}\u202e\u0000\u0007\n\u2028${"<!--"}`;

browserTest("hostile names are text", { spans: 2000, cores: 1, rename: hostile }, async (page) => {
  assert.equal(await page.locator("img").count(), 0);
  assert.match(await text(page, "h1"), /<script>alert\(1\)<\/script><img src=x onerror=alert\(2\)>\\u202e\\x00\\x07\\x0a/);
  await page.locator(".timeline-lanes").hover({ position: { x: 300, y: 110 } });
  assert.match(await text(page, ".timeline-card"), /alert\(1\)/);
  await page.locator(".timeline-lanes").click({ position: { x: 300, y: 110 } });
  assert.match(await text(page, ".timeline-details"), /alert\(1\)/);
});

browserTest("names of 100 kB cost neither space nor time", { spans: 2000, cores: 2, rename: (name) => name + "x".repeat(100_000) }, async (page) => {
  assert.ok((await text(page, "h1")).length < 400);
  await page.locator(".timeline-lanes").hover({ position: { x: 300, y: 110 } });
  assert.ok((await text(page, ".timeline-card")).length < 4000);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
});

browserTest("places that lead nowhere are drawn as nothing", () => {
  const page = makePage({ spans: 2000, cores: 1 });
  for (const column of page.data[0].columns) {
    if (/^(span\.(op|kind)|op\.(name|kind|node|shape|types|layer)|flow\.|step\.(span|op|unit|reason))/.test(column.name)) {
      column.values = Array.from(column.values, (value, i) => (i % 3 === 0 ? 1e9 : i % 3 === 1 ? -7 : value));
    }
  }
  return page;
}, async (page) => {
  assert.equal(await page.locator("#timeline").locator(".error").count(), 0);
  const lanes = page.locator(".timeline-lanes");
  for (let y = 5; y < 300; y += 9) await lanes.hover({ position: { x: 200 + y, y } });
  await lanes.click({ position: { x: 300, y: 110 } });
  await page.locator(".timeline-search").fill("mat");
  await page.keyboard.press("Enter");
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 800]) {
    browserTest(`a picture at ${width} px, ${colorScheme}`, { spans: 4000 }, async (page) => {
      await page.screenshot({ path: artefact(`frame-${width}-${colorScheme}.png`) });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    }, { colorScheme, viewport: { width, height: 800 } });
  }
}

browserTest("printing shows the head and the timeline, not the bar", { spans: 3000 }, async (page) => {
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".bar").isVisible(), false);
  assert.equal(await page.locator(".timeline-lanes").isVisible(), true);
  await page.pdf({ path: artefact("print.pdf") });
});
