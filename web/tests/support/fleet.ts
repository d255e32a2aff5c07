// The pages of a fleet's store, as `npuscope report fleet.db` has them, with few rows.
import type { Field, FleetReport, Layout, Page, Values } from "../../src/data/report";

const field = (key: string, label: string, format: Field["format"] = "name"): Field => ({ key, label, format });
const section = (key: string, title: string, fields: Field[]): Layout => ({ key, title, facts: [], fields, parts: [] });
const page = (question: string, flags: string, layout: Layout[], values: Values): Page =>
  ({ command: `npuscope fleet ${question} fleet.db${flags}`, scope: null, layout, values });
const rows = (of: Values[]): Values => ({ row_count: of.length, rows: of });

const latencyFields = (by: string): Field[] => [
  field(`by_${by}`, by), field("runs", "runs", "count"), field("p50", "50 %", "seconds"), field("p90", "90 %", "seconds"), field("p99", "99 %", "seconds"),
  field("min", "min", "seconds"), field("max", "max", "seconds"),
];
const spread = (by: string, name: string | number | null, p50: number, p90: number, p99: number, min: number, max: number): Values =>
  ({ [`by_${by}`]: name, runs: 30, p50, p90, p99, min, max });

export function fleetReport(): FleetReport {
  return {
    store: "fleet.db", where: "soc = 'SM8650'",
    pages: [
      page("ls", "", [section("fleet", "", []), section("newest", "RUNS", [field("id", "run"), field("model", "model")])],
           { fleet: { remarks: ["2 damaged runs are counted."] }, newest: rows([{ id: "812", model: "squeezenet" }]) }),
      page("latency", " --by device", [section("latency", "LATENCY by device", latencyFields("device"))],
           { latency: rows([spread("device", "pixel-3", 0.003, 0.0031, 0.0035, 0.0029, 0.0036), spread("device", "pixel-1", 0.002, 0.0021, 0.0025, 0.0019, 0.0026),
                            { by_device: null, runs: 1, p50: 0.0018, p90: null, p99: null, min: null, max: null }, { by_device: "pixel-9", runs: 0, p50: null, p90: null, p99: null, min: null, max: null }]) }),
      page("latency", " --by build", [section("latency", "LATENCY by build", latencyFields("build"))],
           { latency: rows([spread("build", 11, 0.003, 0.0031, 0.0035, 0.0029, 0.0036), spread("build", 10, 0.002, 0.0021, 0.0025, 0.0019, 0.0026), spread("build", 9, 0.002, 0.0021, 0.0025, 0.0019, 0.0026)]) }),
      page("outliers", " --by device --within build", [section("groups", "SLOWEST by device", [field("by_device", "device"), field("relative", "of median", "share"), field("reason", "reason")])],
           { groups: rows([{ by_device: "pixel-3", relative: 1.35, reason: "clock" }]) }),
      page("diff", " --along build", [section("change_points", "CHANGE POINTS along build, in seconds", [field("name", "op"), field("first_after", "first after"), field("relative", "change", "change")])],
           { change_points: rows([{ name: "(whole inference)", first_after: 11, relative: 0.5 }, { name: "conv_7", first_after: 11, relative: 2 }]) }),
    ],
    missing: [{ command: "npuscope fleet ops fleet.db", why: "times of different clocks are not compared" }],
  };
}
