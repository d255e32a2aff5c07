// Names next to one another, of which the part that tells each from the others is never cut: where
// space is short, what comes behind it goes first, then what is before.
//
//   apart(["VTCM read bytes", "VTCM write bytes"])   [["VTCM ", "read", " bytes"], ["VTCM ", "write", " bytes"]]
import { shownName } from "../format/format";
import { make } from "./make";

export type Apart = readonly [before: string, key: string, behind: string];

const isBreak = (letter: string): boolean => /[\s/:.,()[\]<>·_-]/.test(letter);

function commonLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) ++i;
  return i;
}

// The word in which a name leaves the one that it is most like.
export function apart(names: readonly string[]): Apart[] {
  const sorted = [...new Set(names)].sort();
  const shared = new Map<string, number>();
  sorted.forEach((name, i) => {
    const next = i + 1 < sorted.length ? commonLength(name, sorted[i + 1]) : 0;
    shared.set(name, Math.max(shared.get(name) ?? 0, next));
    if (i + 1 < sorted.length) shared.set(sorted[i + 1], next);
  });
  return names.map((name) => {
    let begin = Math.min(shared.get(name) ?? 0, name.length - 1);
    while (begin + 1 < name.length && isBreak(name[begin])) ++begin;
    while (begin > 0 && !isBreak(name[begin - 1])) --begin;
    let end = Math.max(begin + 1, (shared.get(name) ?? 0) + 1);
    while (end < name.length && !isBreak(name[end])) ++end;
    return [name.slice(0, begin), name.slice(begin, end), name.slice(end)];
  });
}

const longest = 120;  // letters of a part

export function apartElement([before, key, behind]: Apart, name: string): HTMLElement {
  const part = (text: string, of: string): HTMLElement | null => (text === "" ? null : make("span", { class: of, text: shownName(text, longest) }));
  return make("span", { class: name, title: shownName(before + key + behind, 500) }, make("span", { class: "apart" },
    part(before, "apart-before"), part(key, "apart-key"), part(behind, "apart-behind")));
}
