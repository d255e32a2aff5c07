// The head of a tab: what was profiled, the verdict, the latency, what to be careful about, and where
// the numbers come from.
import type { FleetReport, Page, ProfileReport, Report, Scalar, Values } from "../data/report";
import { comparisonTitle } from "../comparison/comparison";
import { make } from "../dom/make";
import { printable, shownName, standsLeft, valueText } from "../format/format";
import { commandLine } from "./command_line";
import { latencyBars } from "./latency_bars";

const maxSentence = 1000;  // letters

const isScalar = (value: Scalar | Values | Values[] | undefined): value is Scalar =>
  value !== undefined && (value === null || typeof value !== "object" || (Array.isArray(value) && typeof value[0] !== "object"));

// Warm next to cold, as the section "latency" of the first page has it, with bars and their share of the whole.
function latency(report: ProfileReport): HTMLElement | null {
  const page = report.pages["show"];
  const layout = page?.layout.find((section) => section.key === "latency");
  const values = page?.values["latency"] as Values | undefined;
  const rows = (values?.["rows"] ?? []) as Values[];
  if (layout === undefined || rows.length === 0) return null;
  const scalar = (row: Values, key: string): Scalar => (isScalar(row[key]) ? row[key] : null);
  const fields = layout.fields.filter((field) => field.label !== "" &&
    (field.only_if_known !== true || rows.some((row) => scalar(row, field.key) !== null)));
  const cell = (name: "th" | "td", text: string, left: boolean): HTMLElement => make(name, { class: left ? "" : "number", text });
  const bars = latencyBars(rows.map((row) => ({ part: String(scalar(row, "part") ?? ""), warm: scalar(row, "warm_median_seconds"), cold: scalar(row, "cold_seconds"), other: scalar(row, "seconds") })),
                           isScalar(values?.["share_outside_npu"]) ? values["share_outside_npu"] : null);
  const title = layout.title.toLowerCase();
  return make("table", { class: "latency" },
    make("caption", { text: title.charAt(0).toUpperCase() + title.slice(1) }),
    make("thead", {}, make("tr", {}, ...fields.map((field) => cell("th", field.label, standsLeft(field.format))), make("th", { class: "latency-bars", text: "" }))),
    make("tbody", {}, ...rows.map((row, i) => make("tr", {}, ...fields.map((field) =>
      cell("td", printable(valueText(field, scalar(row, field.key), report)), standsLeft(field.format))), bars[i]))));
}

// `text` is printable already.
const pairOf = (term: string, text: string): Node[] => (text === "" ? [] : [make("dt", { text: term }), make("dd", { text })]);

const pair = (term: string, text: string): Node[] => pairOf(term, shownName(text, 2000));

// Facts of the first page's section "about", where it has them.
function about(report: ProfileReport): Node[] {
  const page = report.pages["show"];
  const layout = page?.layout.find((section) => section.key === "about");
  const values = page?.values["about"] as Values | undefined;
  if (layout === undefined || values === undefined) return [];
  return layout.facts.filter((fact) => fact.label !== "").flatMap((fact) => {
    const value = values[fact.key];
    return isScalar(value) ? pair(fact.label, valueText(fact, value, report)) : [];
  });
}

function clockText(report: ProfileReport): string {
  const { name, unit, hertz } = report.clock;
  return `${name} (${unit}${hertz === null ? "" : `, ${valueText({ format: "hertz" }, hertz, null)}`})`;
}

function provenance(report: Report, facts: Node[]): HTMLElement {
  return make("details", { class: "provenance" },
    make("summary", { text: "Files, versions and the command of this page" }),
    make("dl", {}, ...facts, ...pair("npuscope", report.npuscope),
      make("dt", { text: "command" }), make("dd", {}, make("code", { text: printable(commandLine(report.arguments)) }))));
}

function list(name: string, texts: string[]): HTMLElement | null {
  if (texts.length === 0) return null;
  return make("ul", { class: name }, ...texts.map((text) => make("li", { text: shownName(text, maxSentence) })));
}

export function profileHead(report: Report, profile: ProfileReport): HTMLElement {
  const facts = [...pairOf("files", profile.files.map((file) => shownName(file, 500)).join("\n")), ...pair("format", profile.format),
                 ...pair("clock", clockText(profile)), ...about(profile)];
  const part = [profile.scope, profile.selection].filter((text) => text !== null && text !== "").join(" · ");
  const cautions = [...profile.cautions];
  if (profile.partial) cautions.push("Records that the files held are missing: the numbers are of what was read.");
  return make("header", { class: "head" },
    make("h1", { text: shownName(profile.title, 300) }),
    part === "" ? null : make("p", { class: "scope", text: shownName(part, 300) }),
    profile.verdict === "" ? null : make("p", { class: "verdict", text: shownName(profile.verdict, maxSentence) }),
    list("cautions", cautions), latency(profile), provenance(report, facts));
}

export function comparisonHead(report: Report, comparison: Page): HTMLElement {
  return make("header", { class: "head" }, make("h1", { text: comparisonTitle(comparison) }),
    provenance(report, pair("same numbers", comparison.command)));
}

export function fleetHead(report: Report, fleet: FleetReport): HTMLElement {
  const commands = fleet.pages.map((page) => shownName(page.command, 500)).join("\n");
  return make("header", { class: "head" }, make("h1", { text: shownName(fleet.store, 300) }),
    fleet.where === null ? null : make("p", { class: "scope", text: `runs where ${shownName(fleet.where, 500)}` }),
    provenance(report, pairOf("same numbers", commands)));
}
