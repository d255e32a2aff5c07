import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { Values } from "../../src/data/report";
import { valueText } from "../../src/format/format";
import { groupings } from "../../src/ops/groups";
import { find, heading, saysSomething, sectionsOf, shownFields, type Section } from "../../src/section/section";
import { commonPrefix } from "../../src/table/model";
import { comparisonPage } from "../support/comparison";
import { makePage } from "../support/fixture";
import { programOf, programPage, type Program } from "../support/program";
import { artefact, browserTest } from "./harness";

const template = readFileSync("built/page.html", "utf8");
const program = programOf("qnn_htp");
const [report] = program.report.profiles;

const htmlOf = (of: Program): string => programPage(template, of);

const frames = (page: Page): Promise<unknown> => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const extent = async (page: Page): Promise<number> => {
  await frames(page);
  return Number((await page.locator(".timeline-extent").innerText()).replace(/,/g, "").replace(/ cycles?$/, ""));
};
const all = (page: Page, selector: string): Promise<string[]> => page.locator(selector).evaluateAll((found) => found.map((each) => each.textContent ?? ""));

// The texts of a table's cells, row by row; those of a long one while it is scrolled.
const cellsOf = (page: Page, table: string): Promise<string[][]> => page.locator(`${table} tbody tr:not(.spacer)`)
  .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));

function expected(section: Section): string[][] {
  const fields = shownFields(section);
  const prefixes = new Map(fields.filter((field) => field.format === "name").map((field) => [field.key, commonPrefix(section.rows.map((row) => row[field.key]))]));
  return section.rows.map((row) => fields.map((field) => {
    const text = valueText(field, row[field.key], report);
    const prefix = prefixes.get(field.key) ?? "";
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }));
}

browserTest("figures of every section are those of the page's JSON", htmlOf(program), async (page) => {
  let tables = 0;
  for (const [panel, key] of [["units", "units"], ["memory", "memory"], ["path", "path"], ["graph", "graph"]]) {
    for (const section of sectionsOf(report.pages[key])) {
      const drawn = `#${panel} [data-section="${section.key}"]`;
      if (!saysSomething(section) || await page.locator(drawn).count() === 0) continue;
      const facts = section.facts.filter(({ field, value }) => field.label !== "" && field.key !== "" && value !== null);
      const shown = await page.locator(`${drawn} > .fact-list dd`).allTextContents();
      facts.forEach(({ field, value }, i) => assert.ok(shown[i].startsWith(valueText(field, value, report)), `${key}.${section.key}: ${field.key}`));
      if (section.rows.length === 0 || section.rows.length > 150) continue;
      assert.deepEqual(await cellsOf(page, `${drawn} > .table`), expected(section), `${key}.${section.key}`);
      tables += 1;
    }
  }
  assert.ok(tables >= 8, String(tables));
});

for (const grouping of groupings) {
  browserTest(`ops by ${grouping.by} are those of the page's JSON`, htmlOf(program), async (page) => {
    await page.locator(`#ops button[data-by="${grouping.by}"]`).click();
    const section = find(sectionsOf(report.pages[grouping.key]), "ops")!;
    assert.deepEqual(await cellsOf(page, "#ops .table"), expected(section));
  });
}

browserTest("the wall is the page's", htmlOf(program), async (page) => {
  const rows = find(sectionsOf(report.pages.show), "wall")!.rows;
  assert.deepEqual(await page.locator("#wall .legend").first().locator(".legend-share").allTextContents(), rows.map((row) => valueText({ format: "share" }, row.share_of_wall, report)));
  assert.deepEqual(await page.locator("#wall .legend").first().locator(".legend-value").allTextContents(), rows.map((row) => valueText({ format: "ticks" }, row.ticks, report)));
});

browserTest("findings are cards, and show me takes the timeline to their evidence", htmlOf(program), async (page) => {
  const findings = report.pages.diagnose.values.findings as Values[];
  assert.deepEqual(await all(page, "#findings .card h3"), findings.map((finding) => finding.title));
  const whole = await extent(page);
  const button = page.locator("#findings .show-me").first();
  await button.click();
  await page.waitForFunction(() => Math.abs(document.querySelector("#timeline")!.getBoundingClientRect().top) < 300);
  const places = findings.findIndex((finding) => ((finding.places as Values | undefined)?.rows as Values[] | undefined ?? []).length > 0);
  assert.ok(places >= 0);
  assert.ok(await extent(page) <= whole);
  assert.ok(await page.locator("#ops tr.selected").count() > 0, "its ops are marked in the table");
  const one = page.locator("#findings button", { hasText: "one by one" }).first();
  await one.click();
  assert.ok(await extent(page) < whole);
});

browserTest("a row of ops highlights its ops, and lets go of them", htmlOf(program), async (page) => {
  const row = page.locator("#ops tbody tr").first();
  await row.click();
  assert.equal(await row.getAttribute("aria-selected"), "true");
  await row.click();
  assert.equal(await page.locator("#ops tr.selected").count(), 0);
});

