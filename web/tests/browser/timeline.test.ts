import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { browserTest } from "./harness";

const fixture = { spans: 3000, cores: 2 };

const extent = async (page: Page): Promise<number> => {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return Number((await page.locator(".timeline-extent").innerText()).replace(/,/g, "").replace(/ cycles?$/, ""));
};

// A point of the lanes, once they are on the screen.
const at = async (page: Page, x: number, y: number): Promise<{ x: number; y: number }> => {
  await page.locator("#timeline").evaluate((element) => element.scrollIntoView());
  await extent(page);  // what follows the scroll is done
  const box = (await page.locator(".timeline-lanes").boundingBox())!;
  return { x: box.x + x, y: box.y + y };
};

// How far down the lane of a name is.
const lane = (page: Page, name: string): Promise<number> =>
  page.locator(".timeline-label", { hasText: name }).first().evaluate((element) => (element as HTMLElement).offsetTop + 8);

const firstMark = (page: Page): Promise<string> => page.locator(".timeline-details dd").first().innerText();

browserTest("spans are drawn in the colours of their engines", fixture, async (page) => {
  const seen = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>(".timeline-lanes")!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    let blue = 0;
    let orange = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 2] > data[i] + 40) ++blue;
      if (data[i] > data[i + 2] + 40) ++orange;
    }
    return { blue, orange };
  });
  assert.ok(seen.blue > 5000 && seen.orange > 1000, JSON.stringify(seen));
});

browserTest("ctrl and wheel zoom at the pointer, to one tick and back to all", fixture, async (page) => {
  const all = await extent(page);
  const { x, y } = await at(page, 400, 80);
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  const nearer = await extent(page);
  assert.ok(nearer < all && nearer > all / 4);
  for (let i = 0; i < 30; ++i) await page.mouse.wheel(0, -600);
  assert.equal(await extent(page), 1);
  for (let i = 0; i < 40; ++i) await page.mouse.wheel(0, 600);
  await page.keyboard.up("Control");
  assert.equal(await extent(page), all);
});

browserTest("the wheel alone scrolls the lanes", fixture, async (page) => {
  const all = await extent(page);
  const { x, y } = await at(page, 400, 80);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, 100);
  assert.equal(await extent(page), all);
  await page.waitForFunction(() => window.scrollY + document.querySelector(".timeline-scroller")!.scrollTop > 0);
});

browserTest("W and S zoom, A and D pan, F shows all", fixture, async (page) => {
  await at(page, 0, 0);
  const all = await extent(page);
  await page.keyboard.down("w");
  await page.waitForTimeout(300);
  await page.keyboard.up("w");
  const near = await extent(page);
  assert.ok(near < all * 0.9);
  await page.keyboard.press("d");
  await page.keyboard.press("a");
  assert.ok(Math.abs(await extent(page) - near) < near * 0.01);
  await page.keyboard.press("s");
  assert.ok(await extent(page) > near);
  await page.keyboard.press("f");
  assert.equal(await extent(page), all);
});

browserTest("shift and drag select a range, F zooms to it, Escape lets go of it", fixture, async (page) => {
  const all = await extent(page);
  const from = await at(page, 300, 80);
  await page.keyboard.down("Shift");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 200, from.y, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  assert.match(await page.locator(".timeline-details").innerText(), /^Selected range/);
  await page.keyboard.press("f");
  assert.ok(await extent(page) < all / 2);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".timeline-details").isVisible(), false);
});

browserTest("a drag on the axis selects, a click there lets go", fixture, async (page) => {
  await at(page, 0, 0);
  const box = (await page.locator(".timeline-axis").boundingBox())!;
  await page.mouse.move(box.x + 100, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 10, { steps: 4 });
  await page.mouse.up();
  assert.match(await page.locator(".timeline-details").innerText(), /^Selected range/);
  await page.mouse.click(box.x + 500, box.y + 10);
  assert.equal(await page.locator(".timeline-details").isVisible(), false);
});

browserTest("a drag pans and selects nothing", fixture, async (page) => {
  for (let i = 0; i < 5; ++i) await page.locator("button", { hasText: "+" }).click();
  const near = await extent(page);
  const from = await at(page, 300, 80);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x - 150, from.y, { steps: 5 });
  await page.mouse.up();
  assert.equal(await extent(page), near);
  assert.equal(await page.locator(".timeline-details").isVisible(), false);
});

