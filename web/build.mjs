// Builds the page: src/main.ts and its styles into built/page.html, one file without any request.
//   node build.mjs            built/page.html
//   node build.mjs --check    fails when that is not what is checked in
//   node build.mjs --tests    tests/**/*.test.ts into out/tests/ and out/browser/, tests/support/tools/ into out/tools/
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, target: "es2022", charset: "utf8", legalComments: "inline" };

async function bundle(entry, more) {
  const result = await build({ ...common, ...more, entryPoints: [entry], write: false });
  return result.outputFiles[0].text.trimEnd();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

async function page() {
  // "</" within a script or style would end it.
  const script = `\n${await bundle("src/main.ts", { format: "iife", minify: true })}\n`.replaceAll("</", "<\\/");
  const style = `\n${await bundle("src/style/page.css", { minify: true })}\n`;
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const template = readFileSync("src/page.html", "utf8");
  const fill = (text, mark, by) => {
    if (text.split(mark).length !== 2) throw new Error(`src/page.html has to have ${mark} once`);
    return text.replace(mark, () => by);
  };
  return fill(fill(fill(template, "{{policy}}", policy), "{{style}}", style), "{{script}}", script);
}

// Those that need a browser stand apart, in out/browser/.
async function tests() {
  const names = readdirSync("tests", { recursive: true }).map((name) => name.replaceAll("\\", "/"));
  const bundleTo = (outdir, outbase, wanted) => build({
    ...common, entryPoints: names.filter(wanted).map((name) => `tests/${name}`), outdir, outbase, format: "esm", platform: "node",
    packages: "external", outExtension: { ".js": ".mjs" } });
  const needsBrowser = (name) => name.startsWith("browser/");
  await bundleTo("out/tests", "tests", (name) => name.endsWith(".test.ts") && !needsBrowser(name));
  await bundleTo("out/browser", "tests/browser", (name) => name.endsWith(".test.ts") && needsBrowser(name));
  await bundleTo("out/tools", "tests/support/tools", (name) => name.startsWith("support/tools/") && name.endsWith(".ts"));
}

if (process.argv.includes("--tests")) {
  await tests();
} else {
  const made = await page();
  const file = "built/page.html";
  if (process.argv.includes("--check")) {
    if (!existsSync(file) || readFileSync(file, "utf8") !== made) {
      console.error(`web/${file} is not what its sources give: type (cd web && npm ci && npm run build)`);
      process.exit(1);
    }
  } else {
    mkdirSync("built", { recursive: true });
    writeFileSync(file, made);
    console.log(`web/${file}: ${made.length} characters`);
  }
}
