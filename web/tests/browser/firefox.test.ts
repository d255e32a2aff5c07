// The page in Debian's Firefox ESR. NPUSCOPE_FIREFOX names another.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { makePage } from "../support/fixture";
import { artefact, htmlOf } from "./harness";
import { Firefox } from "./marionette";

const executable = process.env["NPUSCOPE_FIREFOX"] ?? "/usr/bin/firefox-esr";
const skip = existsSync(executable) ? false : `no Firefox at ${executable}: install the package firefox-esr, or set NPUSCOPE_FIREFOX`;

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("Firefox shows the page, searches and zooms, and asks for nothing", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "npuscope-page-"));
  const file = join(folder, "report.html");
  writeFileSync(file, htmlOf(makePage({ spans: 3000 })));
  const firefox = await Firefox.start(executable);
  try {
    await firefox.send("WebDriver:Navigate", { url: pathToFileURL(file).href });
    for (let i = 0; i < 100 && !await firefox.run<boolean>(`return document.documentElement.dataset.ready === "true"`); ++i) await wait(100);
    assert.equal(await firefox.run<string>(`return document.querySelector("h1").innerText`), "fixture: an invented run");
    assert.equal(await firefox.run<string>(`return [...document.querySelectorAll(".error")].map((one) => one.textContent).join()`), "");
    assert.ok(await firefox.run<number>(`
      const canvas = document.querySelector(".timeline-lanes");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let blue = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 2] > data[i] + 40) ++blue;
      return blue;`) > 5000);
    await firefox.run(`document.querySelector("#timeline").scrollIntoView()`);
    const key = async (...values: string[]): Promise<unknown> => firefox.send("WebDriver:PerformActions", { actions: [
      { type: "key", id: "keys", actions: values.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) }] });
    const extent = (): Promise<string> => firefox.run<string>(`return document.querySelector(".timeline-extent").innerText`);
    const all = await extent();
    await key("w", "w", "w");
    await wait(300);
    assert.notEqual(await extent(), all);
    await key("f");
    await wait(300);
    assert.equal(await extent(), all);
    await key("/", ..."softmax_3$");
    await wait(500);
    assert.match(await firefox.run<string>(`return document.querySelector(".timeline-found").innerText`), /^\d+ matches$/);
    assert.deepEqual(await firefox.run<string[]>(`return performance.getEntriesByType("resource").map((one) => one.name)`), []);
    writeFileSync(artefact("firefox.png"), await firefox.picture());
  } finally {
    await firefox.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
