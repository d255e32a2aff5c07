// A reader's way through a report, on a wide screen and on a telephone's, in both schemes: nothing is wider than the
// screen, names that tell apart are whole, colours are those of the legend, keys do what they say, and a view that was
// sent looks, pixel for pixel, as it did.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { programOf, programPage } from "../support/program";
import { artefact, browserTest, open, ready, template } from "./harness";

const html = (): string => programPage(template, programOf("qnn_htp"));
const frames = (page: Page): Promise<unknown> => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const hashOf = async (page: Page): Promise<string> => {
  await page.waitForTimeout(300);
  return page.evaluate(() => location.hash);
};
const chosenBy = (page: Page): Promise<string | null> => page.locator(".timeline-legend [aria-pressed=true][data-by]").getAttribute("data-by");

// What sticks out of the screen, and names whose telling part is cut.
async function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
    const scrolls = (element: Element): boolean => element.closest(".table-scroll, .histogram, .matrix-scroll, .graph-view, svg, .timeline-scroller") !== null;
    for (const element of document.querySelectorAll("main *")) {
      const box = element.getBoundingClientRect();
      if (box.width > 0 && box.right > width + 1 && !scrolls(element)) faults.push(`${element.className || element.tagName} ends at ${Math.round(box.right)} of ${width}`);
    }
    for (const key of document.querySelectorAll<HTMLElement>(".apart-key")) {
      const box = key.getBoundingClientRect();
      if (box.width === 0) continue;
      const frame = key.closest(".timeline-label, .unit-bar, .fall-row, .spread-row")!.getBoundingClientRect();
      if (box.right > frame.right + 1 || box.left < frame.left - 1 || key.scrollWidth > key.clientWidth + 1) faults.push(`"${key.textContent}" is cut`);
    }
    return [...new Set(faults)].slice(0, 20);
  });
}

