// The graph around the op that is selected on the timeline or in a table; a click on another op moves
// on to it. The numbers of the whole graph are beneath.
import { make } from "../dom/make";
import { shareText, shownName, ticksWithUnit } from "../format/format";
import { OpNames } from "../ops/op_names";
import { opsThatRan } from "../ops/ran";
import type { Context, MakePanel, Panel } from "../panel";
import { patternOf } from "../path/choose";
import { drawSection } from "../section/draw";
import { heading, saysSomething, sectionsOf } from "../section/section";
import { drawLayers, type BoxText } from "./drawing";
import { layersOf } from "./layers";
import { isFalse, OpEdges } from "./neighbourhood";
import { unitByOp, workByOp } from "./work";

const mostOps = 60;
const readable = 26;  // ops at once: as many edges away as keep it so is what is shown at first

export const makeGraphPanel: MakePanel = (context) => {
  const hasEdges = context.data.column("edge.from").length > 0;
  const { graph } = context.report.pages;
  if (!hasEdges && graph === undefined) return null;
  const element = make("div", { class: "graph" });
  if (hasEdges) element.append(new GraphView(context).element);
  for (const section of graph === undefined ? [] : sectionsOf(graph)) {
    if (!saysSomething(section)) continue;
    const drawn = drawSection(section, context.report, { title: "" });
    if (drawn !== null) element.append(make("details", {}, make("summary", { text: heading(section.title) || section.key.replaceAll("_", " ") }), drawn));
  }
  return { id: "graph", title: "Graph", element, scope: graph?.scope ?? null } satisfies Panel;
};

class GraphView {
  readonly element = make("div");
  private readonly edges: OpEdges;
  private readonly names: OpNames;
  private readonly work: Float64Array;
  private readonly units: Int32Array;
  private readonly mostWork: number;
  private readonly totalWork: number;
  private readonly drawing = make("div", { class: "graph-room" });
  private readonly said = make("p", { class: "remark", attributes: { role: "status" } });
  private readonly hops = make("select", { attributes: { "aria-label": "edges away" } });
  private readonly search = make("input", { attributes: { type: "search", placeholder: "go to op (regular expression)", "aria-label": "go to op", spellcheck: "false" } });
  private readonly all = make("input", { attributes: { type: "checkbox" } });
  private readonly back = make("button", { class: "quiet", text: "back", attributes: { type: "button" } });
  private before: number[] = [];
  private op = -1;
  private ran: ReadonlySet<number> | null = null;  // within the selected range; null: all
  private chosenHops = 0;  // 0: the reader has not said