browserTest("a click chooses a span and says what it is, the card under the pointer too", fixture, async (page) => {
  await page.locator(".timeline-scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  const down = await lane(page, "host") - await page.locator(".timeline-scroller").evaluate((element) => element.scrollTop);
  const { x, y } = await at(page, 300, down);
  await page.mouse.move(x, y);
  const card = await page.locator(".timeline-card").innerText();
  assert.match(card, /^slice\s+unit\s+host\s+span\s+slice\s+start\s+0 cycles/);
  await page.mouse.click(x, y);
  assert.match(await page.locator(".timeline-details").innerText(), /^slice/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".timeline-details").isVisible(), false);
});

browserTest("comma and full stop go from span to span of a row", fixture, async (page) => {
  const { x, y } = await at(page, 30, await lane(page, "HVX 0"));
  await page.mouse.click(x, y);
  const start = (): Promise<string> => page.locator(".timeline-details dt:text-is('start') + dd").innerText();
  const first = await start();
  await page.keyboard.press(".");
  assert.notEqual(await start(), first);
  await page.keyboard.press(",");
  assert.equal(await start(), first);
});

browserTest("slash searches, Enter and Shift Enter go through the matches, Escape ends it", fixture, async (page) => {
  await at(page, 0, 0);
  await page.keyboard.press("/");
  await page.keyboard.type("softmax_3$");
  const status = page.locator(".timeline-found");
  await status.filter({ hasText: /^\d+ matches$/ }).waitFor();
  const count = Number((await status.innerText()).replace(" matches", ""));
  await page.keyboard.press("Enter");
  assert.equal(await status.innerText(), `1 of ${count} matches`);
  const first = await firstMark(page);
  await page.keyboard.press("Enter");
  assert.equal(await status.innerText(), `2 of ${count} matches`);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await status.innerText(), `1 of ${count} matches`);
  assert.equal(await firstMark(page), first);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await status.innerText(), `${count} of ${count} matches`);
  await page.keyboard.press("Escape");
  assert.equal(await status.innerText(), "");
});

browserTest("slash searches from anywhere on the page", fixture, async (page) => {
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await page.keyboard.press("/");
  await page.keyboard.type("softmax");
  await page.locator(".timeline-found").filter({ hasText: /^\d+ matches$/ }).waitFor();
  assert.ok(await page.locator(".timeline-search").evaluate((field) => field.getBoundingClientRect().top < window.innerHeight && field.getBoundingClientRect().bottom > 0));
});

browserTest("a pattern that is not one is answered with a sentence, one without a match too", fixture, async (page) => {
  const field = page.locator(".timeline-search");
  await field.fill("a(");
  await page.locator(".timeline-found", { hasText: /^not a regular expression: / }).waitFor();
  await field.fill("nothing like it");
  await page.locator(".timeline-found", { hasText: "no match" }).waitFor();
});

browserTest("letters typed into the search do not move the timeline", fixture, async (page) => {
  const all = await extent(page);
  await page.locator(".timeline-search").pressSequentially("wwwww");
  assert.equal(await extent(page), all);
});

browserTest("a group closes and opens by its button, which keeps the focus", fixture, async (page) => {
  const labels = page.locator(".timeline-label");
  const before = await labels.count();
  const core = page.locator(".timeline-toggle", { hasText: "core 1" });
  await core.focus();
  await page.keyboard.press("Enter");
  assert.equal(await labels.count(), before - 7);
  assert.equal(await core.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Enter");
  assert.equal(await labels.count(), before);
});

browserTest("two fingers zoom", fixture, async (page) => {
  const all = await extent(page);
  const { x, y } = await at(page, 400, 80);
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart: number): Promise<unknown> =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: x - apart, y, id: 0 }, { x: x + apart, y, id: 1 }] });
  await touch("touchStart", 40);
  for (let apart = 50; apart <= 160; apart += 10) await touch("touchMove", apart);
  await touch("touchEnd", 0);
  const near = await extent(page);
  assert.ok(near < all / 2, `${near} of ${all}`);
}, { hasTouch: true });