// The share of the strongly coloured pixels of the lanes that have a colour of the legend, or its shade.
async function colouredByLegend(page: Page): Promise<{ share: number; colours: number; pixels: number }> {
  return page.evaluate(() => {
    const parse = (text: string): number[] => {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("2d", { willReadFrequently: true })!;
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const background = parse(getComputedStyle(document.documentElement).getPropertyValue("--background"));
    const legend = [...document.querySelectorAll(".timeline-legend .swatch")].map((swatch) => parse(getComputedStyle(swatch).backgroundColor));
    const lanes = document.querySelector<HTMLCanvasElement>(".timeline-lanes")!;
    const label = [...document.querySelectorAll<HTMLElement>(".timeline-label")].filter((one) => /HVX|HMX/.test(one.textContent ?? ""));
    const ratio = lanes.height / lanes.clientHeight;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [lanes.width, lanes.height];
    const drawn = copy.getContext("2d", { willReadFrequently: true })!;
    drawn.drawImage(lanes, 0, 0);
    let [pixels, known] = [0, 0];
    const seen = new Set<number>();
    for (const one of label) {
      const top = Math.round((one.offsetTop + 4) * ratio);  // above names and the path
      const { data } = drawn.getImageData(0, top, lanes.width, 1);
      for (let i = 0; i < data.length; i += 4) {
        const rgb = [data[i], data[i + 1], data[i + 2]];
        if (Math.max(...rgb) - Math.min(...rgb) < 40) continue;
        pixels += 1;
        // On the line from the background to the colour, at any strength.
        const at = legend.findIndex((colour) => {
          const along = colour.map((value, k) => value - background[k]);
          const moved = rgb.map((value, k) => value - background[k]);
          const share = along.reduce((sum, value, k) => sum + value * moved[k], 0) / Math.max(1, along.reduce((sum, value) => sum + value * value, 0));
          return share > 0.2 && share < 1.05 && along.every((value, k) => Math.abs(value * share - moved[k]) < 6);
        });
        if (at >= 0) {
          known += 1;
          seen.add(at);
        }
      }
    }
    return { share: known / Math.max(1, pixels), colours: seen.size, pixels };
  });
}

const sizes = { "1440": { width: 1440, height: 1000 }, "400": { width: 400, height: 800 } };

for (const [width, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"] as const) {
    browserTest(`tour, ${width} pixels, ${colorScheme}: layout, names, colours`, html, async (page) => {
      for (const details of await page.locator("#units details, #findings details, #path details").all()) await details.evaluate((one) => { (one as HTMLDetailsElement).open = true; });
      assert.deepEqual(await layoutFaults(page), []);
      await page.screenshot({ path: artefact(`tour-${width}-${colorScheme}.png`), fullPage: true });
      // Their lines cross spans.
      for (const box of await page.locator(".timeline-toggle-box input").all()) await box.uncheck();
      for (const by of ["op", "kind", "engine"]) {
        await page.locator(`.timeline-legend [data-by=${by}]`).click();
        await frames(page);
        const { share, colours, pixels } = await colouredByLegend(page);
        assert.ok(pixels > 300 && share > 0.95, `${by}: ${share.toFixed(3)} of ${pixels} pixels have a colour of the legend`);
        assert.ok(by === "engine" || colours >= 5, `${by}: ${colours} colours`);
        await page.locator("#timeline").screenshot({ path: artefact(`tour-${width}-${colorScheme}-${by}.png`) });
      }
      await page.locator(".timeline-legend [data-by=unit]").click();
      assert.equal(await page.locator(".timeline-label .swatch").count(), await page.locator(".timeline-label", { hasText: /HVX|HMX/ }).count());
    }, { viewport, colorScheme });
  }
}

browserTest("tour: a long path in a note made the page wider than a telephone", html, async (page) => {
  await page.locator(".panel").last().evaluate((panel) => panel.append(document.createElement("p"), `No memory: /${"data_of_the_board".repeat(6)}/runtime.csv: says nothing`));
  assert.deepEqual(await layoutFaults(page), []);
  assert.match(await page.locator("#ops thead th").nth(1).innerText(), /path|work|time|cycles|runs/);  // numbers next to names
}, { viewport: sizes["400"], colorScheme: "light" });

browserTest("tour: the same in both schemes stands in the same place", html, async (page) => {
  const boxes = (): Promise<string[]> => page.locator(".panel, .timeline-label, .card, .unit-bar").evaluateAll((all) =>
    all.map((one) => { const box = one.getBoundingClientRect(); return [box.left, box.top, box.width, box.height].map(Math.round).join(); }));
  const light = await boxes();
  await page.emulateMedia({ colorScheme: "dark" });
  await frames(page);
  assert.deepEqual(await boxes(), light);
});

browserTest("tour: a finding is stepped through next to the timeline, and Escape ends it", html, async (page) => {
  const bar = page.locator(".finding-bar");
  assert.equal(await bar.isVisible(), false);
  await page.locator("#findings .card:has(.quiet) .show-me").first().click();
  const title = await page.locator("#findings .card:has(button.quiet) h3").first().innerText();
  assert.ok((await bar.locator("strong").innerText()).includes(title));
  const count = Number(/^all (\d+) places$/.exec(await bar.locator("[role=status]").innerText())?.[1]);
  assert.ok(count > 2);
  const place = (): Promise<string> => bar.locator("[role=status]").innerText();
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  assert.equal(await place(), `2 of ${count}`);
  await bar.locator("button", { hasText: "›" }).click();
  assert.equal(await place(), `3 of ${count}`);
  await page.keyboard.press("[");
  assert.equal(await place(), `2 of ${count}`);
  await page.keyboard.press("[");
  await page.keyboard.press("[");
  assert.equal(await place(), `${count} of ${count}`);
  await page.keyboard.press("Escape");
  assert.equal(await bar.isVisible(), false);
  assert.equal(await page.locator("#ops tr.selected").count(), 0);
});

browserTest("tour: what is looked at stands in the address, and looks the same where it is opened", html, async (page) => {
  await page.locator("#findings .card:has(.quiet) .show-me").first().click();
  await page.keyboard.press("]");
  await page.locator(".timeline-legend [data-by=kind]").click();
  const box = (await page.locator(".timeline-axis").boundingBox())!;
  await page.mouse.move(box.x + 200, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(2, 2);
  const hash = await hashOf(page);
  assert.match(hash, /^#timeline\?view=[\d.]+-[\d.]+&range=[\d.]+-[\d.]+&finding=\d+\.1&colour=kind$/);
  await page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  await frames(page);
  const sent = await page.locator(".timeline-main").screenshot({ path: artefact("tour-sent.png") });
  const opened = await open(html(), {}, hash);
  await ready(opened.page);
  await frames(opened.page);
  assert.equal(await chosenBy(opened.page), "kind");
  assert.match(await opened.page.locator(".finding-bar [role=status]").innerText(), /^1 of \d+$/);
  assert.match(await opened.page.locator(".timeline-details").innerText(), /^Selected range/);
  await opened.page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  await frames(opened.page);
  assert.ok(sent.equals(await opened.page.locator(".timeline-main").screenshot({ path: artefact("tour-opened.png") })), "the pictures differ");
  assert.deepEqual(opened.faults, []);
  await opened.page.context().close();
  await page.goto(page.url().replace(/#.*/, "#timeline?op=999999&span=999999&finding=99&range=9-1"));
  await frames(page);
  assert.match(await hashOf(page), /^#timeline/);
});

browserTest("tour: a question mark shows the keys, Escape hides them", html, async (page) => {
  const keys = page.locator(".timeline-help dl");
  assert.equal(await keys.isVisible(), false);
  await page.keyboard.press("?");
  assert.equal(await keys.isVisible(), true);
  const box = (await keys.boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= 1280 && box.y >= 0);
  await page.keyboard.press("Escape");
  assert.equal(await keys.isVisible(), false);
});

browserTest("tour: Enter in the search takes the focus to the match, and Enter goes on from there", html, async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("ForceFormat");
  await page.locator(".timeline-found").filter({ hasText: /matches$/ }).waitFor();
  await page.keyboard.press("Enter");
  const focused = (): Promise<string | undefined> => page.evaluate(() => document.activeElement?.className);
  assert.equal(await focused(), "timeline-lanes");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".timeline-found").innerText(), /^2 of \d+ matches$/);
  const before = await page.locator(".timeline-extent").innerText();
  await page.keyboard.press("w");
  await frames(page);
  assert.notEqual(await page.locator(".timeline-extent").innerText(), before);
  await page.keyboard.press("/");
  assert.equal(await focused(), "timeline-search");
});

browserTest("tour: the card goes when the view moves", html, async (page) => {
  await page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  const hover = async (): Promise<void> => {
    await page.locator(".timeline-lanes").hover({ position: { x: 180, y: await page.locator(".timeline-label", { hasText: "HVX" }).first().evaluate((element) => (element as HTMLElement).offsetTop + 8) } });
    await page.locator(".timeline-card").waitFor({ state: "visible" });
  };
  const gone = (): Promise<void> => page.locator(".timeline-card").waitFor({ state: "hidden", timeout: 2000 });
  await hover();
  await page.keyboard.press("d");
  await gone();
  await page.keyboard.press("f");
  await page.mouse.move(2, 2);
  await hover();
  await page.mouse.wheel(0, 120);
  await gone();
});

browserTest("tour: rows of ops have the colours of the timeline where those stand for the same", html, async (page) => {
  const swatches = (of: string): Promise<string[]> => page.locator(of).evaluateAll((all) => all.filter((one) => (one as HTMLElement).offsetWidth > 0).map((one) => getComputedStyle(one).backgroundColor));
  await page.locator(".timeline-legend [data-by=op]").click();
  const legend = (await swatches(".legend-group .swatch")).slice(0, 9);
  assert.deepEqual(await swatches("#ops tbody .swatch"), legend);
  await page.locator(".timeline-legend [data-by=kind]").click();
  assert.deepEqual(await swatches("#ops tbody .swatch"), []);
  await page.locator("#ops [data-by=kind]").click();
  const kinds = await swatches(".legend-group .swatch");
  assert.ok(kinds.length > 3);
  for (const colour of await swatches("#ops tbody .swatch")) assert.ok(kinds.includes(colour), colour);
});

browserTest("tour: a group of the legend highlights its ops, by keyboard too", html, async (page) => {
  const group = page.locator(".legend-group").nth(1);
  await group.focus();
  await page.keyboard.press("Enter");
  assert.equal(await group.getAttribute("aria-pressed"), "true");
  assert.ok(await page.locator("#ops tr.selected").count() > 0);
  await page.keyboard.press("Enter");
  assert.equal(await group.getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator("#ops tr.selected").count(), 0);
});
