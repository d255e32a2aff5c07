// A file that `npuscope report --report-data` wrote, as somebody drops it on the page: JSON, plain or gzip, that says
// what it is and of which version. It is a stranger's: what is not such a file is a DataError with a sentence, its texts
// are texts, and what is not of the shape that panels read is refused before any of it is drawn.
import type { Data } from "./data";
import { DataError, gunzip, openBlob } from "./decode";
import type { Page, ProfileReport, Report } from "./report";

export const formatName = "npuscope report data";
export const version = 1;  // report_data_version of src/report/html/report_page.hpp

export interface Opened {
  report: Report;
  data: Data[];
}

export interface NamedFile {
  readonly name: string;
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

type Members = { [key: string]: unknown };

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === "string");
const isClock = (value: unknown): boolean =>
  isMembers(value) && ["name", "kind", "unit"].every((key) => typeof value[key] === "string") && (value["hertz"] === null || typeof value["hertz"] === "number");

function areLayouts(value: unknown, depth = 0): boolean {
  const isField = (field: unknown): boolean => isMembers(field) && ["key", "label", "format"].every((key) => typeof field[key] === "string");
  return depth < 32 && Array.isArray(value) && value.every((layout) => isMembers(layout) && typeof layout["key"] === "string" && typeof layout["title"] === "string" &&
    [layout["facts"], layout["fields"]].every((fields) => Array.isArray(fields) && fields.every(isField)) && areLayouts(layout["parts"], depth + 1));
}

const isPage = (value: unknown): value is Page =>
  isMembers(value) && typeof value["command"] === "string" && isMembers(value["values"]) && areLayouts(value["layout"]);

const isProfile = (value: unknown): value is ProfileReport =>
  isMembers(value) && ["title", "format", "verdict"].every((key) => typeof value[key] === "string") && areTexts(value["files"]) && areTexts(value["cautions"]) &&
  isClock(value["clock"]) && Array.isArray(value["clocks"]) && value["clocks"].every(isClock) &&
  isMembers(value["pages"]) && Object.values(value["pages"]).every(isPage) && isMembers(value["missing_pages"]) && Array.isArray(value["notes"]);

const isFleet = (value: unknown): boolean =>
  value === null || (isMembers(value) && typeof value["store"] === "string" && Array.isArray(value["pages"]) && value["pages"].every(isPage) && Array.isArray(value["missing"]));

const isReport = (value: unknown): value is Report =>
  isMembers(value) && typeof value["npuscope"] === "string" && areTexts(value["arguments"]) && Array.isArray(value["profiles"]) && value["profiles"].every(isProfile) &&
  (value["comparison"] === null || isPage(value["comparison"])) && isFleet(value["fleet"]) && Array.isArray(value["notes"]);

const isHead = ({ head }: Data): boolean =>
  [head.strings, head.kinds, head.reasons].every(areTexts) && Number.isFinite(head.length) &&
  head.units.every((unit) => [unit.name, unit.path, unit.engine].every((text) => typeof text === "string") && Number.isSafeInteger(unit.parent)) &&
  head.counters.every((counter) => typeof counter.name === "string" && typeof counter.part === "string");

const most = 1 << 30;  // bytes of a file

export async function openFile(file: NamedFile): Promise<Opened> {
  const no = (why: string): DataError => new DataError(`${file.name}: ${why}.`);
  const write = "npuscope report FILES --report-data writes what a page opens";
  if (file.size > most) throw no("larger than 1 GiB; --max-spans makes the data of a report smaller");
  let bytes = new Uint8Array(await file.arrayBuffer());
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await gunzip(bytes);
  } catch {
    throw no(`does not decompress; ${write}`);
  }
  let found: unknown = null;
  try {
    found = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw no(`not report data of npuscope; ${write}`);
  }
  if (!isMembers(found) || found["format"] !== formatName) throw no(`not report data of npuscope; ${write}`);
  if (found["version"] !== version) {
    throw no(`report data of version ${JSON.stringify(found["version"])?.slice(0, 20)}, and this page opens version ${version}; write the page and the data with the same npuscope`);
  }
  const { report, data: blob } = found;
  const damaged = no("the report data are damaged; write them again");
  if (!isReport(report) || typeof blob !== "string") throw damaged;
  let data: Data[];
  try {
    data = await openBlob(blob);
  } catch {
    throw damaged;
  }
  if (data.length !== report.profiles.length || !data.every(isHead)) throw damaged;
  return { report, data };
}

// Profiles of several files as one report: a tab each. A comparison or a fleet is shown where its file is alone.
export function joined(all: readonly Opened[]): Opened {
  const [first] = all;
  if (all.length === 1) return first;
  return { report: { ...first.report, comparison: null, fleet: null, profiles: all.flatMap(({ report }) => report.profiles) }, data: all.flatMap(({ data }) => data) };
}
