// A neighbourhood as an SVG: a box an op, in the colour of its engine, darker the more it works; data
// as lines, false dependencies dashed.
import { makeSvg } from "../dom/make";
import { shortened, printable } from "../format/format";
import { boxHeight, boxWidth, pathOf, type Layers, type Line } from "./layers";
import { isFalse } from "./neighbourhood";

export interface BoxText {
  name: string;
  second: string;       // its second line
  engine: string;
  share: number;        // of the op that works most
  isFaded: boolean;     // it did not run in the range that is selected
  title: string;
}

const letters = 22;

export function drawLayers(layers: Layers, chosen: number, textOf: (op: number) => BoxText, go: (op: number) => void): SVGSVGElement {
  const { width, height } = layers;
  const svg = makeSvg("svg", { class: "graph-drawing", attributes: { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "neighbourhood of the op" } });
  svg.append(makeSvg("defs", {}, arrow("arrow", "arrow-head"), arrow("arrow-false", "arrow-head false")));
  for (const line of layers.lines) svg.append(drawLine(line, textOf));
  for (const box of layers.boxes) {
    const { name, second, engine, share, title, isFaded } = textOf(box.op);
    const isChosen = box.op === chosen;
    const rect = makeSvg("rect", { class: `box fill-${engine || "none"}`, attributes: { width: boxWidth, height: boxHeight, rx: 3 } });
    rect.style.fillOpacity = String(0.1 + 0.35 * share);
    const group = makeSvg("g", {
      class: ["op", ...(isChosen ? ["chosen"] : []), ...(isFaded ? ["faded"] : [])].join(" "), title,
      attributes: { transform: `translate(${box.x - boxWidth / 2} ${box.y - boxHeight / 2})`, tabindex: 0, role: "button", "aria-label": title, "aria-current": isChosen ? "true" : null, "data-op": box.op },
      on: { click: () => go(box.op), keydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go(box.op);
      } },
    }, rect,
      makeSvg("text", { class: "box-name", text: printable(shortened(name, letters)), attributes: { x: 8, y: 17 } }),
      makeSvg("text", { class: "box-kind", text: printable(shortened(second, letters + 2)), attributes: { x: 8, y: 32 } }));
    svg.append(group);
  }
  return svg;
}

const arrow = (id: string, name: string): SVGElement => makeSvg("marker", {
  attributes: { id: `graph-${id}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
}, makeSvg("path", { class: name, attributes: { d: "M0 0L8 4L0 8z" } }));

function drawLine({ edge, points }: Line, textOf: (op: number) => BoxText): SVGElement {
  const wrong = isFalse(edge.kind);
  return makeSvg("path", {
    class: `line line-${edge.kind}${wrong ? " false" : ""}`, title: `${edge.kind}: ${textOf(edge.from).name} to ${textOf(edge.to).name}`.slice(0, 300),
    attributes: { d: pathOf(points), "marker-end": `url(#graph-arrow${wrong ? "-false" : ""})` },
  });
}
