// Where the wall time goes: one bar, and the parts of the model as another.
import { drawBar } from "../bar/bar";
import { make } from "../dom/make";
import type { MakePanel } from "../panel";
import { modelPartsOf, wallOf } from "./parts";

export const makeWallPanel: MakePanel = ({ report }) => {
  const wall = wallOf(report);
  const model = modelPartsOf(report);
  if (wall === null && model === null) return null;
  const element = make("div", { class: "wall" });
  if (wall !== null) element.append(make("p", { class: "lead", text: wall.title }), drawBar(wall.parts, wall.title));
  if (model !== null) {
    const title = `Parts of the model, by ${model.by}`;
    element.append(make("h3", { text: title }), drawBar(model.parts, title));
  }
  return { id: "wall", title: "Where the wall time goes", element, scope: report.pages.show?.scope ?? null };
};
