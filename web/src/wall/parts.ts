// What the wall time is made of, out of page "show": the parts of the wall add up to it.
import type { Part } from "../bar/bar";
import type { ProfileReport } from "../data/report";
import { ticksText, secondsText, ticksWithUnit, showsTime, valueText } from "../format/format";
import { hues } from "../timeline/colouring";
import { fact, find, number, sectionsOf, text, type Section } from "../section/section";

interface Look {
  label: string;
  colour: string;
}

// As short_name_of() of src/report/show/wall_section.cpp names them.
const looks: { [part: string]: Look } = {
  compute_alone: { label: "compute", colour: "fill-compute" },
  compute_and_movement: { label: "compute with data movement", colour: "fill-both" },
  movement_alone: { label: "data movement", colour: "fill-movement" },
  other_work: { label: "work", colour: "fill-work" },
  host_alone: { label: "host", colour: "fill-host" },
  waiting_for_dma: { label: "DMA wait", colour: "fill-wait-dma" },
  other_waiting: { label: "other waiting", colour: "fill-wait" },
  idle: { label: "idle", colour: "fill-idle" },
};

export interface Wall {
  title: string;
  parts: Part[];
}

export function wallOf(report: ProfileReport): Wall | null {
  const section = showSection(report, "wall");
  const ticks = number(fact(section, "ticks"));
  if (section === null || ticks === null || section.rows.length === 0) return null;
  const isPlain = !section.rows.some((row) => row.part === "waiting_for_dma");
  const leavesOut = fact(section, "idle_may_be_left_out") === true;
  const parts = section.rows.map((row): Part => {
    const key = text(row.part);
    const look = looks[key] ?? { label: key.replaceAll("_", " "), colour: "fill-other" };
    const label = key === "idle" && leavesOut ? "not selected or idle" : key === "other_waiting" && isPlain ? "waiting alone" : look.label;
    return { label, colour: look.colour, value: ticksText(report.clock, number(row.ticks) ?? 0), share: number(row.share_of_wall) ?? 0 };
  });
  return { title: wallTitle(report, section, ticks), parts };
}

// "wall 64,829 cycles = 80.40 us"
function wallTitle(report: ProfileReport, section: Section, ticks: number): string {
  const seconds = number(fact(section, "seconds"));
  const time = seconds !== null && !showsTime(report.clock) ? ` = ${secondsText(seconds)}` : "";
  return `wall ${ticksWithUnit(report.clock, ticks)}${time}`;
}

// Parts of the model by their share of the work, in the colours that they have on the timeline.
export function modelPartsOf(report: ProfileReport): { by: string; parts: Part[] } | null {
  const section = showSection(report, "model_parts");
  const valueField = section?.fields.find((field) => field.key === "value");
  if (section === null || valueField === undefined || section.rows.length === 0) return null;
  const parts = section.rows.map((row, place): Part => ({
    label: text(row.part), value: valueText(valueField, row.value ?? null, report), share: number(row.share) ?? 0,
    colour: text(row.part) === "other" || place >= hues ? "fill-hue-other" : `fill-hue-${place + 1}`,
  }));
  return { by: valueField.label, parts };
}

function showSection(report: ProfileReport, key: string): Section | null {
  const page = report.pages.show;
  return page === undefined ? null : find(sectionsOf(page), key);
}
