import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBase64 } from "../../src/data/base64";
import { DataError, openBlob, openBytes } from "../../src/data/decode";
import { countOfVarints, decodeVarints } from "../../src/data/varint";
import { encodeBlob, encodeData, type ColumnInput, type ProfileInput } from "../support/encode";
import { makeProfile } from "../support/fixture";
import { Random } from "../support/random";

function profileOf(columns: ColumnInput[]): ProfileInput {
  return { ...makeProfile({ spans: 0, ops: 0 }).data, columns };
}

const decoded = (columns: ColumnInput[], name: string): number[] =>
  Array.from(openBytes(encodeData([profileOf(columns)]) as Uint8Array<ArrayBuffer>)[0].column(name));

test("whole numbers of every length come back, with and without differences", () => {
  const values = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, 2 ** 20, -(2 ** 27), 2 ** 27, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 40, -(2 ** 50), 2 ** 50 - 1, 3];
  for (const delta of [false, true]) assert.deepEqual(decoded([{ name: "a.b", values, delta }], "a.b"), values);
});

test("random columns come back", () => {
  const random = new Random(7);
  for (let round = 0; round < 200; ++round) {
    const values = Array.from({ length: random.below(50) }, () => Math.round((random.next() - 0.5) * 2 ** random.below(50)));
    assert.deepEqual(decoded([{ name: "a.b", values, delta: round % 2 === 0 }], "a.b").map((n) => n + 0), values.map((n) => n + 0));
  }
});

test("planes and times behind the span before come back, whatever their width", () => {
  const random = new Random(29);
  for (let round = 0; round < 200; ++round) {
    const bits = random.below(53);
    const durations = Array.from({ length: random.below(40) }, () => Math.floor(random.next() * 2 ** random.below(bits + 1)) * (random.below(9) === 0 ? -1 : 1) + 0);
    const starts: number[] = [];
    for (const [i] of durations.entries()) starts.push(i === 0 ? 2 ** random.below(40) : starts[i - 1] + random.below(3) * random.below(1000));
    const columns: ColumnInput[] = [{ name: "a.start", values: starts, after: "a.duration" }, { name: "a.duration", values: durations, encoding: "planes" }];
    assert.deepEqual(decoded(columns, "a.duration").map((n) => n + 0), durations.map((n) => n + 0));
    assert.deepEqual(decoded(columns, "a.start"), starts);
  }
  const of = (encoding: "planes", values: number[]): string => openBytes(encodeData([profileOf([{ name: "a.b", values, encoding }])]) as Uint8Array<ArrayBuffer>)[0].column("a.b").constructor.name;
  assert.deepEqual([of("planes", [127]), of("planes", [128]), of("planes", [-32768]), of("planes", [2 ** 31 - 1]), of("planes", [2 ** 31])],
                   ["Int8Array", "Int16Array", "Int16Array", "Int32Array", "Float64Array"]);
});

test("a column that counts from one that is not there is damaged", () => {
  const open = (columns: ColumnInput[]): unknown => openBytes(encodeData([profileOf(columns)]) as Uint8Array<ArrayBuffer>);
  assert.throws(() => open([{ name: "a.start", values: [1, 2], after: "a.none" }]), DataError);
  assert.throws(() => open([{ name: "a.start", values: [1, 2], after: "a.start" }]), DataError);
  assert.throws(() => open([{ name: "a.start", values: [1, 2], after: "b.duration" }, { name: "b.duration", values: [1] }]), DataError);
});

test("a column of numbers that fit 32 bits is an Int32Array, any other a Float64Array", () => {
  const [data] = openBytes(encodeData([profileOf([
    { name: "a.narrow", values: [1, 2] }, { name: "a.wide", values: [1, 2 ** 33] }, { name: "a.real", values: [0.5, -1] }])]) as Uint8Array<ArrayBuffer>);
  assert.ok(data.column("a.narrow") instanceof Int32Array);
  assert.ok(data.column("a.wide") instanceof Float64Array);
  assert.deepEqual(Array.from(data.column("a.real")), [0.5, -1]);
});

test("a column that the profile does not have is empty", () => {
  assert.equal(decoded([], "span.start").length, 0);
});

test("a blob gives each profile its columns", async () => {
  const blob = encodeBlob([profileOf([{ name: "a.b", values: [5] }]), profileOf([{ name: "a.b", values: [6, 7] }])]);
  const all = await openBlob(`\n${blob}\n`);
  assert.deepEqual(all.map((data) => Array.from(data.column("a.b"))), [[5], [6, 7]]);
});

test("varints are counted, and one without end is found", () => {
  assert.equal(countOfVarints(Uint8Array.of(1, 128, 1)), 2);
  assert.equal(countOfVarints(Uint8Array.of(1, 128)), -1);
  assert.equal(countOfVarints(new Uint8Array(0)), 0);
  assert.deepEqual(Array.from(decodeVarints(Uint8Array.of(4, 128, 1), 2, false)), [2, 64]);
});

test("base64 is read as node reads it", () => {
  for (const text of ["", "a", "ab", "abc", "abcd\u00ff"]) {
    const encoded = Buffer.from(text, "latin1").toString("base64");
    assert.deepEqual(Buffer.from(fromBase64(encoded)!).toString("latin1"), text);
  }
  for (const bad of ["a", "ab?d", "abc\u20ac", "ab c", "é==="]) assert.equal(fromBase64(bad), null, bad);
});

test("damaged data are an error in a sentence, wherever they are cut or flipped", async () => {
  const blob = Buffer.from(encodeBlob([makeProfile({ spans: 300 }).data]), "base64");
  for (let i = 0; i < blob.length; i += 97) {
    for (const damaged of [blob.subarray(0, i), Buffer.concat([blob.subarray(0, i), Buffer.of(blob[i] ^ 0x55), blob.subarray(i + 1)])]) {
      try {
        await openBlob(damaged.toString("base64"));  // a flip in gzip's head may not matter
      } catch (error) {
        assert.ok(error instanceof DataError && error.message.endsWith("write the report again."), String(error));
      }
    }
  }
});

test("columns that do not hold what the head says are damaged", () => {
  const open = (change: (profile: ProfileInput) => void): void => {
    const profile = makeProfile({ spans: 300 }).data;
    change(profile);
    openBytes(encodeData([profile]) as Uint8Array<ArrayBuffer>);
  };
  open(() => {});
  assert.throws(() => open((profile) => profile.units[0].spans = 10000), DataError);
  assert.throws(() => open((profile) => profile.counters[0].first_sample = -1), DataError);
  assert.throws(() => open((profile) => profile.columns[0].values = [1]), DataError);
});
