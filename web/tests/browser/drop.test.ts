// A file that is dropped on the page, or chosen, is shown in place of the page's own profile; a stranger's never runs.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { formatName, version } from "../../src/data/file";
import { encodeBlob } from "../support/encode";
import { makePage, type FixtureOptions } from "../support/fixture";
import { artefact, browserTest, ready } from "./harness";

const textOf = (options: FixtureOptions, change: (page: ReturnType<typeof makePage>) => void = () => {}): string => {
  const page = makePage(options);
  change(page);
  return JSON.stringify({ format: formatName, version, report: page.report, data: encodeBlob(page.data) });
};

async function drop(page: Page, ...files: { name: string; text: string }[]): Promise<void> {
  const transfer = await page.evaluateHandle((all) => {
    const data = new DataTransfer();
    for (const { name, text } of all) data.items.add(new File([text], name));
    return data;
  }, files);
  await page.dispatchEvent("main", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
}

const shown = (page: Page, title: string): Promise<unknown> => page.waitForFunction((text) => document.querySelector(".profile:not([hidden]) h1")?.textContent === text && document.querySelector("#timeline canvas") !== null, title);

browserTest("a dropped profile takes the place of the page's own, and another its", { spans: 3000, cores: 2, title: "own" }, async (page) => {
  await page.locator("#ops tbody tr").first().click();
  await drop(page, { name: "second.json", text: textOf({ spans: 900, cores: 1, title: "second" }) });
  await shown(page, "second");
  assert.match(await page.title(), /^second/);
  assert.equal(await page.locator(".opener-sentence").isVisible(), false);
  assert.equal(await page.locator("#ops tr.selected").count(), 0);
  await page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  const extent = (): Promise<string> => page.locator(".timeline-extent").innerText();
  const before = await extent();
  await page.keyboard.press("w");
  await page.waitForFunction((text) => document.querySelector<HTMLElement>(".timeline-extent")!.innerText !== text, before);
  await page.locator("input[type=file]").setInputFiles({ name: "third.json", mimeType: "application/json", buffer: Buffer.from(textOf({ spans: 600, cores: 1, title: "third" })) });
  await shown(page, "third");
  await drop(page, { name: "a.json", text: textOf({ title: "a", spans: 300 }) }, { name: "b.json", text: textOf({ title: "b", spans: 300 }) });
  await shown(page, "a");
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["a", "b"]);
});

browserTest("what is no report data is refused in a sentence, and the page stays", { spans: 3000, title: "own" }, async (page) => {
  const says = (pattern: RegExp): Promise<void> => page.locator(".opener-sentence", { hasText: pattern }).waitFor();
  await drop(page, { name: "trace.json", text: "{\"traceEvents\": []}" });
  await says(/^trace\.json: not report data of npuscope; npuscope report FILES --report-data writes/);
  await page.screenshot({ path: artefact("drop-refused.png") });
  await drop(page, { name: "new.json", text: textOf({}).replace(`"version":${version}`, "\"version\":99") });
  await says(/^new\.json: report data of version 99/);
  assert.equal(await page.locator("h1").innerText(), "own");
  await page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  const before = await page.locator(".timeline-extent").innerText();
  await page.keyboard.press("w");
  await page.waitForFunction((text) => document.querySelector<HTMLElement>(".timeline-extent")!.innerText !== text, before);
});

const scripts = "<img src=x onerror=\"document.title='x'\"><script>document.title='x'</script>\"'javascript:document.title='x'";

browserTest("a stranger's data are text: no script of theirs runs, nothing is fetched", { spans: 300, title: "own" }, async (page) => {
  const hostile = (value: unknown): unknown => {
    if (typeof value === "string") return `${value}${scripts}`;
    if (Array.isArray(value)) return value.map(hostile);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each)])) : value;
  };
  const keys = new Set(["key", "format", "kind"]);
  const keepKeys = (before: unknown, after: unknown): unknown => {
    if (Array.isArray(before)) return before.map((each, i) => keepKeys(each, (after as unknown[])[i]));
    if (typeof before !== "object" || before === null) return after;
    return Object.fromEntries(Object.entries(before).map(([key, each]) => [key, keys.has(key) ? each : keepKeys(each, (after as { [key: string]: unknown })[key])]));
  };
  const text = textOf({ spans: 2000, rename: (name) => name + scripts }, (made) => {
    made.report = keepKeys(made.report, hostile(made.report)) as typeof made.report;
    for (const data of made.data) {
      data.units = data.units.map((unit) => ({ ...unit, engine: `${unit.engine}${scripts}` }));
      data.kinds = data.kinds.map((kind) => kind + scripts);
      data.reasons = data.reasons.map((reason) => reason + scripts);
    }
  });
  await drop(page, { name: `x${scripts}.json`, text });
  await page.waitForFunction(() => document.querySelector(".profile:not([hidden]) h1")?.textContent?.startsWith("fixture") === true && document.querySelector("#timeline canvas") !== null);
  await page.waitForTimeout(500);
  for (const by of await page.locator(".timeline-legend [data-by]").all()) await by.click();
  assert.notEqual(await page.title(), "x");
  assert.equal(await page.locator("img, iframe, object, embed, main script").count(), 0);
  await drop(page, { name: `y${scripts}.json`, text: "nothing" });
  await page.locator(".opener-sentence", { hasText: "not report data" }).waitFor();
  assert.notEqual(await page.title(), "x");
  await ready(page);
});
