// Findings as cards: gain, evidence, advice, and "show me", which takes the timeline to the spans
// that are its evidence.
import { goTo } from "../dom/go";
import { make } from "../dom/make";
import { shareText, shownName } from "../format/format";
import type { Context, MakePanel } from "../panel";
import { drawRemarks, drawSection } from "../section/draw";
import { findingsOf, summaryOf, type Finding } from "./findings";

const shownAtFirst = 6;

export const makeFindingsPanel: MakePanel = (context) => {
  const { report, data } = context;
  if (report.pages.diagnose === undefined) return null;
  const findings = findingsOf(report, data);
  const summary = summaryOf(report);
  const element = make("div", { class: "findings" });
  if (summary.counts !== "") element.append(make("p", { class: "lead", text: summary.counts }));
  const cards = make("ol", { class: "cards" });
  findings.forEach((finding, place) => {
    const card = drawCard(context, finding, place);
    if (place >= shownAtFirst) card.classList.add("folded");
    cards.append(card);
  });
  element.append(cards);
  if (findings.length > shownAtFirst) {
    const more = make("button", { class: "quiet", attributes: { type: "button", "aria-expanded": "false" },
                                  text: `${findings.length - shownAtFirst} more findings` });
    more.addEventListener("click", () => {
      cards.classList.add("all");
      more.remove();
      cards.querySelectorAll<HTMLElement>(".folded summary")[0]?.focus();
    });
    element.append(more);
  }
  element.append(...drawRemarks(summary.remarks));
  const rest = summary.rest === null ? null : drawSection(summary.rest, report, { title: "" });
  if (rest !== null) element.append(make("details", {}, make("summary", { text: "Rules that found nothing" }), rest));
  return { id: "findings", title: "Findings", element, scope: report.pages.diagnose.scope };
};

function drawCard(context: Context, finding: Finding, of: number): HTMLElement {
  const { rank, title, weight, gain, gainShare, gainOf, advice, evidence } = finding;
  const head = make("div", { class: "card-head" },
    make("span", { class: "card-rank", text: String(rank) }),
    make("h3", { text: shownName(title, 400) }),
    make("span", { class: `weight weight-${["high", "medium", "low"].includes(weight) ? weight : "low"}`, text: weight }));
  const card = make("li", { class: "card" }, head);
  if (gain !== "") {
    const share = gainShare === null ? null : drawGain(gainShare, gainOf);
    card.append(make("p", { class: "gain" }, make("span", { class: "gain-label", text: "gain" }), share, make("span", { text: shownName(gain, 400) })));
  }
  if (advice !== "") card.append(make("p", { class: "advice", text: shownName(advice, 2000) }));
  const foot = make("div", { class: "card-foot" }, ...showButtons(context, finding, of));
  if (evidence.length > 0) {
    const rows = evidence.map(({ what, value, of, source }) => make("tr", { title: source },
      make("th", { attributes: { scope: "row" }, text: shownName(what) }), make("td", { class: "number", text: shownName(value) }), make("td", { text: shownName(of) })));
    foot.append(make("details", {}, make("summary", { text: `evidence (${evidence.length})` }),
      make("table", { class: "evidence", attributes: { "aria-label": `evidence of ${finding.rule}` } }, make("tbody", {}, ...rows))));
  }
  foot.append(make("code", { class: "rule", text: finding.rule }));
  card.append(foot);
  return card;
}

function drawGain(share: number, of: string): HTMLElement {
  const fill = make("span", { class: "gain-fill" });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return make("span", { class: "gain-bar", title: `at most ${shareText(share)} of ${of}` },
    make("span", { class: "gain-track", attributes: { "aria-hidden": "true" } }, fill), `${shareText(share)} of ${of}`);
}

// All places at once, then one after the other: the bar next to the timeline has the way (bar.ts).
function showButtons({ store }: Context, { places, rank }: Finding, of: number): HTMLElement[] {
  if (places.length === 0) return [];
  const button = (name: string, text: string, label: string, place: number): HTMLElement => make("button", {
    class: name, text, attributes: { type: "button", "aria-label": label },
    on: { click: (event: Event) => {
      store.set({ finding: { of, place } });
      goTo("timeline", event.target as Element);
    } } });
  const all = button("show-me", "show me", `show me finding ${rank} on the timeline`, -1);
  return places.length < 2 ? [all] : [all, button("quiet", `one by one (${places.length})`, `the first of ${places.length} places of finding ${rank}`, 0)];
}
