// What-if: ops or units are chosen, a slider makes them faster, and the wall and the path follow.
import { make } from "../dom/make";
import { numberText, shareText, shownName, ticksWithUnit } from "../format/format";
import type { Hover } from "../hover/hover";
import type { Context } from "../panel";
import { textOfReport } from "../section/draw";
import { TableModel } from "../table/model";
import { Table } from "../table/table";
import { escaped, opsMatching, patternOf, unitsMatching } from "./choose";
import type { PathGraph } from "./graph";
import type { OpNames } from "../ops/op_names";
import { engineColour, gapColour, movedOps } from "./parts";
import type { Step } from "./schedule";
import { Strip } from "./strip";
import { observedSteps, WhatIf, type Answer, type Limit } from "./what_if";

type Mode = "ops" | "rows" | "highlighted" | "unit";
const modes: [Mode, string][] = [
  ["ops", "ops that match"], ["rows", "ops chosen in the table below"], ["highlighted", "ops highlighted on the timeline"], ["unit", "units that match"],
];
const mostMoved = 10;
const none: ReadonlySet<number> = new Set();

export class WhatIfView {
  readonly element = make("section", { class: "what-if" });
  private readonly mode = make("select", { attributes: { "aria-label": "what becomes faster" } });
  private readonly pattern = make("input", { attributes: { type: "search", placeholder: "MatMul|Conv", "aria-label": "regular expression", spellcheck: "false" } });
  private readonly slider = make("input", { attributes: { type: "range", min: 1, max: 10, step: 0.1, value: 2, "aria-label": "times as fast" } });
  private readonly free = make("input", { attributes: { type: "checkbox" } });
  private readonly times = make("output", { class: "times" });
  private readonly said = make("p", { class: "remark", attributes: { role: "status" } });
  private readonly answer = make("div", { class: "answer" });
  private readonly before: Strip;
  private readonly after: Strip;
  private readonly observed: Step[];
  private rows: ReadonlySet<string> = new Set();
  private whatIf: WhatIf;
  private isNothing = true;
  private factor = 1;
  private limit: Limit | null = null;
  private waiting = 0;

  constructor(private readonly context: Context, private readonly graph: PathGraph, private readonly names: OpNames, hover: Hover,
              card: (step: Step, place: number) => { title: string; lines: [string, string][] }) {
    const { data, report } = context;
    this.observed = observedSteps(graph);
    this.whatIf = new WhatIf(graph, { ops: none, units: none });
    const { reasons } = data.head;
    const strip = (label: string): Strip => new Strip({
      label, scale: Math.max(1, graph.wall), wall: graph.wall, card,
      colourOf: (step) => engineColour(names.engineOfSpan(-1, step.op, step.unit)), gapColourOf: (step) => gapColour(reasons[step.reason] ?? ""),
    }, hover);
    this.before = strip("before");
    this.after = strip("after");
    this.before.set(this.observed, graph.wall, ticksWithUnit(report.clock, graph.wall));
    for (const [mode, label] of modes) this.mode.append(make("option", { text: label, attributes: { value: mode } }));
    this.pattern.value = suggestion(context, names);
    this.mode.addEventListener("change", () => this.choose());
    this.pattern.addEventListener("input", () => this.choose());
    this.slider.addEventListener("input", () => this.follow());
    this.free.addEventListener("change", () => this.follow());
    context.store.subscribe((_, changed) => {
      if (changed.ops && this.mode.value === "highlighted") this.choose();
    });
    this.element.append(make("h3", { text: "What if" }),
      make("div", { class: "what-if-controls" }, this.mode, this.pattern,
           make("label", { class: "slider" }, this.slider, this.times), make("label", {}, this.free, " no time at all")),
      this.said, make("div", { class: "strips" }, this.before.element, this.after.element), this.answer,
      make("p", { class: "remark", text: "Every start is computed again with the same constraints, latencies and order on each unit. Shared bandwidth is not modelled: what moves data beside a faster op may become slower." }));
    this.choose();
  }

  // Rows of the path's table, by their names.
  chooseRows(names: ReadonlySet<string>): void {
    this.rows = names;
    this.mode.value = "rows";
    this.choose();
  }

