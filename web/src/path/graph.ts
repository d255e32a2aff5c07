// The graph that what-if runs on, as typed arrays: a node a row, each behind what holds it back
// (report.ts, columns node.* and link.*). Times are ticks since the path's begin.
import type { Data } from "../data/data";

export const execution = 0;
export const landing = 2;

export interface PathGraph {
  size: number;
  kind: Int32Array;
  op: Int32Array;             // -1: none
  unit: Int32Array;           // -1: none
  row: Int32Array;            // order of its span in the profile
  start: Float64Array;
  end: Float64Array;
  delay: Float64Array;
  unitBefore: Int32Array;     // node; -1: none
  unitLatency: Float64Array;
  firstLink: Int32Array;      // in the links; one more
  linkFrom: Int32Array;       // node; -1: none
  linkReason: Int32Array;     // place in reasons
  linkLatency: Float64Array;
  linkPart: Float64Array;     // -1: behind the end of `from`; else after so many ticks of it
  wall: number;               // of the inference
  reasons: readonly string[];
}

// Null where the profile has no graph, or one that its columns contradict.
export function pathGraph(data: Data): PathGraph | null {
  // One kind of array each, so that the loops over them stay fast.
  const times = (name: string): Float64Array => Float64Array.from(data.column(name));
  const places = (name: string): Int32Array => Int32Array.from(data.column(name));
  const start = times("node.start");
  const size = start.length;
  if (size === 0 || data.head.path_left_out !== "") return null;
  const counts = places("node.links");
  const firstLink = new Int32Array(size + 1);
  for (let node = 0; node < size; ++node) firstLink[node + 1] = firstLink[node] + counts[node];
  const graph: PathGraph = {
    size,
    kind: places("node.kind"), op: places("node.op"), unit: places("node.unit"), row: places("node.row"),
    start, end: times("node.end"), delay: times("node.delay"),
    unitBefore: places("node.unit_before"), unitLatency: times("node.unit_latency"),
    firstLink,
    linkFrom: places("link.from"), linkReason: places("link.reason"),
    linkLatency: times("link.latency"), linkPart: times("link.part"),
    wall: data.head.wall,
    reasons: data.head.reasons,
  };
  return isWhole(graph) ? graph : null;
}

// Each node has all its columns, and comes behind what holds it back.
function isWhole(graph: PathGraph): boolean {
  const ofNodes = [graph.kind, graph.op, graph.unit, graph.row, graph.end, graph.delay, graph.unitBefore, graph.unitLatency];
  const ofLinks = [graph.linkFrom, graph.linkReason, graph.linkLatency, graph.linkPart];
  const links = graph.firstLink[graph.size];
  if (ofNodes.some((column) => column.length !== graph.size)) return false;
  if (ofLinks.some((column) => column.length !== links)) return false;
  for (let node = 0; node < graph.size; ++node) {
    if (graph.unitBefore[node] >= node) return false;
    for (let i = graph.firstLink[node]; i < graph.firstLink[node + 1]; ++i) {
      if (graph.linkFrom[i] >= node) return false;
    }
  }
  return true;
}
