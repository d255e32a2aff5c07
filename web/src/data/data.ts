// The columns of one profile as typed arrays, by name (report.ts lists them).
import type { ProfileDataHead } from "./report";

export type Column = Float64Array | Int32Array | Int16Array | Int8Array;

export interface Data {
  head: ProfileDataHead;
  // Of a column that the profile does not have: an empty array.
  column(name: string): Column;
}