  private choose(): void {
    const mode = this.mode.value as Mode;
    const { data, store } = this.context;
    const byPattern = mode === "ops" || mode === "unit";
    this.pattern.hidden = !byPattern;
    let ops: ReadonlySet<number> = none;
    let units: ReadonlySet<number> = none;
    let problem = "";
    if (byPattern) {
      const pattern = this.pattern.value === "" ? "type a regular expression" : patternOf(this.pattern.value);
      if (typeof pattern === "string") problem = pattern;
      else if (mode === "ops") ops = opsMatching(data, pattern);
      else units = unitsMatching(data, pattern);
    } else {
      ops = mode === "rows" ? this.names.opsNamed(this.rows) : store.get().ops;
    }
    this.whatIf = new WhatIf(this.graph, { ops, units });
    this.isNothing = ops.size === 0 && units.size === 0;
    const count = mode === "unit" ? units.size : ops.size;
    const noun = mode === "unit" ? (count === 1 ? "unit" : "units") : count === 1 ? "op" : "ops";
    this.said.textContent = problem !== "" ? problem : count === 0 ? `no ${noun} chosen` : `${count.toLocaleString("en")} ${noun}`;
    this.said.classList.toggle("problem", problem !== "" || count === 0);
    this.limit = null;
    this.follow();
  }

  private follow(): void {
    const times = this.slider.valueAsNumber;
    this.slider.disabled = this.free.checked;
    this.times.textContent = this.free.checked ? "free" : `${times.toFixed(1)}x as fast`;
    this.slider.setAttribute("aria-valuetext", this.times.textContent);
    this.factor = this.free.checked ? 0 : 1 / times;
    if (this.waiting !== 0) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { clock } = this.context.report;
    const answer = this.whatIf.answer(this.factor);
    if (!this.isNothing) this.limit ??= this.whatIf.limit();
    this.after.set(answer.steps, answer.after, ticksWithUnit(clock, answer.after));
    this.answer.replaceChildren(this.facts(answer), ...this.sentences(), this.moved(answer), this.command());
  }

  private facts(answer: Answer): HTMLElement {
    const { clock } = this.context.report;
    const ticks = (value: number): string => ticksWithUnit(clock, value);
    const { before, after, gain, takenOffPath } = answer;
    const facts: [string, string][] = [
      ["wall before", ticks(before)], ["wall after", ticks(after)], ["gain", ticks(gain)], ["of wall before", before > 0 ? shareText(gain / before) : ""],
      ["removed from path", ticks(takenOffPath)], ["wall if free", this.limit === null ? "" : ticks(this.limit.wall)],
    ];
    return make("dl", { class: "fact-list" }, ...facts.filter(([, value]) => value !== "").map(([label, value]) =>
      make("div", {}, make("dt", { text: label }), make("dd", { text: value, attributes: { "data-fact": label } }))));
  }

  private sentences(): HTMLElement[] {
    const speedup = this.limit?.speedup ?? null;
    if (speedup === null) return [];
    const text = speedup <= 1 ? "No speed-up of it gains anything: another path holds the wall."
      : `Made ${numberText(Number(speedup.toPrecision(3)))} times as fast or more, all that gets faster gains no more than it does then: another path holds the wall.`;
    return [make("p", { class: "remark", text })];
  }

  private moved(answer: Answer): HTMLElement {
    const rows = movedOps(this.observed, answer.steps, (op) => this.names.rowName(op));
    const fields = [{ key: "op", label: "op", format: "name" as const }, { key: "before", label: "on the path before", format: "ticks" as const },
                    { key: "after", label: "after", format: "ticks" as const }];
    const model = new TableModel(fields, rows.slice(0, mostMoved).map(({ name, before, after }) => ({ op: name, before, after })), textOfReport(this.context.report));
    return new Table(model, { name: "ops on the path before and after", plain: true }).element;
  }

  private command(): HTMLElement {
    const mode = this.mode.value as Mode;
    const page = this.context.report.pages.path;
    if (page === undefined || (mode !== "ops" && mode !== "unit") || this.pattern.value === "") return make("span");
    const factor = this.free.checked ? "0" : `${this.slider.valueAsNumber}x`;
    const rule = `${mode === "unit" ? "unit:" : ""}${this.pattern.value}=${factor}`.replaceAll("'", "'\\''");
    return make("p", { class: "command" }, "The same: ", make("code", { text: shownName(`${page.command} --faster '${rule}'`, 600) }));
  }
}

// The kind of the op that most of the path is of.
function suggestion({ data }: Context, names: OpNames): string {
  const byKind = new Map<string, number>();
  const [op, duration] = [data.column("step.op"), data.column("step.duration")];
  for (let i = 0; i < op.length; ++i) {
    const kind = names.kindOf(op[i]) || (op[i] < 0 ? "" : names.label(op[i]));
    if (kind !== "") byKind.set(kind, (byKind.get(kind) ?? 0) + duration[i]);
  }
  const most = [...byKind].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
  return escaped(most).slice(0, 200);
}
