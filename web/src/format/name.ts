// Names of a profile for people: control characters, which some screens show as nothing and marks of
// direction, which turn what follows around, as escapes; long ones cut where they differ least.
//
//   printable("a\nb")            "a\x0ab"
//   shortened("abcdefghij", 7)   "abc…hij"

const unreadable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/g;

function escaped(letter: string): string {
  const code = letter.charCodeAt(0);
  return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

export const printable = (text: string): string => text.replace(unreadable, escaped);

// At most so many letters, the middle left out.
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = Math.floor((length - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`;
}

// What fits a line of a card or a canvas: even a name of 100 kB costs nothing.
export const shownName = (text: string, length = 200): string => printable(shortened(text, length));
