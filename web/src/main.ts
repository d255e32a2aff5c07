// The page of a report: reads what npuscope wrote into it, and shows a tab for each profile. Report data that are
// dropped on it take their place.
//
// The head is drawn before the columns are decoded: those of 5 million spans take a second.
import { openBlob, openJson } from "./data/decode";
import { joined, openFile, type Opened } from "./data/file";
import type { Report } from "./data/report";
import { endLife } from "./dom/life";
import { make } from "./dom/make";
import { Frame } from "./frame/frame";
import { setHash } from "./frame/links";
import { markReady } from "./frame/tab";
import { Opener } from "./open/opener";

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";
const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function readReport(): Promise<Report | null> {
  try {
    const report = await openJson(textOf("npuscope-report")) as Report;
    return Array.isArray(report.profiles) ? report : null;
  } catch {
    return null;
  }
}

// After the browser has painted what is there.
const painted = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

// The script stands before the data, so that something is seen while they are read.
const wholePage = async (): Promise<void> => {
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
};

// What the page shows; of files that cannot be shown it stays.
class Shown {
  private now: Opened | null = null;

  constructor(private readonly root: HTMLElement, private readonly opener: Opener) {}

  async own(report: Report): Promise<void> {
    const coarse = textOf("npuscope-coarse");
    const frame = new Frame(this.root, report, this.opener.element);
    try {
      if (coarse !== "") frame.setData(await openBlob(coarse));
      await painted();
      await wholePage();
      this.now = { report, data: await openBlob(textOf("npuscope-data")) };
      for (const id of ["npuscope-report", "npuscope-coarse", "npuscope-data"]) document.getElementById(id)?.replaceChildren();
      frame.setData(this.now.data);
    } catch (error) {
      frame.setDamage(sentenceOf(error));
    }
  }

  private show({ report, data }: Opened): void {
    endLife();
    new Frame(this.root, report, this.opener.element).setData(data);
  }

  async open(files: readonly File[]): Promise<void> {
    try {
      const opened = joined(await Promise.all(files.map(openFile)));
      const { hash } = location;
      setHash("#");
      try {
        this.show(opened);
      } catch {
        setHash(hash);
        if (this.now !== null) this.show(this.now);
        throw new Error(`${files[0].name}: the report data are damaged; write them again.`);
      }
      this.now = opened;
      this.opener.say("");
      window.scrollTo(0, 0);
    } catch (error) {
      this.opener.say(sentenceOf(error));
    }
  }
}

async function main(root: HTMLElement): Promise<void> {
  const opener: Opener = new Opener((files) => void shown.open(files));
  const shown = new Shown(root, opener);
  const report = await readReport();
  if (report === null) {
    root.replaceChildren(make("p", { class: "sentence", text: "The data of this page are damaged (they are not a report): write the report again." }), opener.element);
    markReady();
    return;
  }
  await shown.own(report);
}

void main(document.getElementById("page")!);