  constructor(private readonly context: Context) {
    const { report, data, store } = context;
    this.edges = new OpEdges(data);
    this.names = new OpNames(report, data);
    this.work = workByOp(data);
    this.units = unitByOp(data);
    this.mostWork = this.work.reduce((a, b) => Math.max(a, b), 1e-9);
    this.totalWork = this.work.reduce((a, b) => a + b, 0);
    for (const hops of [1, 2, 3]) this.hops.append(make("option", { text: `${hops} ${hops === 1 ? "edge" : "edges"} away`, attributes: { value: hops } }));
    this.hops.addEventListener("change", () => {
      this.chosenHops = Number(this.hops.value);
      this.draw();
    });
    this.all.addEventListener("change", () => this.draw());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.find();
    });
    this.back.addEventListener("click", () => {
      const op = this.before.pop();
      if (op !== undefined) this.select(op);
    });
    this.element.append(make("div", { class: "graph-controls" }, this.search, this.hops, make("label", {}, this.all, " all false dependencies"), this.back), this.said, this.drawing, legend());
    store.subscribe((_, changed) => {
      if (changed.range) this.followRange();
      if (changed.span || changed.ops) this.follow();
    });
    this.follow();
    if (this.op < 0) this.show(this.most());
  }

  // The op of the span that was clicked, else the first of those highlighted that has edges.
  private follow(): void {
    const { span, ops } = this.context.store.get();
    const ofSpan = span === null ? -1 : (this.context.data.column("span.op")[span] ?? -1);
    if (ofSpan >= 0 && (ops.size === 0 || ops.has(ofSpan))) return this.show(ofSpan);
    for (const op of ops) if (this.edges.edgesOf(op).length > 0) return this.show(op);
  }

  // To the op that works most of those that ran in the range, where the one that is shown did not.
  private followRange(): void {
    const { data, store } = this.context;
    const { range } = store.get();
    this.ran = range === null ? null : opsThatRan(data, range);
    if (this.ran !== null && !this.ran.has(this.op)) {
      const best = this.most();
      if (best >= 0) this.op = best;
    }
    this.draw();
  }

  private most(): number {
    let best = -1;
    this.work.forEach((work, op) => {
      if (this.ran !== null && !this.ran.has(op)) return;
      if (this.edges.edgesOf(op).length > 0 && (best < 0 || work > this.work[best])) best = op;
    });
    return best;
  }

  private find(): void {
    const pattern = patternOf(this.search.value);
    if (typeof pattern === "string") {
      this.said.textContent = pattern;
      return;
    }
    for (let step = 1; step <= this.work.length; ++step) {  // from the next one on, around
      const op = (this.op + step) % this.work.length;
      if (!pattern.test(this.names.label(op)) && !pattern.test(this.names.kindOf(op))) continue;
      this.go(op);
      return;
    }
    this.said.textContent = "no op matches";
  }

  private go(op: number): void {
    if (op === this.op) return;
    if (this.op >= 0) this.before.push(this.op);
    this.select(op);
  }

  private select(op: number): void {
    this.show(op);
    this.context.store.set({ ops: new Set([op]), span: null });
  }

  private show(op: number): void {
    if (op === this.op || op < 0) return;
    this.op = op;
    this.draw();
  }

  private draw(): void {
    this.back.disabled = this.before.length === 0;
    if (this.op < 0) return;
    const hops = this.chosenHops || ([3, 2].find((far) => this.edges.around(this.op, far, readable).leftOut === 0) ?? 1);
    this.hops.value = String(hops);
    const found = this.edges.around(this.op, hops, mostOps, this.all.checked);
    const held = this.drawing.contains(document.activeElement);
    this.drawing.replaceChildren(drawLayers(layersOf(found), this.op, (op) => this.textOf(op), (op) => this.go(op)));
    const chosen = this.drawing.querySelector<SVGElement>(".op.chosen");
    if (held) chosen?.focus({ preventScroll: true });
    this.center(chosen);
    const wrong = found.edges.filter((edge) => isFalse(edge.kind)).length;
    const near = found.ops.length - 1;
    this.said.textContent = [
      `${shownName(this.names.label(this.op), 80)}: ${near} ${near === 1 ? "op" : "ops"} at most ${hops} ${hops === 1 ? "edge" : "edges"} away${found.leftOut > 0 ? `, at least ${found.leftOut} more not drawn` : ""}`,
      `${found.edges.length} edges, ${wrong} of them false dependencies${found.falseOthers > 0 ? `, ${found.falseOthers} more between other ops not drawn` : ""}`,
      ...(this.ran === null ? [] : ["faded: did not run in the selected range"]),
    ].join("; ");
  }

  // Scrolls the drawing, not the page.
  private center(chosen: SVGElement | null): void {
    if (chosen === null) return;
    const [box, room] = [chosen.getBoundingClientRect(), this.drawing.getBoundingClientRect()];
    this.drawing.scrollLeft += box.left + box.width / 2 - room.left - room.width / 2;
    this.drawing.scrollTop += box.top + box.height / 2 - room.top - room.height / 2;
  }

  private textOf(op: number): BoxText {
    const name = this.names.label(op);
    const kind = this.names.kindOf(op);
    const share = this.totalWork > 0 ? this.work[op] / this.totalWork : 0;
    const ofWork = share >= 0.0005 ? shareText(share) : "";
    return {
      name, isFaded: this.ran !== null && !this.ran.has(op), engine: this.units[op] < 0 ? "none" : this.names.engineOfSpan(-1, op, this.units[op]), share: this.work[op] / this.mostWork,
      second: [ofWork, kind].filter((part) => part !== "").join("  "),
      title: shownName(`${name}, ${kind}, work ${ticksWithUnit(this.context.report.clock, this.work[op])}${ofWork === "" ? "" : `, ${ofWork} of all`}`, 300),
    };
  }
}

const legend = (): HTMLElement => make("ul", { class: "legend inline" },
  make("li", {}, make("span", { class: "line-swatch", attributes: { "aria-hidden": "true" } }), "data"),
  make("li", {}, make("span", { class: "line-swatch false", attributes: { "aria-hidden": "true" } }), "false dependency: memory reuse or given order"),
  make("li", { class: "remark", text: "colour: engine, darker the more it works" }));
