// A value of a page as npuscope's text prints it (src/report/document/document_value.cpp).
//
//   valueText({key: "busy", label: "busy", format: "ticks"}, 12312, report)  "12,312"
//   valueText({key: "s", label: "of wall", format: "share"}, 0.19, report)   "19.0 %"
import type { Field, Format, Scalar } from "../data/report";
import { barText, bytesText, changeText, exactText, hertzText, numberText, secondsText, shareText } from "./number";
import { clockOf, ticksText, type Clocks } from "./ticks";

type FieldFormat = Pick<Field, "format" | "clock">;

function numberAs(field: FieldFormat, number: number, clocks: Clocks | null): string {
  if (!Number.isFinite(number)) return "";
  switch (field.format) {
    case "ticks": return clocks === null ? numberText(number) : ticksText(clockOf(clocks, field.clock), number);
    case "seconds": return secondsText(number);
    case "bytes": return bytesText(number);
    case "bytes_per_second": return `${numberText(number / 1e9)} GB/s`;
    case "hertz": return hertzText(number);
    case "share": return shareText(number);
    case "change": return changeText(number);
    case "bar": return barText(number);
    case "exact": return exactText(number);
    default: return numberText(number);
  }
}

// `clocks`: of the profile; null: of none, as in a comparison.
export function valueText(field: FieldFormat, value: Scalar | undefined, clocks: Clocks | null): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return numberAs(field, value, clocks);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  return field.format === "numbers" ? `[${value.join(", ")}]` : value.join(", ");
}

// Numbers stand right, below one another.
export const standsLeft = (format: Format): boolean => ["name", "names", "numbers", "bar"].includes(format);

