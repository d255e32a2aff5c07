// A part of the page. Each panel has a folder, makes its element once, and follows the store.
import type { Data } from "./data/data";
import type { ProfileReport } from "./data/report";
import type { Store } from "./state/store";

export interface Context {
  report: ProfileReport;
  data: Data;   // columns of the profile, decoded
  store: Store;
}

export interface Panel {
  readonly id: string;     // of its element, for links: "timeline"
  readonly title: string;  // of its heading
  readonly element: HTMLElement;
  readonly scope?: string | null;  // which inferences its numbers are of, as the page of the command says it
}

// Null where the profile has nothing for it.
export type MakePanel = (context: Context) => Panel | null;