browserTest("a table is sorted by its heads, filtered, and walked through by keyboard", htmlOf(program), async (page) => {
  const work = page.locator("#ops thead th", { hasText: /^work/ });
  const column = await work.evaluate((head) => [...head.parentElement!.children].indexOf(head));
  const values = async (): Promise<number[]> => (await cellsOf(page, "#ops .table")).map((cells) => Number(cells[column].replace(/,/g, "") || -1));
  await work.locator("button").click();
  assert.equal(await work.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await values(), [...await values()].sort((a, b) => b - a));
  await page.locator("#ops .table-filter").fill("(");
  assert.match(await page.locator("#ops .table-count").innerText(), /^not a regular expression/);
  await page.locator("#ops .table-filter").fill("n[12]");
  const rows = await page.locator("#ops tbody tr").count();
  assert.match(await page.locator("#ops .table-count").innerText(), new RegExp(`^${rows} of `));
  await page.locator("#ops tbody tr").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#ops tbody tr").nth(1).getAttribute("aria-selected"), "true");
});

browserTest("a span that is clicked on the timeline is marked in the ops, and drawn in the graph", htmlOf(program), async (page) => {
  await page.locator(".timeline-lanes").scrollIntoViewIfNeeded();
  const box = (await page.locator(".timeline-lanes").boundingBox())!;
  for (let y = 10; y < box.height && await page.locator("#ops tr.selected").count() === 0; y += 10) await page.mouse.click(box.x + box.width / 2, box.y + y);
  assert.ok(await page.locator("#ops tr.selected").count() > 0);
  assert.equal(await page.locator("#graph .op.chosen").count(), 1);
});

browserTest("a table is copied as CSV", htmlOf(program), async (page) => {
  const button = page.locator("#ops button", { hasText: "copy as CSV" });
  await button.click();
  await page.locator("#ops button", { hasText: /^copied$/ }).waitFor();
});

browserTest("a range of the timeline is what the ops are of", htmlOf(program), async (page) => {
  await page.locator(".timeline-axis").scrollIntoViewIfNeeded();
  const box = (await page.locator(".timeline-axis").boundingBox())!;
  await page.mouse.move(box.x + 200, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector<HTMLElement>("#ops .range-note")?.hidden === false);
  assert.match(await page.locator("#ops .range-note").innerText(), /^Selected range: [\d,]+ to [\d,]+ \([\d,]+ cycles\)/);
  assert.equal(await page.locator("#ops .choice .scope").innerText(), "");
  const command = await page.locator("#ops .command code").innerText();
  assert.match(command, /--by op --from \d+ticks --to \d+ticks$/);
  await page.waitForFunction(() => document.querySelector("#units h3")?.textContent === "Utilisation, of range");
  assert.ok(await page.locator("#path .range-note").isVisible());
  const parts = await page.locator("#path h3").allInnerTexts();
  assert.ok(parts.includes("Parts of the path, of the selected range"), parts.join());
  assert.match(await page.locator("#path .strip-canvas").first().getAttribute("aria-label") ?? "", /^path: [\d,]+ steps/);
  assert.ok((await page.locator("#memory .traffic + *, #memory .traffic .remark").first().innerText()).includes("the selected range"));
  const drawn = await page.locator("#memory .table tbody tr:not(.spacer)").count();
  await page.locator("#graph .op.chosen").waitFor();
  assert.match(await page.locator("#graph p[role=status]").innerText(), /faded: did not run in the selected range/);
  assert.equal(await page.locator("#graph .op.chosen.faded").count(), 0);
  await page.locator("#units").screenshot({ path: artefact("units_of_a_range.png") });
  await page.locator("#ops .range-note button").click();
  await page.waitForFunction(() => document.querySelector<HTMLElement>("#ops .range-note")?.hidden === true);
  await page.waitForFunction(() => document.querySelector("#units h3")?.textContent === "Utilisation, of wall");
  assert.ok(!await page.locator("#path .range-note").isVisible());
  assert.ok((await page.locator("#path h3").allInnerTexts()).includes("Parts of the path, of wall"));
  assert.ok(await page.locator("#memory .table tbody tr:not(.spacer)").count() >= drawn);
  assert.equal(await page.locator("#graph .op.faded, #memory .point.faded").count(), 0);
  assert.deepEqual(await cellsOf(page, "#ops .table"), expected(find(sectionsOf(report.pages.ops_op), "ops")!));
});

browserTest("what-if says what the program says", htmlOf(program), async (page) => {
  const panel = page.locator("#path .what-if");
  for (const { pattern, answer } of program.whatIf.filter(({ times }) => times === "2x")) {
    const isUnit = pattern.startsWith("unit:");
    await panel.locator("select").selectOption(isUnit ? "unit" : "ops");
    await panel.locator("input[type=search]").first().fill(isUnit ? pattern.slice(5) : pattern);
    await frames(page);
    const fact = (label: string): Promise<string> => panel.locator(`dd[data-fact="${label}"]`).innerText();
    const ticks = (value: number): string => `${valueText({ format: "ticks" }, value, report)} cycles`;
    assert.equal(await fact("wall after"), ticks(answer.wall_after), pattern);
    assert.equal(await fact("gain"), ticks(answer.gain), pattern);
    assert.equal(await fact("wall if free"), ticks(answer.wall_if_free ?? NaN), pattern);
  }
});

