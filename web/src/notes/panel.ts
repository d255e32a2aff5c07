// Checks of the files against one another, notes of the reader, and losses.
import { make } from "../dom/make";
import type { Note } from "../data/report";
import { shownName } from "../format/format";
import type { MakePanel } from "../panel";
import { checksOf, lossesOf, sortedNotes, type Check } from "./notes";

export const makeNotesPanel: MakePanel = ({ report, data }) => {
  const checks = checksOf(report);
  const losses = lossesOf(report, data);
  const notes = sortedNotes(report.notes);
  if (checks.length + losses.length + notes.length === 0) return null;
  const element = make("div", { class: "notes" });
  if (losses.length > 0) {
    element.append(make("h3", { text: "Left out" }), make("ul", { class: "sentences" }, ...losses.map((loss) => make("li", { text: shownName(loss, 1000) }))));
  }
  if (checks.length > 0) element.append(drawChecks(checks));
  if (notes.length > 0) element.append(make("h3", { text: "Notes" }), drawNotes(notes));
  return { id: "notes", title: "Checks, notes, losses", element };
};

const outcomes: { [outcome: string]: string } = { passed: "\u2713", failed: "\u2717" };

function drawChecks(checks: Check[]): HTMLElement {
  const passed = checks.filter((check) => check.outcome === "passed").length;
  const rows = checks.map(({ name, outcome, detail }) => make("tr", { class: `outcome-${outcome === "passed" || outcome === "failed" ? outcome : "other"}` },
    make("td", { class: "outcome", text: `${outcomes[outcome] ?? "\u2013"} ${outcome}` }), make("th", { attributes: { scope: "row" }, text: shownName(name) }), make("td", { text: shownName(detail, 600) })));
  const table = make("table", { class: "plain", attributes: { "aria-label": "checks" } }, make("tbody", {}, ...rows));
  const title = `Checks: ${passed} of ${checks.length} passed`;
  if (passed < checks.length) return make("div", {}, make("h3", { text: title }), table);
  return make("details", {}, make("summary", { text: title }), table);
}

export function drawNotes(notes: readonly Note[]): HTMLElement {
  const rows = notes.map(({ severity, file, offset, count, message }) => make("tr", { class: `severity-${["error", "warning"].includes(severity) ? severity : "info"}` },
    make("td", { class: "outcome", text: severity }), make("td", { text: shownName(message, 1000) }), make("td", { class: "number", text: count > 1 ? `${count.toLocaleString("en")} times` : "" }),
    make("td", { class: "file", title: shownName(file, 1000), text: `${shownName(file.slice(file.lastIndexOf("/") + 1), 60)}${offset > 0 ? `, byte ${offset.toLocaleString("en")}` : ""}` })));
  return make("table", { class: "plain", attributes: { "aria-label": "notes" } }, make("tbody", {}, ...rows));
}
