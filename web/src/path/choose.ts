// Which ops or units what-if makes faster: those that a regular expression finds, as
// `npuscope path --faster PATTERN=2x` and `unit:PATTERN=2x` choose them.
import type { Data } from "../data/data";

// A pattern, or a sentence that says why it is none.
export function patternOf(text: string): RegExp | string {
  // RE2, which the command uses, takes "(?i)" at the beginning; here it is a flag.
  const ignoresCase = text.startsWith("(?i)");
  try {
    return new RegExp(ignoresCase ? text.slice(4) : text, ignoresCase ? "iu" : "u");
  } catch (error) {
    return `not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, "")}`;
  }
}

// Ops whose name, kind or node has the pattern; each text is looked at once.
export function opsMatching(data: Data, pattern: RegExp): Set<number> {
  const { strings } = data.head;
  const known = new Map<number, boolean>();
  const matches = (text: number): boolean => {
    let found = known.get(text);
    if (found === undefined) known.set(text, (found = pattern.test(strings[text] ?? "")));
    return found;
  };
  const columns = ["op.name", "op.kind", "op.node"].map((name) => data.column(name));
  const ops = new Set<number>();
  for (let op = 0; op < columns[0].length; ++op) {
    if (columns.some((column) => op < column.length && matches(column[op]))) ops.add(op);
  }
  return ops;
}

export function unitsMatching(data: Data, pattern: RegExp): Set<number> {
  const units = new Set<number>();
  data.head.units.forEach((unit, place) => {
    if (pattern.test(unit.path)) units.add(place);
  });
  return units;
}

// A text that, as a pattern, finds itself.
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
