// What the page shows, in this order. A panel is a folder that exports a MakePanel.
import type { FleetReport, Page, Report } from "./data/report";
import type { MakePanel, Panel } from "./panel";
import { makeComparedNumbersPanel, makeComparedOpsPanel, makeVerdictPanel } from "./comparison/panel";
import {
  makeFleetFindingsPanel, makeFleetLatencyPanel, makeFleetMissingPanel, makeFleetOpsPanel, makeFleetOutliersPanel, makeFleetRunsPanel, makeFleetTrendPanel,
} from "./fleet/panel";
import { makeFindingsPanel } from "./findings/panel";
import { makeGraphPanel } from "./graph/panel";
import { makeMemoryPanel } from "./memory/panel";
import { makeNotesPanel } from "./notes/panel";
import { makeOpsPanel } from "./ops/panel";
import { makePathPanel } from "./path/panel";
import { makeTimeline } from "./timeline/panel";
import { makeUnitsPanel } from "./units/panel";
import { makeWallPanel } from "./wall/panel";

// What coarse data suffice for, until the others are read.
export const firstPanels: MakePanel[] = [makeWallPanel, makeFindingsPanel, makeTimeline];

export const panels: MakePanel[] = [
  ...firstPanels,
  makeOpsPanel,
  makeUnitsPanel,
  makePathPanel,
  makeMemoryPanel,
  makeGraphPanel,
  makeNotesPanel,
];

// Of the tab "Comparison".
export type MakeComparisonPanel = (comparison: Page, report: Report) => Panel | null;

export const comparisonPanels: MakeComparisonPanel[] = [makeVerdictPanel, makeComparedOpsPanel, makeComparedNumbersPanel];

// Of the tab "Fleet".
export type MakeFleetPanel = (fleet: FleetReport) => Panel | null;

export const fleetPanels: MakeFleetPanel[] = [
  makeFleetLatencyPanel, makeFleetTrendPanel, makeFleetOutliersPanel, makeFleetOpsPanel, makeFleetFindingsPanel, makeFleetRunsPanel, makeFleetMissingPanel,
];
