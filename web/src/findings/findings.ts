// Findings out of page "diagnose", each with where on the timeline its evidence lies (columns
// finding.*).
import type { Data } from "../data/data";
import type { ProfileReport } from "../data/report";
import { fact, find, number, sectionsOf, text, type Section } from "../section/section";
import type { Range } from "../state/store";

export interface Evidence {
  what: string;
  value: string;
  of: string;
  source: string;
}

export interface Place extends Range {
  unit: number;  // place in units; -1: any
}

export interface Finding {
  rank: number;
  rule: string;
  title: string;
  weight: string;      // "high"
  gain: string;        // a sentence
  gainShare: number | null;
  gainOf: string;      // "the cold wall"
  advice: string;
  evidence: Evidence[];
  places: Place[];
}

export function findingsOf(report: ProfileReport, data: Data): Finding[] {
  const page = report.pages.diagnose;
  if (page === undefined) return [];
  const sections = sectionsOf(page).filter((section) => section.key === "findings");
  const places = placesOf(data, sections.length);
  return sections.map((section, place) => findingOf(section, places[place]));
}

function findingOf(section: Section, places: Place[]): Finding {
  const gain = text(fact(section, "gain_text"));
  return {
    rank: number(fact(section, "rank")) ?? 0,
    rule: text(fact(section, "rule")), title: text(fact(section, "title")), weight: text(fact(section, "weight")),
    gain: gain !== "" ? gain : text(fact(section, "no_gain")),
    ...drawnGain(section),
    advice: text(fact(section, "advice")),
    evidence: section.rows.map((row) => ({ what: text(row.what), value: text(row.text), of: text(row.of), source: text(row.source) })),
    places,
  };
}

// Of a warm call, by which findings are ranked, where it is known; else of the wall that was recorded.
export function drawnGain(section: Section): Pick<Finding, "gainShare" | "gainOf"> {
  const ofCall = number(fact(section, "call_gain_share"));
  if (ofCall !== null) return { gainShare: ofCall, gainOf: "a warm call" };
  return { gainShare: number(fact(section, "gain_share")), gainOf: text(fact(section, "gain_of")) };
}

function placesOf(data: Data, findings: number): Place[][] {
  const [of, unit, begin, end] = ["of", "unit", "begin", "end"].map((name) => data.column(`finding.${name}`));
  const places: Place[][] = Array.from({ length: findings }, () => []);
  for (let i = 0; i < of.length; ++i) places[of[i]]?.push({ unit: unit[i], begin: begin[i], end: end[i] });
  for (const each of places) each.sort((a, b) => a.begin - b.begin);
  return places;
}

// From the first to the last, with some of what is around.
export function aroundAll(places: readonly Range[], length: number): Range {
  const begin = Math.min(...places.map((place) => place.begin));
  const end = Math.max(...places.map((place) => place.end));
  const margin = Math.max(1, (end - begin) * 0.08);
  return { begin: Math.max(0, begin - margin), end: Math.min(length, end + margin) };
}

// The ops that ran in these places.
export function opsIn(data: Data, places: readonly Place[]): Set<number> {
  const start = data.column("span.start");
  const duration = data.column("span.duration");
  const op = data.column("span.op");
  const ops = new Set<number>();
  for (const place of places) {
    data.head.units.forEach((unit, number) => {
      if (place.unit >= 0 && place.unit !== number) return;
      const last = unit.first_span + unit.spans;
      for (let i = unit.first_span; i < last && start[i] < place.end; ++i) {
        if (op[i] >= 0 && start[i] + duration[i] > place.begin) ops.add(op[i]);
      }
    });
  }
  return ops;
}

// Sentences about all of them, and how many rules were checked.
export function summaryOf(report: ProfileReport): { counts: string; remarks: string[]; rest: Section | null } {
  const sections = report.pages.diagnose === undefined ? [] : sectionsOf(report.pages.diagnose);
  const summary = find(sections, "summary");
  const count = (key: string): number => number(fact(summary, key)) ?? 0;
  const found = count("found");
  const checked = found + count("quiet");
  const skipped = count("untried") > 0 ? `, ${count("untried")} skipped: missing data` : "";
  const counts = summary === null ? "" : `${found} ${found === 1 ? "finding" : "findings"} (${checked} ${checked === 1 ? "rule" : "rules"} checked${skipped})`;
  return { counts, remarks: summary?.remarks ?? [], rest: find(sections, "other_rules") };
}
