// The page of a report: reads what npuscope wrote into it, and shows a tab for each profile.
//
// The head is drawn before the columns are decoded: those of 5 million spans take a second.
import type { Report } from "./data/report";
import { openBlob } from "./data/decode";
import { Frame } from "./frame/frame";
import { markReady } from "./frame/tab";

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";

function readReport(): Report | null {
  try {
    const report = JSON.parse(textOf("npuscope-report")) as Report;
    return Array.isArray(report.profiles) ? report : null;
  } catch {
    return null;
  }
}

// After the browser has painted what is there.
const painted = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

async function main(root: HTMLElement): Promise<void> {
  const report = readReport();
  if (report === null) {
    root.textContent = "The data of this page are damaged (they are not a report): write the report again.";
    markReady();
    return;
  }
  const frame = new Frame(root, report);
  await painted();
  try {
    frame.setData(await openBlob(textOf("npuscope-data")));
  } catch (error) {
    frame.setDamage(error instanceof Error ? error.message : String(error));
  }
}

void main(document.getElementById("page")!);
