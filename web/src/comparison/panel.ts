// The tab of a comparison: verdict and gates, the waterfall of ops from A to B, numbers with their
// intervals.
import { make } from "../dom/make";
import { changeText, numberText, shownName, valueText } from "../format/format";
import type { Page } from "../data/report";
import type { Panel } from "../panel";
import { drawFacts, drawRemarks, drawSection, tableOf } from "../section/draw";
import { find, heading, sectionsOf } from "../section/section";
import { gatesOf, hasValues, numbersOf, reachOf, sideNames, waterfallOf, withNames, type Change, type Gate, type Numbers } from "./comparison";
import { drawWaterfall } from "./waterfall";

const mostFalls = 20;

export function makeVerdictPanel(page: Page): Panel | null {
  const sections = sectionsOf(page);
  const sides = find(sections, "sides");
  const gates = gatesOf(page);
  const cautions = find(sections, "cautions")?.remarks ?? [];
  const element = make("div", { class: "verdict-panel" });
  const facts = sides === null ? null : drawFacts(sides, null);
  if (facts !== null) element.append(facts);
  if (gates.length > 0) {
    const order = ["failed", "inconclusive", "not judged", "passed"];
    const counts = order.map((outcome): [string, number] => [outcome, gates.filter((gate) => gate.outcome === outcome).length])
      .filter(([, count]) => count > 0).map(([outcome, count]) => `${count} ${outcome}`).join(", ");
    const sorted = [...gates].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
    element.append(make("h3", { text: `Gates: ${counts}` }),
                   make("ul", { class: "gates" }, ...sorted.map(drawGate)));
  }
  const extra = (find(sections, "gates")?.remarks ?? []).slice(gates.length);
  element.append(...drawRemarks([...extra, ...cautions]));
  return element.childElementCount === 0 ? null : { id: "comparison-verdict", title: "Verdict", element };
}

const marks: { [outcome: string]: string } = { passed: "\u2713", failed: "\u2717" };

const drawGate = (gate: Gate): HTMLElement => make("li", { class: `gate outcome-${gate.outcome === "passed" || gate.outcome === "failed" ? gate.outcome : "other"}` },
  make("span", { class: "outcome", text: `${marks[gate.outcome] ?? "\u2013"} ${gate.outcome}` }), make("code", { text: shownName(gate.text) }), make("span", { text: shownName(gate.sentence, 600) }));

export function makeComparedOpsPanel(page: Page): Panel | null {
  const waterfall = waterfallOf(page, mostFalls);
  if (waterfall === null) return null;
  const names = sideNames(page);
  const section = { ...waterfall.section, fields: withNames(waterfall.section.fields, names) };
  const element = make("div", { class: "compared-ops" });
  const facts = drawFacts(section, null);
  if (facts !== null) element.append(facts);
  if (waterfall.falls.length > 0) element.append(drawWaterfall(waterfall, names, (value) => valueText(waterfall.field, value, null)));
  if (section.rows.length > 0) element.append(tableOf(section, null).element);
  else element.append(make("p", { class: "remark", text: "No op differs." }));
  element.append(...drawRemarks(section.remarks));
  return { id: "comparison-ops", title: heading(section.title) || "Ops", element };
}

export function makeComparedNumbersPanel(page: Page): Panel | null {
  const all = numbersOf(page);
  const others = sectionsOf(page).filter((section) => !["sides", "gates", "cautions", "call", "numbers", "ops"].includes(section.key));
  const element = make("div", { class: "compared-numbers" }, ...all.map((numbers) => drawNumbers(numbers, sideNames(page))));
  for (const section of others) {
    const drawn = drawSection(section, null);
    if (drawn !== null) element.append(drawn);
  }
  return element.childElementCount === 0 ? null : { id: "comparison-numbers", title: "Numbers, A and B", element };
}

function drawNumbers(numbers: Numbers, names: [string, string]): HTMLElement {
  const section = make("section", { class: "section" }, make("h3", { text: heading(numbers.title) }));
  if (numbers.rows.length > 0) section.append(changesTable(numbers, numbers.rows, names));
  if (numbers.unchanged.length > 0 && hasValues(numbers.unchanged)) {
    section.append(make("details", {}, make("summary", { text: `${numbers.unchanged.length} unchanged` }), changesTable(numbers, numbers.unchanged, names)));
  }
  section.append(...drawRemarks(numbers.remarks));
  return section;
}

function changesTable(numbers: Numbers, changes: readonly Change[], [a, b]: [string, string]): HTMLElement {
  const reach = reachOf(changes);
  const head = ["number", a, b, "change", "95 % interval", `\u2212${changeText(reach).slice(1)} to ${changeText(reach)}`, "p", "samples", "verdict"];
  const rows = changes.map((change) => make("tr", { class: `verdict-${verdictClass(change.verdict)}` },
    make("th", { attributes: { scope: "row" }, text: `${shownName(change.name)}${change.cold ? " (cold)" : ""}` }),
    make("td", { class: "number", text: valueText(numbers.field, change.a, null) }), make("td", { class: "number", text: valueText(numbers.field, change.b, null) }),
    make("td", { class: "number", text: change.change === null ? "" : changeText(change.change) }), make("td", { class: "number", text: change.interval }),
    make("td", { class: "whisker-cell" }, whisker(change, reach)), make("td", { class: "number", text: change.p === null ? "" : numberText(change.p) }),
    make("td", { text: change.samples }), make("td", { text: change.verdict })));
  return make("div", { class: "table-scroll" }, make("table", { class: "changes", attributes: { "aria-label": numbers.title } },
    make("thead", {}, make("tr", {}, ...head.map((label, i) => make("th", { class: i > 0 && i !== 5 && i < 7 ? "number" : "", text: label, attributes: { scope: "col" } })))), make("tbody", {}, ...rows)));
}

const verdictClass = (verdict: string): string => (verdict === "more" || verdict === "less" ? verdict : "same");

// The interval as a line, the change as a dot, no change as the line in the middle.
function whisker(change: Change, reach: number): HTMLElement {
  const at = (value: number): number => 50 + 50 * Math.max(-1, Math.min(1, value / reach));
  const plot = make("div", { class: "whisker", attributes: { "aria-hidden": "true" } }, make("div", { class: "whisker-zero" }));
  if (change.low !== null && change.high !== null) {
    const line = make("div", { class: "whisker-line" });
    line.style.left = `${at(change.low)}%`;
    line.style.width = `${at(change.high) - at(change.low)}%`;
    plot.append(line);
  }
  if (change.change !== null) {
    const dot = make("div", { class: "whisker-dot" });
    dot.style.left = `${at(change.change)}%`;
    plot.append(dot);
  }
  return plot;
}
