// Report data that are dropped on the page, or chosen with its button: the page shows them in place of its own.
import { make } from "../dom/make";
import { shownName } from "../format/format";

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;

export class Opener {
  private readonly field = make("input", { attributes: { type: "file", multiple: true, accept: ".json,.gz", hidden: true, "aria-label": "report data" } });
  private readonly sentence = make("p", { class: "opener-sentence", attributes: { role: "alert", hidden: true } });
  readonly element = make("div", { class: "opener no-print" });

  constructor(private readonly open: (files: File[]) => void) {
    const button = make("button", { class: "quiet", text: "Open data", title: "open what npuscope report --report-data wrote, or drop it on the page",
                                    attributes: { type: "button" }, on: { click: () => this.field.click() } });
    this.element.append(button, this.field, this.sentence);
    this.field.addEventListener("change", () => {
      const files = [...(this.field.files ?? [])];
      this.field.value = "";
      if (files.length > 0) this.open(files);
    });
    const over = (on: boolean): void => void document.documentElement.classList.toggle("dropping", on);
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      over(true);
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) over(false);
    });
    document.addEventListener("drop", (event) => {
      over(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.open([...(event.dataTransfer?.files ?? [])]);
    });
  }

  // Empty: nothing is wrong.
  say(sentence: string): void {
    this.sentence.textContent = shownName(sentence, 500);
    this.sentence.hidden = sentence === "";
  }
}
