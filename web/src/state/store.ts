// What the reader has chosen, and who wants to know: one store a tab.
//
//   const store = new Store();
//   store.subscribe((chosen, changed) => { if (changed.range) redraw(chosen.range); });
//   store.set({range: {begin: 100, end: 900}});

export type By = "op" | "kind" | "part" | "engine" | "unit";

export interface Range {
  begin: number;  // ticks since the timeline's begin
  end: number;
}

export interface Chosen {
  range: Range | null;      // selected on the timeline: all tables are of it
  visible: Range | null;    // what the timeline shows; null: all
  ops: ReadonlySet<number>; // highlighted, places in the op columns
  finding: { of: number; place: number } | null;  // on the timeline: places of it and of its place; -1: all of its places
  span: number | null;      // the one that was clicked, place in the span columns
  path: boolean;            // whether the critical path is drawn over the timeline
  colour: By | null;        // what colours of the timeline stand for; null: what fits the profile
}

export type Changed = { [Key in keyof Chosen]?: boolean };
export type Listener = (chosen: Chosen, changed: Changed) => void;

export class Store {
  private chosen: Chosen = { range: null, visible: null, ops: new Set(), finding: null, span: null, path: true, colour: null };
  private listeners: Listener[] = [];

  get(): Chosen {
    return this.chosen;
  }

  set(part: Partial<Chosen>): void {
    const before = this.chosen;
    this.chosen = { ...before, ...part };
    const changed: Changed = {};
    for (const key of Object.keys(part) as (keyof Chosen)[]) {
      if (before[key] !== this.chosen[key]) changed[key] = true;
    }
    if (Object.keys(changed).length === 0) return;
    for (const listener of this.listeners) listener(this.chosen, changed);
  }

  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }
}
