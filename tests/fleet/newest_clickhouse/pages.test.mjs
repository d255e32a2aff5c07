// What `npuscope fleet` does on the newest ClickHouse is what it does on a file: pages, refusals, removal.
// NPUSCOPE_PROGRAMS names the folder of the programs.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";

const programs = process.env.NPUSCOPE_PROGRAMS;
const root = resolve(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "npuscope-newest-"));
const file = join(folder, "fleet.db");
const stores = {};
let server;

function fleet(command, store, ...flags) {
  const run = spawnSync(join(programs, "npuscope"), ["fleet", command, store, ...flags], { encoding: "utf8" });
  // Runs were recorded into a folder of their own for each store.
  const text = (run.stdout + run.stderr).replaceAll(store, "STORE").replaceAll(/\/[^" ]*\/(runs|program)\//g, "$1/");
  return { status: run.status, text };
}

function fill(store) {
  const environment = { ...process.env, NPUSCOPE: programs };
  execFileSync(join(root, "examples/clickhouse/synthetic-fleet"), [store], { env: environment });
  for (const [example, build] of [["qnn_htp", 4], ["torq", 5]]) {
    const added = fleet("add", store, join(root, "examples", example), "--spans", "--tag", `build=${build}`);
    assert.equal(added.status, 0, added.text);
  }
}

before(async () => {
  server = spawn(process.execPath, [join(import.meta.dirname, "http_server.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(server.stdout, "data");
  stores["one server"] = `clickhouse://127.0.0.1:${Number(port)}/single`;
  stores["a cluster"] = `clickhouse://127.0.0.1:${Number(port)}/sharded?cluster=one`;
  for (const store of [file, ...Object.values(stores)]) fill(store);
});
after(() => {
  server.stdin.end();
  rmSync(folder, { recursive: true });
});

const OF_ONE_CLOCK = ["--where", "build <= 3"];
const QUESTIONS = [
  ["ls"],
  ["ls", "--by", "build"],
  ["ls", "--where", "device IS NULL"],
  ["latency", ...OF_ONE_CLOCK],
  ["latency", ...OF_ONE_CLOCK, "--by", "device"],
  ["latency", "--by", "format", "--measure", "wall"],
  ["ops", ...OF_ONE_CLOCK, "--top", "1000"],
  ["ops", ...OF_ONE_CLOCK, "--by", "build", "--measure", "active"],
  ["ops"],
  ["findings"],
  ["findings", "--by", "build,format"],
  ["outliers", ...OF_ONE_CLOCK],
  ["outliers", ...OF_ONE_CLOCK, "--within", "build"],
  ["diff", "--where-a", "build = 1", "--where-b", "build = 3"],
  ["diff", "--along", "build", ...OF_ONE_CLOCK],
];

for (const name of ["one server", "a cluster"]) {
  describe(name, () => {
    for (const [command, ...flags] of QUESTIONS) {
      test([command, ...flags].join(" "), () => {
        const expected = fleet(command, file, ...flags, "--json");
        assert.equal(expected.status, 0, expected.text);
        assert.deepEqual(fleet(command, stores[name], ...flags, "--json"), expected);
      });
    }

    test("the same runs again change nothing", () => {
      const added = fleet("add", stores[name], join(root, "examples/qnn_htp"), "--spans", "--tag", "build=4", "--json");
      const said = JSON.parse(added.text);
      assert.equal(added.status, 0);
      assert.match(JSON.stringify(said), /"known_runs":1|"known":1/);
      assert.equal(fleet("ls", stores[name], "--json").text, fleet("ls", file, "--json").text);
    });

    test("SQL", () => {
      const spans = ["SELECT kind, count(*) AS n, sum(duration) AS ticks FROM spans GROUP BY kind ORDER BY kind", "--json"];
      assert.equal(fleet("sql", stores[name], ...spans).text, fleet("sql", file, ...spans).text);
    });

    test("what cannot be answered is a sentence", () => {
      const unknown = fleet("ops", stores[name], "--where", "nope = 3");
      assert.equal(unknown.status, 2);
      assert.match(unknown.text, /^npuscope: --where nope = 3: .*`nope`.*; columns of runs and tags: id, /);
      const broken = fleet("ops", stores[name], "--where", "build => 3");
      assert.equal(broken.status, 2);
      assert.match(broken.text, /^npuscope: --where build => 3: Syntax error/);
      const absent = fleet("sql", stores[name], "SELECT * FROM nothing");
      assert.equal(absent.status, 2, absent.text);
    });

    test("a question changes nothing", () => {
      const dropped = fleet("sql", stores[name], "DROP TABLE runs");
      assert.equal(dropped.status, 2);
      assert.match(dropped.text, /a query changes nothing/);
    });
  });
}

test("retain removes the same runs", () => {
  const flags = ["--before", "2026-01-02", "--json"];
  const expected = fleet("retain", file, ...flags);
  for (const store of Object.values(stores)) {
    assert.deepEqual(fleet("retain", store, ...flags), expected);
    for (const question of [["ls"], ["findings"]]) {
      assert.deepEqual(fleet(question[0], store, "--json"), fleet(question[0], file, "--json"));
    }
  }
});
