// Writes tests/data/program/*.json.gz: reports of the examples, and what the program answers to
// what-if and to ops and units of a window, which the page has to compute alike. From the folder web/:
//   node tests/support/tools/program_answers.mjs ../build/release/npuscope
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

const program = resolve(process.argv[2] ?? "../build/release/npuscope");
const root = resolve("..");
const samples = {
  qnn_htp: { files: "examples/qnn_htp", patterns: ["Conv", "ForceFormat|Concat", "unit:HMX", "unit:DMA|HVX"] },
  torq: { files: "examples/torq", patterns: ["conv", ".", "unit:."] },
};
const speeds = ["1x", "1.3x", "2x", "7.7x", "10x", "0"];
const windows = [[0, 1], [0.1, 0.35], [0.33, 0.34], [0.701, 0.9]];

const run = (...args) => execFileSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });
const first = (...args) => JSON.parse(run(...args)).profiles[0];
function tried(what) {
  try {
    return what();
  } catch {  // a pattern that finds nothing, a window without spans
    return null;
  }
}

function pieces(html) {
  const piece = (id) => {
    const mark = `id="${id}">`;
    const at = html.indexOf(mark) + mark.length;
    return html.slice(at, html.indexOf("</script>", at));
  };
  const report = JSON.parse(gunzipSync(Buffer.from(piece("npuscope-report"), "base64")).toString("utf8"));
  return { report, blob: piece("npuscope-data") };
}

const folder = mkdtempSync(join(tmpdir(), "report-"));
for (const [name, { files, patterns }] of Object.entries(samples)) {
  const html = join(folder, "report.html");
  run("report", files, "-o", html);
  const { report, blob } = pieces(readFileSync(html, "utf8"));
  report.arguments = ["npuscope", "report", files, "-o", "report.html"];
  const whatIf = patterns.flatMap((pattern) => speeds.flatMap((times) => {
    const answer = tried(() => first("path", "--json", "--faster", `${pattern}=${times}`, files).what_if);
    return answer === null ? [] : [{ pattern, times, answer }];
  }));
  const length = report.profiles[0].pages.units?.values.wall.wall ?? 0;
  const groupings = Object.keys(report.profiles[0].pages).filter((key) => key.startsWith("ops_")).map((key) => key.slice(4));
  const ops = windows.flatMap(([from, to]) => groupings.flatMap((by) => {
    const window = { begin: Math.round(from * length), end: Math.round(to * length) };
    const answer = tried(() => first("ops", "--json", "--by", by, "--from", `${window.begin}ticks`, "--to", `${window.end}ticks`, files).ops.rows);
    const kept = ["work", "waiting", "active", "issue", "async", "instances"];
    const rows = answer?.map((row) => ({ name: row[by], ...Object.fromEntries(kept.filter((key) => row[key] !== undefined).map((key) => [key, row[key]])) }));
    return rows === undefined ? [] : [{ by, ...window, rows }];
  }));
  const units = windows.flatMap(([from, to]) => {
    const window = { begin: Math.round(from * length), end: Math.round(to * length) };
    const answer = tried(() => first("units", "--json", "--from", `${window.begin}ticks`, "--to", `${window.end}ticks`, files));
    if (answer === null) return [];
    const rows = answer.units.rows.map(({ unit, busy, waiting_for_dma: dma, at_syncs: sync, at_barriers: barrier }) => ({ unit, busy, dma, sync, barrier }));
    return [{ ...window, rows, levels: (answer.concurrency?.rows ?? []).map(({ units: count, time }) => ({ count, time })),
              overlap: (answer.overlap?.rows ?? []).map(({ a, b, both, active_a, active_b }) => ({ a, b, both, active_a, active_b })) }];
  });
  const text = JSON.stringify({ report, blob, whatIf, ops, units });
  writeFileSync(`tests/data/program/${name}.json.gz`, gzipSync(text, { level: 9 }));
  console.log(`${name}: ${whatIf.length} what-ifs, ${ops.length} tables of ops, ${text.length} characters`);
}
rmSync(folder, { recursive: true });
