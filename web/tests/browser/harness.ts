// A page in Debian's Chromium, opened from a file as people open it. A console message, an error of
// the page or any request but the file itself fails the test.
//
//   browserTest("W zooms in", { spans: 3000 }, async (page) => { await page.keyboard.press("w"); … });
//
// NPUSCOPE_CHROMIUM names another Chromium. Without one the tests are skipped, and say so.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { fillPage, type PageInput } from "../support/encode";
import { makePage, type FixtureOptions } from "../support/fixture";

const executable = process.env["NPUSCOPE_CHROMIUM"] ?? "/usr/bin/chromium";
export const skip = existsSync(executable) ? false : `no Chromium at ${executable}: install the package chromium, or set NPUSCOPE_CHROMIUM`;

const folder = mkdtempSync(join(tmpdir(), "npuscope-page-"));
export const template = readFileSync("built/page.html", "utf8");
let browser: Promise<Browser> | null = null;
let files = 0;

after(async () => {
  await (await browser)?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Where pictures of tests are kept.
export function artefact(name: string): string {
  mkdirSync("out/screenshots", { recursive: true });
  return join("out/screenshots", name);
}

export interface Opened {
  readonly page: Page;
  readonly faults: string[];
}

// `early`: runs in the page before its own script.
export async function open(html: string, options: BrowserContextOptions = {}, hash = "", early: (() => void) | null = null): Promise<Opened> {
  // The sandbox of Chromium needs rights that containers do not give.
  browser ??= chromium.launch({ executablePath: executable, args: ["--no-sandbox"] });
  const file = join(folder, `${++files}.html`);
  writeFileSync(file, html);
  const url = pathToFileURL(file).href + hash;
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  if (early !== null) await context.addInitScript(early);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url.split("#")[0]) faults.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}

// Once all panels of the open tab are there.
export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset["ready"] === "true");
}

export const htmlOf = (input: PageInput): string => fillPage(template, input);

type Input = FixtureOptions | FixtureOptions[] | PageInput | string;

const isPage = (input: Input): input is PageInput => typeof input === "object" && "report" in input;

// `input`: options of the fixture, a page, or the whole of its HTML.
export function browserTest(name: string, input: Input | (() => Input), body: (page: Page) => Promise<void>,
                            options: BrowserContextOptions & { hash?: string } = {}): void {
  test(name, { skip }, async () => {
    const made = typeof input === "function" ? input() : input;
    const html = typeof made === "string" ? made : htmlOf(isPage(made) ? made : makePage(...(Array.isArray(made) ? made : [made])));
    const { hash, ...context } = options;
    const { page, faults } = await open(html, context, hash);
    try {
      await ready(page);
      await body(page);
      assert.deepEqual(faults, []);
    } finally {
      await page.context().close();
    }
  });
}
