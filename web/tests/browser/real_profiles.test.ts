// Pages of profiles as people have them: every panel opens, its figures are the program's, and what
// a reader does with the mouse and the keys works.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import type { Report, Values } from "../../src/data/report";
import { reportIn } from "../support/encode";
import { answerOf, pageOf, program, realProfiles } from "../support/real_profiles";
import { artefact, open, ready, skip } from "./harness";

const root = mkdtempSync(join(tmpdir(), "npuscope-real-"));
after(() => rmSync(root, { recursive: true, force: true }));

const noProgram = existsSync(program) ? false : `no program at ${program}: set NPUSCOPE_PROGRAM`;


const frames = (page: Page): Promise<unknown> => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// What the program prints on the profile's first page is what the report holds; notes stand apart.
function sameFigures(report: Report, said: Values): void {
  const inPage = report.profiles[0].pages.show.values;
  const keys = ["latency", "wall", "phases", "findings", "ops", "kinds", "units", "engines", "overlap", "numbers_of_run"].filter((key) => said[key] !== undefined);
  for (const key of keys) assert.deepEqual(inPage[key], said[key], key);
  assert.ok(keys.includes("wall") && keys.includes("units"), keys.join());
}

// Of a unit with several rows the swatch stood in their middle, far below the name.
async function swatchesAreBesideTheirNames(page: Page): Promise<void> {
  const offsets = await page.locator(".timeline-label:has(.swatch)").evaluateAll((labels) => labels.map((label) =>
    label.querySelector(".swatch")!.getBoundingClientRect().top - label.querySelector(".timeline-name")!.getBoundingClientRect().top));
  assert.deepEqual(offsets.filter((offset) => Math.abs(offset) > 12), []);
}

async function useTimeline(page: Page): Promise<void> {
  const canvas = page.locator("#timeline canvas").first();
  if (await canvas.count() === 0) return;
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox())!;
  const extent = (): Promise<string> => page.locator(".timeline-extent").innerText();
  const before = await extent();
  await page.mouse.move(box.x + box.width / 2, box.y + Math.min(60, box.height / 2));
  await page.keyboard.down("Control");
  for (let i = 0; i < 4; ++i) await page.mouse.wheel(0, -240);
  await page.keyboard.up("Control");
  await page.waitForFunction((whole) => document.querySelector<HTMLElement>(".timeline-extent")!.innerText !== whole, before);
  const found = page.locator(".timeline-found");
  const says = (pattern: string): Promise<unknown> =>
    page.waitForFunction((expected) => new RegExp(expected).test(document.querySelector<HTMLElement>(".timeline-found")!.innerText), pattern);
  await page.keyboard.press("/");
  await page.keyboard.type(".");
  await says("^(1|[\\d,]+) match(es)?$");
  await page.keyboard.press("Enter");
  await says("^[\\d,]+ of [\\d,]+ matches$");
  await page.keyboard.press("Escape");
  await frames(page);
  assert.equal(await found.innerText(), "");
}

for (const [place, profile] of realProfiles.entries()) {
  test(`the page of a real profile: ${profile.name}`, { skip: skip || noProgram || profile.missing || false }, async () => {
    const folder = mkdtempSync(join(root, `${place}-`));
    const files = profile.files(folder);
    const html = pageOf(files, folder);
    const { page, faults } = await open(html);
    try {
      await ready(page);
      const report = reportIn(html);
      const said = answerOf(["show", "--top", "0"], files);
      if (profile.isEmpty === true) {
        assert.deepEqual(report.profiles[0].pages.show.values["findings"], said["findings"]);
        assert.equal(await page.locator("#timeline .sentence").innerText(), "No spans were recorded.");
      } else {
        sameFigures(report, said);
      }
      assert.equal(report.profiles[0].scope, said["scope"]);
      if (report.profiles[0].scope !== null) assert.ok((await page.locator(".head .scope").innerText()).includes(report.profiles[0].scope));
      assert.ok(await page.locator("main section, [role=tabpanel] section").count() >= 2, "panels");
      await page.screenshot({ path: artefact(`real-${place}.png`), fullPage: true });
      await swatchesAreBesideTheirNames(page);
      await useTimeline(page);
      const row = page.locator("#ops tbody tr:not(.spacer)").first();
      if (await row.count() > 0) await row.click();
      for (const button of await page.locator("#findings .show-me:visible").all()) await button.click();
      await frames(page);
      await page.emulateMedia({ colorScheme: "dark" });
      await frames(page);
      await page.screenshot({ path: artefact(`real-${place}-dark.png`) });
      assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
      assert.equal(await page.evaluate(() => document.title === "x"), false);
      assert.deepEqual(faults, []);
    } finally {
      await page.context().close();
    }
  });
}
