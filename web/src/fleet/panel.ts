// The tab of a fleet's store: how latency is spread over devices and along builds, what stands out, ops, findings, runs.
import type { FleetReport, Page } from "../data/report";
import { make } from "../dom/make";
import { shownName, valueText } from "../format/format";
import type { Panel } from "../panel";
import { drawSection } from "../section/draw";
import { sectionsOf } from "../section/section";
import { alongOf, changesOf, inOrder, pagesOf, spreadsOf } from "./fleet";
import { drawSpreads } from "./spread";
import { drawTrend } from "./trend";

// All sections of a page but the head that says which runs; its remarks stay.
function drawPage(page: Page): HTMLElement[] {
  return sectionsOf(page).flatMap((section) => {
    const drawn = drawSection(section.key === "fleet" ? { ...section, facts: [] } : section, null);
    return drawn === null ? [] : [drawn];
  });
}

function panelOf(id: string, title: string, pages: readonly Page[], drawing: Node | null = null): Panel | null {
  const element = make("div", { class: "fleet-panel" });
  if (drawing !== null) element.append(drawing);
  for (const page of pages) element.append(...drawPage(page));
  return element.childElementCount === 0 ? null : { id, title, element };
}

export function makeFleetLatencyPanel(fleet: FleetReport): Panel | null {
  const [page] = pagesOf(fleet, "latency");
  if (page === undefined) return null;
  const spreads = spreadsOf(page);
  const title = spreads === null ? "Latency" : `Latency by ${shownName(spreads.by.join(", "), 60)}`;
  const textOf = (value: number): string => (spreads === null ? "" : valueText(spreads.field, value, null));
  return panelOf("fleet-latency", title, [page], spreads === null ? null : drawSpreads(spreads.rows, textOf));
}

export function makeFleetTrendPanel(fleet: FleetReport): Panel | null {
  const along = alongOf(fleet);
  const [points] = pagesOf(fleet, "diff");
  if (along === null) return null;
  // The chart is of the latency page whose groups are those values, or of none.
  const spreads = pagesOf(fleet, "latency").map(spreadsOf).find((each) => each?.by.join() === along) ?? null;
  const isDrawn = spreads !== null && spreads.rows.length > 1;
  const drawing = !isDrawn ? null : make("div", {},
    drawTrend(inOrder(spreads.rows), changesOf(points), along, (value) => valueText(spreads.field, value, null)),
    make("p", { class: "remark", text: "Line: the median (50 %). Band: up to 90 %. Dashed: the first value after ops change." }));
  return panelOf("fleet-along", `${isDrawn ? "Latency" : "Changes"} along ${shownName(along, 60)}`, [points], drawing);
}

const makePanel = (question: string, id: string, title: string) => (fleet: FleetReport): Panel | null => panelOf(id, title, pagesOf(fleet, question));

export const makeFleetOutliersPanel = makePanel("outliers", "fleet-outliers", "What stands out");
export const makeFleetOpsPanel = makePanel("ops", "fleet-ops", "Ops of all runs");
export const makeFleetFindingsPanel = makePanel("findings", "fleet-findings", "Findings and losses");
export const makeFleetRunsPanel = makePanel("ls", "fleet-runs", "Runs");

// What the store cannot answer, and why.
export function makeFleetMissingPanel(fleet: FleetReport): Panel | null {
  if (fleet.missing.length === 0) return null;
  const rows = fleet.missing.map(({ command, why }) => make("li", {}, make("code", { text: shownName(command, 300) }), make("span", { text: `: ${shownName(why, 1000)}` })));
  return { id: "fleet-missing", title: "Not answered", element: make("ul", {}, ...rows) };
}
