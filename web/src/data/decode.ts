// From the text of <script id="npuscope-data"> to columns:
//
//   base64 > gzip > u32 length of the head, head (DataHead as JSON), zeros up to 8, columns
//
// What does not hold together is a DataError with a sentence for the reader. All columns are checked
// when the blob is opened and decoded when somebody asks for them.
import { fromBase64 } from "./base64";
import type { Column, Data } from "./data";
import type { ColumnHead, DataHead, ProfileDataHead } from "./report";
import { countOfVarints, decodePlanes, decodeVarints } from "./varint";

export class DataError extends Error {}

const damaged = (what: string): DataError =>
  new DataError(`The data of this page are damaged (${what}): write the report again.`);

const mostBytes = 1.5 * 2 ** 30;  // of what a stranger's file may become

const mostTimes = 1032;  // as long as what deflate made of it

// Gzip of so many bytes says at its end how many it holds, modulo 2^32: where that is a lie the array grows.
function lengthIn(end: Uint8Array, packed: number): number {
  const [a, b, c, d] = end.subarray(-4);
  return end.length < 4 ? 0 : Math.min(mostBytes, mostTimes * packed, (a | (b << 8) | (c << 16)) + d * 2 ** 24);
}

// `pieces`: of the gzip, one after the other, so that no copy of all of it is made.
async function inflated(pieces: Iterable<Uint8Array<ArrayBuffer>>, expected: number): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  let all: Uint8Array<ArrayBuffer>;
  try {
    all = new Uint8Array(expected);
    const { readable, writable } = new DecompressionStream("gzip");
    const writer = writable.getWriter();
    const written = (async () => {
      for (const piece of pieces) {
        await writer.ready;
        await writer.write(piece);
      }
      await writer.close();
    })();
    written.catch(() => {});  // the reader says the same
    const reader = readable.getReader();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const end = at + chunk.value.length;
      if (end > mostBytes) throw damaged("they are larger than a page holds");
      if (end > all.length) {
        const larger = new Uint8Array(Math.min(mostBytes, Math.max(end, 2 * all.length)));
        larger.set(all.subarray(0, at));
        all = larger;
      }
      all.set(chunk.value, at);
      at = end;
    }
    await written;
  } catch (error) {
    throw error instanceof DataError ? error : damaged("they do not decompress");
  }
  return at === all.length ? all : all.slice(0, at);
}

export const gunzip = (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> => inflated([bytes], lengthIn(bytes, bytes.length));

class Columns implements Data {
  private decoded = new Map<string, Column>();

  constructor(readonly head: ProfileDataHead, private readonly bytes: Map<string, [ColumnHead, Uint8Array]>) {}

  column(name: string): Column {
    let column = this.decoded.get(name);
    if (column !== undefined) return column;
    const stored = this.bytes.get(name);
    if (stored === undefined) {
      column = new Int32Array(0);
    } else {
      const [head, bytes] = stored;
      column = head.encoding === "f64" ? doublesOf(bytes, head.count) : head.encoding === "planes" ? decodePlanes(bytes, head.count)
        : decodeVarints(bytes, head.count, head.delta, head.after === undefined ? null : this.column(head.after));
    }
    this.decoded.set(name, column);
    return column;
  }
}

function doublesOf(bytes: Uint8Array, count: number): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const column = new Float64Array(count);
  for (let i = 0; i < count; ++i) column[i] = view.getFloat64(8 * i, true);
  return column;
}

function columnBytes(head: ColumnHead, all: Uint8Array): Uint8Array {
  const { name, offset, bytes: length, count } = head;
  const fits = [offset, length, count].every((n) => Number.isSafeInteger(n) && n >= 0) && offset + length <= all.length;
  if (!fits) throw damaged(`column ${name} is cut off`);
  const bytes = all.subarray(offset, offset + length);
  const held = head.encoding === "f64" ? length / 8 : head.encoding === "varint" ? countOfVarints(bytes)
    : head.encoding === "planes" && length % Math.max(1, count) === 0 && length <= 8 * count ? count : -1;
  if (held !== count) throw damaged(`column ${name} has ${held} values instead of ${count}`);
  return bytes;
}

function rowsOf(columns: Map<string, [ColumnHead, Uint8Array]>, name: string): number {
  return columns.get(name)?.[0].count ?? 0;
}

// Columns of one table are equally long; a missing one is allowed.
function checkTables(columns: Map<string, [ColumnHead, Uint8Array]>): void {
  const rows = new Map<string, number>();
  for (const [name, [head]] of columns) {
    const table = name.slice(0, name.indexOf("."));
    const expected = rows.get(table) ?? head.count;
    if (head.count !== expected) throw damaged(`column ${name} has ${head.count} values, others of its table ${expected}`);
    rows.set(table, expected);
    const after = head.after === undefined ? undefined : columns.get(head.after)?.[0];
    if (head.after !== undefined && (after === undefined || after.after !== undefined || after.count !== head.count)) {
      throw damaged(`column ${name} follows none that is there`);
    }
  }
}

function openProfile(head: ProfileDataHead, all: Uint8Array): Data {
  const columns = new Map<string, [ColumnHead, Uint8Array]>();
  for (const column of head.columns) columns.set(column.name, [column, columnBytes(column, all)]);
  checkTables(columns);
  const inside = (first: number, count: number, rows: number): boolean => first >= 0 && count >= 0 && first + count <= rows;
  const spans = rowsOf(columns, "span.start");
  for (const unit of head.units) {
    if (!inside(unit.first_span, unit.spans, spans)) throw damaged(`unit ${unit.path} has more spans than there are`);
  }
  const samples = rowsOf(columns, "counter.time");
  for (const counter of head.counters) {
    if (!inside(counter.first_sample, counter.samples, samples)) throw damaged(`counter ${counter.name} has more samples than there are`);
  }
  return new Columns(head, columns);
}

// The bytes behind gzip.
export function openBytes(bytes: Uint8Array<ArrayBuffer>): Data[] {
  if (bytes.length < 4) throw damaged("they end early");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const behind = Math.ceil((4 + length) / 8) * 8;
  if (4 + length > bytes.length) throw damaged("they end early");
  let head: DataHead;
  try {
    head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as DataHead;
  } catch {
    throw damaged("their head is not JSON");
  }
  const columns = bytes.subarray(Math.min(behind, bytes.length));
  return head.profiles.map((profile) => openProfile(profile, columns));
}

const lettersAtOnce = 1 << 18;  // a multiple of four

function* piecesOf(text: string): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < text.length; at += lettersAtOnce) {
    const piece = fromBase64(text.slice(at, at + lettersAtOnce));
    if (piece === null) throw damaged("they are not base64");
    yield piece;
  }
}

async function unpacked(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const whole = text.trim();
  const end = fromBase64(whole.slice(-8));
  if (end === null) throw damaged("they are not base64");
  return inflated(piecesOf(whole), lengthIn(end, whole.length));
}

// A Data for each profile of the report, in its order.
export const openBlob = async (text: string): Promise<Data[]> => openBytes(await unpacked(text));

// JSON out of the text of <script id="npuscope-report">.
export async function openJson(text: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await unpacked(text)));
}