browserTest("the slider goes from 1 to 10 times, by keyboard", htmlOf(program), async (page) => {
  const panel = page.locator("#path .what-if");
  await panel.locator("input[type=range]").focus();
  await page.keyboard.press("Home");
  await frames(page);
  assert.equal(await panel.locator("dd[data-fact='gain']").innerText(), "0 cycles");
  await page.keyboard.press("End");
  await frames(page);
  assert.equal(await panel.locator(".times").innerText(), "10.0x as fast");
  await panel.locator("input[type=checkbox]").check();
  await frames(page);
  assert.equal(await panel.locator("dd[data-fact='wall after']").innerText(), await panel.locator("dd[data-fact='wall if free']").innerText());
});

browserTest("a row of the path's table is chosen for what-if", htmlOf(program), async (page) => {
  await page.locator("#path .table[class] tbody tr[tabindex]").first().click();
  assert.equal(await page.locator("#path .what-if select").inputValue(), "rows");
  assert.match(await page.locator("#path .what-if [role=status]").first().innerText(), /^\d+ ops?$/);
});

browserTest("a click in the graph moves on, back goes back", htmlOf(program), async (page) => {
  const chosen = (): Promise<string | null> => page.locator("#graph .op.chosen").getAttribute("data-op");
  const first = await chosen();
  await page.locator("#graph .op:not(.chosen)").first().click();
  const second = await chosen();
  assert.notEqual(second, first);
  assert.ok(await page.locator("#ops tr.selected").count() > 0);
  await page.locator("#graph button", { hasText: "back" }).click();
  assert.equal(await chosen(), first);
});

browserTest("a click on the critical path takes the timeline to the step", htmlOf(program), async (page) => {
  const whole = await extent(page);
  await page.locator("#path .strip-canvas").first().click({ position: { x: 300, y: 12 } });
  assert.ok(await extent(page) < whole);
  await page.locator("#path .strip-canvas").first().hover({ position: { x: 310, y: 12 } });
  assert.match(await page.locator("#path .hover-card").innerText(), /duration/);
});

browserTest("a circle of the roofline highlights its ops", htmlOf(program), async (page) => {
  await page.locator("#memory .point").last().focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.locator("#ops tr.selected").count() > 0);
});

browserTest("a comparison has verdict, gates, waterfall and intervals", () => {
  const page = makePage({ title: "before", spans: 300 }, { title: "after", spans: 300 });
  page.report.comparison = comparisonPage();
  return page;
}, async (page) => {
  assert.deepEqual(await all(page, "#comparison .gate .outcome"), ["✗ failed", "✓ passed"]);
  assert.deepEqual(await all(page, "#comparison .fall-row .number"), ["+60", "-30", "+20", "+1", "+51"]);
  assert.deepEqual((await cellsOf(page, "#comparison .changes")).map((cells) => [cells[0], cells[3], cells[8]]),
                   [["latency, which is QNN (execute) time", "+10.0 %", "more"], ["wall", "+8.0 %", "more"], ["idle", "-40.0 %", "less"], ["work", "0 %", "same"]]);
  await page.screenshot({ path: artefact("comparison.png"), fullPage: true });
});

const bad = `</script><img src=x onerror=alert(1)>\u202e\u0000 ${"=1+1"}`;
function hostile(value: unknown): unknown {
  if (typeof value === "string") return value + bad;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each)]));
}

browserTest("hostile values of pages are text", () => {
  const changed = structuredClone(program);
  for (const page of Object.values(changed.report.profiles[0].pages)) page.values = hostile(page.values) as Values;
  return htmlOf(changed);
}, async (page) => {
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await page.locator("#ops td").first().innerText()).includes("</script><img src=x onerror=alert(1)>\\u202e\\x00"));
});

browserTest("pages that are missing leave the others", () => {
  const changed = structuredClone(program);
  const [profile] = changed.report.profiles;
  profile.pages = { units: profile.pages.units };
  profile.missing_pages = { path: "no work with times" };
  return htmlOf(changed);
}, async (page) => {
  assert.match(await page.locator("#notes").innerText(), /No path: no work with times/);
  assert.equal(await page.locator(".sentence.error").count(), 0);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 800]) {
    browserTest(`pictures: ${colorScheme}, ${width} px`, htmlOf(program), async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
      await page.screenshot({ path: artefact(`qnn_htp_${colorScheme}_${width}.png`), fullPage: true });
    }, { colorScheme, viewport: { width, height: 800 } });
  }
}

browserTest("headings name their sections", htmlOf(program), async (page) => {
  const headings = await all(page, "#units h3");
  for (const key of ["engines"]) assert.ok(headings.includes(heading(find(sectionsOf(report.pages.units), key)!.title)));
});
