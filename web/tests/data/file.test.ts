import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { formatName, joined, openFile, version, type NamedFile } from "../../src/data/file";
import { encodeBlob } from "../support/encode";
import { makePage } from "../support/fixture";
import { Random } from "../support/random";

const page = makePage({ spans: 300, cores: 1 });
const whole = { format: formatName, version, report: page.report, data: encodeBlob(page.data) };
const fileOf = (value: unknown, name = "run.json"): NamedFile => {
  const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
  return { name, size: bytes.length, arrayBuffer: async () => bytes.slice().buffer as ArrayBuffer };
};
const refusal = async (value: unknown): Promise<string> => {
  try {
    await openFile(fileOf(value));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("report data open, plain and gzip, and several are tabs of one report", async () => {
  const plain = await openFile(fileOf(whole));
  assert.deepEqual(plain.report, page.report);
  assert.equal(plain.data[0].column("span.start").length, page.data[0].columns[0].values.length);
  const packed = await openFile(fileOf(new Uint8Array(gzipSync(JSON.stringify(whole)))));
  assert.deepEqual(packed.report, page.report);
  const both = joined([plain, packed]);
  assert.deepEqual([both.report.profiles.length, both.data.length], [2, 2]);
});

test("what is not report data, or of another version, is refused in a sentence", async () => {
  assert.match(await refusal("{\"traceEvents\": []}"), /^run\.json: not report data of npuscope; npuscope report FILES --report-data writes what a page opens\.$/);
  assert.match(await refusal("<html>"), /not report data of npuscope/);
  assert.match(await refusal(new Uint8Array([0x1f, 0x8b, 1, 2, 3])), /does not decompress/);
  assert.match(await refusal({ ...whole, version: 2 }), /^run\.json: report data of version 2, and this page opens version 1; /);
  assert.match(await refusal({ ...whole, version: undefined }), /report data of version undefined/);
  assert.match(await refusal({ ...whole, data: "####" }), /the report data are damaged/);
  await assert.rejects(openFile({ ...fileOf(whole), size: 2 ** 31 }), /larger than 1 GiB/);
});

// Every member of the report is replaced by what it should not be.
test("report data of a wrong shape are refused or hold what panels read, and nothing else is thrown", async () => {
  const random = new Random(23);
  const wrong = [null, 7, "x", [], {}, [null], { a: [1] }, -1, true];
  const spoiled = (value: unknown, depth: number): unknown => {
    if (depth === 0 || typeof value !== "object" || value === null) return wrong[random.below(wrong.length)];
    const keys = Object.keys(value);
    if (keys.length === 0) return wrong[random.below(wrong.length)];
    const key = keys[random.below(keys.length)];
    const copy: { [key: string]: unknown } = Array.isArray(value) ? ([...value] as unknown as { [key: string]: unknown }) : { ...(value as object) };
    copy[key] = spoiled(copy[key], depth - 1);
    return copy;
  };
  let refused = 0;
  for (let round = 0; round < 400; ++round) {
    const message = await refusal({ ...whole, report: spoiled(page.report, 1 + random.below(7)) });
    if (message === "") continue;
    refused += 1;
    assert.equal(message, "run.json: the report data are damaged; write them again.");
  }
  assert.ok(refused > 100, String(refused));
});
