// What is chosen as the end of an address, so that a view can be sent:
//
//   fragmentOf({ range: { begin: 100, end: 900 }, ops: new Set([3]), … })   "range=100-900&op=3"
//   chosenIn("range=100-900&op=3", { length: 5000, ops: 60, spans: 3000 })  { range: …, ops: … }
//
// Times are ticks since the begin of the profile; ops, spans and findings are places, as in its columns. An address
// may be of another file: places that this one does not have are left out.
import type { By, Chosen, Range } from "./store";

const mostOps = 60;  // more would make an address that no program takes

const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
const time = (value: number, length: number): string => String(length < 1000 ? Number(value.toFixed(3)) : Math.round(value));
const rangeText = ({ begin, end }: Range): string => `${time(begin, end - begin)}-${time(end, end - begin)}`;

export function fragmentOf({ range, visible, ops, span, finding, colour, path }: Chosen): string {
  const parts: string[] = [];
  if (visible !== null) parts.push(`view=${rangeText(visible)}`);
  if (range !== null) parts.push(`range=${rangeText(range)}`);
  if (finding !== null) parts.push(`finding=${finding.of + 1}${finding.place < 0 ? "" : `.${finding.place + 1}`}`);
  else if (ops.size > 0 && ops.size <= mostOps) parts.push(`op=${[...ops].join(",")}`);
  if (span !== null) parts.push(`span=${span}`);
  if (colour !== null) parts.push(`colour=${colour}`);
  if (!path) parts.push("path=0");
  return parts.join("&");
}

export interface Bounds {
  length: number;  // ticks
  ops: number;
  spans: number;
}

function rangeIn(text: string, length: number): Range | null {
  const [begin, end, more] = text.split("-").map(Number);
  return Number.isFinite(begin) && Number.isFinite(end) && more === undefined && begin >= 0 && end > begin && begin < length
    ? { begin, end: Math.min(end, length) } : null;
}

function findingIn(text: string): Chosen["finding"] {
  const [of, place] = text.split(".").map((part) => Number(part) - 1);
  if (!isWhole(of)) return null;
  return { of, place: place !== undefined && isWhole(place) ? place : -1 };
}

const colours: readonly string[] = ["op", "kind", "part", "engine", "unit"] satisfies By[];

export function chosenIn(text: string, bounds: Bounds): Partial<Chosen> {
  const chosen: Partial<Chosen> = {};
  for (const part of text.split("&")) {
    const at = part.indexOf("=");
    const value = part.slice(at + 1);
    switch (part.slice(0, Math.max(0, at))) {
      case "view": chosen.visible = rangeIn(value, bounds.length); break;
      case "range": chosen.range = rangeIn(value, bounds.length); break;
      case "finding": chosen.finding = findingIn(value); break;
      case "op": chosen.ops = new Set(value.split(",").slice(0, mostOps).map(Number).filter((op) => isWhole(op) && op < bounds.ops)); break;
      case "span": chosen.span = value !== "" && isWhole(Number(value)) && Number(value) < bounds.spans ? Number(value) : null; break;
      case "colour": chosen.colour = colours.includes(value) ? (value as By) : null; break;
      case "path": chosen.path = value !== "0"; break;
    }
  }
  return chosen;
}
