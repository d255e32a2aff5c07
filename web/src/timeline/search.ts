// Search by regular expression over name, kind, node and shape of ops, and over the kind of spans
// that have no op. Case does not matter.
import type { Data } from "../data/data";

export interface Found {
  readonly ops: Uint8Array;    // by place: 1 if it matches
  readonly kinds: Uint8Array;  // by kind of span without op
}

// A sentence where the pattern is not one.
export function search(data: Data, pattern: string): Found | string {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, "i");
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, "") : String(error);
    return `not a regular expression: ${why}`;
  }
  const { strings, kinds } = data.head;
  const matches = new Int8Array(strings.length).fill(-1);
  const test = (place: number): boolean => {
    if (matches[place] < 0) matches[place] = place > 0 && expression.test(strings[place] ?? "") ? 1 : 0;
    return matches[place] === 1;
  };
  const columns = ["op.name", "op.kind", "op.node", "op.shape"].map((name) => data.column(name));
  const ops = new Uint8Array(columns[0].length);
  for (let op = 0; op < ops.length; ++op) {
    for (const column of columns) {
      if (op < column.length && test(column[op])) {
        ops[op] = 1;
        break;
      }
    }
  }
  return { ops, kinds: Uint8Array.from(kinds, (kind) => (expression.test(kind) ? 1 : 0)) };
}
