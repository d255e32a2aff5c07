// Writes what `npuscope report` writes: columns into the blob, and report and blob into a page.
// The slow and obvious twin of src/data/.
import { gzipSync } from "node:zlib";
import type { ColumnHead, ProfileDataHead, Report } from "../../src/data/report";

export interface ColumnInput {
  name: string;
  values: ArrayLike<number>;
  encoding?: "varint" | "f64";  // none: varint where all values are whole
  delta?: boolean;
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
      const bytes = encoding === "f64" ? doubles(column.values) : varints(column.values, delta);
      parts.push(bytes);
      const head = { name: column.name, encoding, delta, count: column.values.length, offset, bytes: bytes.length };
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

export function encodeBlob(profiles: ProfileInput[]): string {
  return gzipSync(encodeData(profiles), { level: 6 }).toString("base64");
}

// `template`: built/page.html.
export function fillPage(template: string, page: PageInput): string {
  // "<" as an escape: no name can end the script element.
  const json = JSON.stringify(page.report).replaceAll("<", "\\u003c");
  return template
    .replace("<!--npuscope-report-->", () => json)
    .replace("<!--npuscope-data-->", () => encodeBlob(page.data));
}
