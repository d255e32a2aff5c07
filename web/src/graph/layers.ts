// Where the boxes and lines of a neighbourhood lie: layers from top to bottom (dagre).
import { Graph, layout } from "@dagrejs/dagre";
import type { Neighbourhood, OpEdge } from "./neighbourhood";

export interface Box {
  op: number;
  x: number;  // of its middle
  y: number;
}

export interface Line {
  edge: OpEdge;
  points: { x: number; y: number }[];
}

export interface Layers {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
}

export const boxWidth = 168;
export const boxHeight = 40;

export function layersOf({ ops, edges }: Neighbourhood): Layers {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 34, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const op of ops) graph.setNode(String(op), { width: boxWidth, height: boxHeight });
  for (const { from, to, kind } of edges) graph.setEdge(String(from), String(to), {}, kind);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const boxes = ops.map((op): Box => {
    const { x, y } = graph.node(String(op)) as { x: number; y: number };
    return { op, x, y };
  });
  const lines = edges.map((edge): Line => {
    const { points = [] } = graph.edge(String(edge.from), String(edge.to), edge.kind) as { points?: { x: number; y: number }[] };
    return { edge, points };
  });
  return { width, height, boxes, lines };
}

// Through the points, with rounded corners.
export function pathOf(points: readonly { x: number; y: number }[]): string {
  if (points.length === 0) return "";
  const at = ({ x, y }: { x: number; y: number }): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  let path = `M${at(points[0])}`;
  for (let i = 1; i + 1 < points.length; ++i) {
    const middle = { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
    path += `Q${at(points[i])} ${at(i + 2 < points.length ? middle : points[i + 1])}`;
  }
  if (points.length === 2) path += `L${at(points[1])}`;
  return path;
}
