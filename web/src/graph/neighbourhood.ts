// The ops around one op, so many edges away in either direction, out of the columns edge.*.
//
//   const graph = new OpEdges(data);
//   graph.around(12, 2, 60)    // {ops: [12, 11, 13, …], edges: […], leftOut: 0, falseOthers: 3}
import type { Data } from "../data/data";

export type EdgeKind = "data" | "reuse" | "flow" | "transfer" | "order";
const kinds: EdgeKind[] = ["data", "reuse", "flow", "transfer", "order"];

export interface OpEdge {
  from: number;
  to: number;
  kind: EdgeKind;
}

export interface Neighbourhood {
  ops: number[];        // the chosen one first, near ones before far ones
  edges: OpEdge[];      // between them
  leftOut: number;      // ops that lie as near, beyond the most
  falseOthers: number;  // false dependencies between them that are not among the edges
}

// What no data asks for: an op waits for another only because they share memory, or because the
// compiler put them in this order.
export const isFalse = (kind: EdgeKind): boolean => kind === "reuse" || kind === "order";

export class OpEdges {
  readonly count: number;
  private readonly from: ArrayLike<number>;
  private readonly to: ArrayLike<number>;
  private readonly kind: ArrayLike<number>;
  private readonly first: Int32Array;   // of each op in places; one more
  private readonly places: Int32Array;  // edges by either end

  constructor(data: Data) {
    this.from = data.column("edge.from");
    this.to = data.column("edge.to");
    this.kind = data.column("edge.kind");
    this.count = Math.min(this.from.length, this.to.length);
    const ops = data.column("op.name").length;
    const first = new Int32Array(ops + 2);
    const isIn = (op: number): boolean => op >= 0 && op < ops;
    for (let i = 0; i < this.count; ++i) {
      if (isIn(this.from[i])) first[this.from[i] + 2] += 1;
      if (isIn(this.to[i])) first[this.to[i] + 2] += 1;
    }
    for (let op = 0; op < ops; ++op) first[op + 2] += first[op + 1];
    this.places = new Int32Array(first[ops + 1]);
    for (let i = 0; i < this.count; ++i) {
      if (isIn(this.from[i])) this.places[first[this.from[i] + 1]++] = i;
      if (isIn(this.to[i])) this.places[first[this.to[i] + 1]++] = i;
    }
    this.first = first.subarray(0, ops + 1);
  }

  edgesOf(op: number): OpEdge[] {
    const edges: OpEdge[] = [];
    for (let i = this.first[op] ?? 0; i < (this.first[op + 1] ?? 0); ++i) edges.push(this.edge(this.places[i]));
    return edges;
  }

  // The way goes along true edges; false ones count at the op itself, and between others with `all`.
  around(op: number, hops: number, most: number, all = false): Neighbourhood {
    const distances = new Map<number, number>([[op, 0]]);
    const ops = [op];
    const left = new Set<number>();
    for (let at = 0; at < ops.length; ++at) {
      const here = ops[at];
      const distance = distances.get(here) ?? 0;
      if (distance === hops) break;
      for (const { from, to, kind } of this.edgesOf(here)) {
        if (here !== op && isFalse(kind)) continue;
        const other = from === here ? to : from;
        if (distances.has(other)) continue;
        if (ops.length >= most) {
          left.add(other);
          continue;
        }
        distances.set(other, distance + 1);
        ops.push(other);
      }
    }
    return { ops, leftOut: left.size, ...this.between(op, ops, distances, all) };
  }

  private between(op: number, ops: readonly number[], known: ReadonlyMap<number, number>, all: boolean): Pick<Neighbourhood, "edges" | "falseOthers"> {
    const edges: OpEdge[] = [];
    const seen = new Set<string>();
    let falseOthers = 0;
    for (const each of ops) {
      for (const edge of this.edgesOf(each)) {
        const key = `${edge.from} ${edge.to} ${edge.kind}`;
        if (edge.from !== each || !known.has(edge.to) || seen.has(key)) continue;
        seen.add(key);
        if (all || !isFalse(edge.kind) || edge.from === op || edge.to === op) edges.push(edge);
        else falseOthers += 1;
      }
    }
    return { edges, falseOthers };
  }

  private edge(place: number): OpEdge {
    return { from: this.from[place], to: this.to[place], kind: kinds[this.kind[place]] ?? "data" };
  }
}
