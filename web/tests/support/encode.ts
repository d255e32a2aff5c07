// Writes what `npuscope report` writes: columns into the blob, and report and blob into a page.
// The slow and obvious twin of src/data/.
import { gunzipSync, gzipSync } from "node:zlib";
import type { ColumnHead, ProfileDataHead, Report } from "../../src/data/report";

export interface ColumnInput {
  name: string;
  values: ArrayLike<number>;
  encoding?: "varint" | "planes" | "f64";  // none: varint where all values are whole
  delta?: boolean;
  after?: string;
}

export type ProfileInput = Omit<ProfileDataHead, "columns"> & { columns: ColumnInput[] };

export interface PageInput {
  report: Report;
  data: ProfileInput[];
}

function varints(values: ArrayLike<number>, delta: boolean): Uint8Array {
  let bytes = new Uint8Array(1 << 16);
  let at = 0;
  let before = 0;
  for (let i = 0; i < values.length; ++i) {
    if (at + 10 > bytes.length) {
      const more = new Uint8Array(bytes.length * 2);
      more.set(bytes);
      bytes = more;
    }
    const value = delta ? values[i] - before : values[i];
    before = values[i];
    let zigzag = value < 0 ? -2 * value - 1 : 2 * value;
    while (zigzag >= 128) {
      bytes[at++] = (zigzag % 128) | 128;
      zigzag = Math.floor(zigzag / 128);
    }
    bytes[at++] = zigzag;
  }
  return bytes.subarray(0, at);
}

function planes(values: ArrayLike<number>): Uint8Array {
  const zigzags = Array.from(values, (value) => BigInt(value) < 0n ? -2n * BigInt(value) - 1n : 2n * BigInt(value));
  const bytes: number[] = [];
  for (let shift = 0n; shift < 64n && zigzags.some((zigzag) => zigzag >> shift > 0n || shift === 0n); shift += 8n) {
    for (const zigzag of zigzags) bytes.push(Number((zigzag >> shift) & 255n));
  }
  return Uint8Array.from(bytes);
}

// What is left of each value behind the end before it.
const fromEnds = (values: ArrayLike<number>, durations: ArrayLike<number>): number[] =>
  Array.from(values, (value, i) => (i === 0 ? value : value - values[i - 1] - durations[i - 1]));

function doubles(values: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; ++i) view.setFloat64(8 * i, values[i], true);
  return bytes;
}

const whole = (values: ArrayLike<number>): boolean => {
  for (let i = 0; i < values.length; ++i) if (!Number.isSafeInteger(values[i])) return false;
  return true;
};

// The bytes that gzip packs.
export function encodeData(profiles: ProfileInput[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let offset = 0;
  const heads = profiles.map((profile): ProfileDataHead => {
    const columns = profile.columns.map((column): ColumnHead => {
      const encoding = column.encoding ?? (whole(column.values) ? "varint" : "f64");
      const delta = column.delta ?? false;
      const durations = column.after === undefined ? null : profile.columns.find((other) => other.name === column.after)?.values ?? [];
      const bytes = encoding === "f64" ? doubles(column.values) : encoding === "planes" ? planes(column.values)
        : durations !== null ? varints(fromEnds(column.values, durations), false) : varints(column.values, delta);
      parts.push(bytes);
      const head = { name: column.name, encoding, delta: delta || durations !== null, count: column.values.length, offset, bytes: bytes.length,
                                 ...(column.after === undefined ? {} : { after: column.after }) };
      offset += bytes.length;
      return head;
    });
    return { ...profile, columns };
  });
  const text = new TextEncoder().encode(JSON.stringify({ profiles: heads }));
  const behind = Math.ceil((4 + text.length) / 8) * 8;
  const all = new Uint8Array(behind + offset);
  new DataView(all.buffer).setUint32(0, text.length, true);
  all.set(text, 4);
  let at = behind;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const packed = (bytes: Uint8Array | string): string => gzipSync(bytes, { level: 6 }).toString("base64");

export const encodeBlob = (profiles: ProfileInput[]): string => packed(encodeData(profiles));

// `template`: built/page.html.
export const fillTemplate = (template: string, report: Report, blob: string, coarse = ""): string => template
  .replace("<!--npuscope-report-->", () => packed(JSON.stringify(report))).replace("<!--npuscope-coarse-->", coarse).replace("<!--npuscope-data-->", () => blob);

export const fillPage = (template: string, page: PageInput): string => fillTemplate(template, page.report, encodeBlob(page.data));

// The text of a script of a page, and the report that it holds.
export function pieceOf(html: string, id: string): string {
  const mark = `id="${id}">`;
  const at = html.indexOf(mark) + mark.length;
  return html.slice(at, html.indexOf("</script>", at));
}

export const reportIn = (html: string): Report => JSON.parse(gunzipSync(Buffer.from(pieceOf(html, "npuscope-report"), "base64")).toString("utf8")) as Report;
