// The Parquet files of `npuscope fleet export` as others read them: DuckDB and hyparquet, against the CSV files of the
// same store. NPUSCOPE_PROGRAM names the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

const program = process.env.NPUSCOPE_PROGRAM;
const examples = resolve("../examples");
let folder, tables, duck;

const npuscope = (...flags) => execFileSync(program, flags, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 30 });

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "npuscope-parquet-"));
  npuscope("fleet", "add", "fleet.db", join(examples, "qnn_htp"), "--tag", "build=120", "--tag", "device=päd, \"7\"", "--spans");
  npuscope("fleet", "add", "fleet.db", join(examples, "torq"), "--tag", "build=121");
  npuscope("fleet", "export", "fleet.db", "-o", "csv");
  npuscope("fleet", "export", "fleet.db", "-o", "parquet", "--to", "parquet");
  tables = readdirSync(join(folder, "parquet")).map((name) => name.replace(".parquet", ""));
  duck = await (await DuckDBInstance.create(":memory:")).connect();
});
after(() => rmSync(folder, { recursive: true }));

const file = (table) => join(folder, "parquet", `${table}.parquet`);

// Rows of texts, as RFC 4180 has them.
function readCsv(table) {
  const text = readFileSync(join(folder, "csv", `${table}.csv`), "utf8");
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (end === "" && plain === "" && rows.at(-1).length === 0) break;
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  if (rows.at(-1).length === 0) rows.pop();
  const [head, ...body] = rows;
  return body.map((row) => Object.fromEntries(row.map((value, i) => [head[i], value])));
}

// CSV has no NULL: an empty field is one, or an empty text.
function assertSame(found, written, where) {
  if (found === null || found === undefined) assert.equal(written, "", where);
  else if (typeof found === "number") assert.equal(found, Number(written), where);
  else assert.equal(String(found), written, where);
}

function assertSameRows(found, table) {
  const written = readCsv(table);
  assert.equal(found.length, written.length, table);
  written.forEach((row, i) => {
    assert.deepEqual(Object.keys(found[i]), Object.keys(row), table);
    for (const [name, value] of Object.entries(row)) assertSame(found[i][name], value, `${table}[${i}].${name}`);
  });
}

const hyparquet = (table) => {
  const bytes = readFileSync(file(table));
  return { bytes: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) };
};

test("there is a file of each table, and most have rows", () => {
  assert.deepEqual(tables.toSorted(), readdirSync(join(folder, "csv")).map((name) => name.replace(".csv", "")).toSorted());
  const filled = tables.filter((table) => readCsv(table).length > 0);
  assert.ok(filled.length >= tables.length - 2, filled.join(" "));
  assert.ok(readCsv("spans").length > 100);
});

test("DuckDB reads the rows of the CSV files", async () => {
  for (const table of tables) {
    const answer = await duck.runAndReadAll(`SELECT * FROM '${file(table)}'`);
    assertSameRows(answer.getRowObjects(), table);
  }
});

test("hyparquet reads the rows of the CSV files", async () => {
  for (const table of tables) {
    assertSameRows(await parquetReadObjects({ file: hyparquet(table).bytes, compressors }), table);
  }
});

test("DuckDB joins them, and counts as npuscope does", async () => {
  const sql = (of) => `SELECT ops.name AS name, sum(op_runs.work) AS work FROM ${of("op_runs")} AS op_runs JOIN ${of("ops")} AS ops
    ON ops.id = op_runs.op GROUP BY ops.name ORDER BY work DESC, name LIMIT 20`;
  const theirs = (await duck.runAndReadAll(sql((table) => `'${file(table)}'`))).getRowObjects();
  const own = JSON.parse(npuscope("fleet", "sql", "fleet.db", "--json", sql((table) => table))).rows;
  assert.ok(own.length > 5);
  assert.deepEqual(theirs.map((row) => ({ ...row })), own);
});

test("bounds of chunks are those of the rows, and units stand in the file", async () => {
  for (const table of tables) {
    const chunks = (await duck.runAndReadAll(
      `SELECT path_in_schema AS name, type, stats_min_value AS min, stats_max_value AS max, stats_null_count AS nulls
       FROM parquet_metadata('${file(table)}')`)).getRowObjects();
    for (const { name, type, min, max, nulls } of chunks) {
      const real = (await duck.runAndReadAll(
        `SELECT min("${name}") AS min, max("${name}") AS max, count(*) - count("${name}") AS nulls FROM '${file(table)}'`)).getRowObjects()[0];
      assert.equal(nulls, real.nulls, `${table}.${name}`);
      if (min === null || type === "DOUBLE") continue;
      assert.equal(min, String(real.min), `${table}.${name}`);
      assert.equal(max, String(real.max), `${table}.${name}`);
    }
  }
  const said = Object.fromEntries(parquetMetadata(hyparquet("op_runs").bytes).key_value_metadata.map(({ key, value }) => [key, value]));
  assert.equal(said["npuscope.table"], "op_runs");
  assert.equal(JSON.parse(said["npuscope.column.work"]).unit, "ticks");
});
