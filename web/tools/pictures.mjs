// The pictures of the README: pages of an example and a comparison as they look in a terminal, and its report in a browser.
//   node tools/pictures.mjs ../build/release/npuscope ../examples/qnn_htp ../models/light_squeezenet.onnx ../docs/pictures
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [program, example, model, folder] = process.argv.slice(2).map((name) => resolve(name));
const run = (cwd, ...words) => execFileSync(program, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

// Runs of the model before and after its products left the matrix unit, in folders of these names.
function runBeforeAndAfter(work) {
  for (const [name, precision] of [["before", ["-convert-to-fp16"]], ["after", []]]) {
    run(work, "compile", `-model=${model}`, `-aic-binary-dir=${name}`, "-aic-num-cores=2", "-stats-level=70", ...precision);
    run(work, "run", `--test-data=${name}`, "--aic-profiling-type=raw_device_stats", `--aic-profiling-out-dir=${name}`,
      "--aic-profiling-num-samples=9", "--aic-profiling-start-iter=1", "--num-iter=10");
  }
}

// Text with the colours of a terminal (SGR) as lines of pieces: [{text, bold, dim, colour}].
function pieces(text) {
  const lines = [[]];
  let style = {};
  for (const [, codes, plain] of text.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (plain === undefined) {
      for (const code of (codes || "0").split(";").map(Number)) {
        if (code === 0) style = {};
        else if (code === 1) style = { ...style, bold: true };
        else if (code === 2) style = { ...style, dim: true };
        else if (code >= 30 && code <= 37) style = { ...style, colour: code - 30 };
        else if (code >= 90 && code <= 97) style = { ...style, colour: code - 82 };
      }
      continue;
    }
    plain.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part !== "") lines.at(-1).push({ text: part, ...style });
    });
  }
  return lines;
}

function drawTerminal({ lines, command }) {
  const colours = ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3",
                   "#6e7681", "#ffa198", "#a5f0b4", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff"];
  document.body.style.cssText = "margin:0;background:#0d1117;display:inline-block";
  const screen = document.createElement("pre");
  screen.style.cssText = "margin:0;padding:18px 22px;color:#e6edf3;font:14px/1.3 'DejaVu Sans Mono',monospace";
  const add = (text, style = {}) => {
    const piece = document.createElement("span");
    piece.textContent = text;
    if (style.bold) piece.style.fontWeight = "bold";
    if (style.dim) piece.style.opacity = "0.6";
    if (style.colour !== undefined) piece.style.color = colours[style.colour];
    screen.append(piece);
  };
  add(`$ ${command}\n`, { colour: 8 });
  for (const line of lines) {
    for (const piece of line) add(piece.text, piece);
    add("\n");
  }
  document.body.append(screen);
}

mkdirSync(folder, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "npuscope-pictures-"));
const browser = await chromium.launch({
  executablePath: process.env.NPUSCOPE_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const name = basename(example);
  runBeforeAndAfter(work);
  for (const [picture, where, words, rows] of [
    ["first_page", dirname(example), ["show", name], 40],
    ["diagnose", dirname(example), ["diagnose", name], 30],
    ["diff", work, ["diff", "before", "after"], 22]]) {
    const text = run(where, ...words, "--color", "always", "--width", "100").trimEnd().split("\n").slice(0, rows).join("\n");
    const terminal = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    await terminal.evaluate(drawTerminal, { lines: pieces(text), command: `npuscope ${words.join(" ")}` });
    await (await terminal.$("pre")).screenshot({ path: join(folder, `${picture}.png`) });
  }
  run(dirname(example), "report", name, "-o", join(work, "report.html"));
  const report = await browser.newPage({ viewport: { width: 1280, height: 1800 } });
  await report.goto(pathToFileURL(join(work, "report.html")).href);
  await report.waitForTimeout(1500);
  await report.screenshot({ path: join(folder, "report.png") });
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
