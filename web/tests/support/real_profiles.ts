// Profiles as people have them: of the reference NPU, of the samples beside the project where they
// are, empty ones and hostile ones. Made and turned into pages by the program that
// NPUSCOPE_PROGRAM names.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Values } from "../../src/data/report";

export const program = process.env["NPUSCOPE_PROGRAM"] ?? "../build/release/npuscope";
const shared = resolve("../../shared");

export interface RealProfile {
  readonly name: string;
  readonly missing: string | null;  // why it cannot be made here
  readonly isEmpty?: boolean;      // without a single span
  readonly files: (folder: string) => string[];
}

const run = (words: string[]): string => execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 29 });

const sample = (name: string, path: string): RealProfile => {
  const file = join(shared, "data", path);
  return { name, missing: existsSync(file) ? null : `there is no ${path} beside the project`, files: () => [file] };
};

// A model of the repository or of the samples, compiled and run on the reference NPU.
function simulated(name: string, model: string, cores: number): RealProfile {
  return {
    name, missing: existsSync(model) ? null : `there is no model ${model}`,
    files: (folder) => {
      const [program, raw] = [join(folder, "qpc"), join(folder, "raw")];
      run(["compile", model, `-aic-num-cores=${cores}`, "-stats-level=70", "-ddr-stats", `-aic-binary-dir=${program}`]);
      mkdirSync(raw);
      run(["run", "-t", program, "--aic-profiling-type=raw_device_stats", `--aic-profiling-out-dir=${raw}`, "--aic-profiling-num-samples", "2", "-n", "4"]);
      copyFileSync(join(program, "programqpc.bin"), join(raw, "programqpc.bin"));
      return [raw];
    },
  };
}

// A model that npuscope-model, next to the program, writes without weights.
function generated(name: string, preset: string, cores: number): RealProfile {
  const maker = join(dirname(program), "npuscope-model");
  return {
    name, missing: existsSync(maker) ? null : `there is no program ${maker}`,
    files: (folder) => {
      const model = join(folder, `${preset}.onnx`);
      execFileSync(maker, [preset, "--seq", "128", "-o", model], { stdio: "ignore" });
      return simulated(name, model, cores).files(folder);
    },
  };
}

// A timeline of the SigmaStar reference NPU, from its log.
function onIpu(name: string, model: string): RealProfile {
  return {
    name, missing: existsSync(model) ? null : `there is no model ${model}`,
    files: (folder) => {
      const [image, logs] = [join(folder, "image.img"), join(folder, "logs")];
      run(["compile", "-m", model, "--target", "ipu-muffin", "-o", image]);
      mkdirSync(logs);
      run(["run", "-m", image, "--ipu_log", logs]);
      const log = (part: string): string => join(logs, readdirSync(logs).find((file) => file.endsWith(`_${part}.bin`))!);
      execFileSync(resolve(program), ["ipu", "timeline", "-c0", log("core0"), "-c1", log("core1"), "-cc", log("corectrl0"), "-f", "900", "-v", "ipu-muffin"],
                   { cwd: folder, stdio: "ignore" });
      return [join(folder, "log_ctrl0.json")];
    },
  };
}

const hostileNames = ["</script><script>document.title='x'</script>", "<img src=x onerror=alert(1)>", "a\u0001\u001b[31m\u202e\u2066b", "x".repeat(100_000), "&lt;\"'`", "__proto__"];

function trace(folder: string, events: object[]): string[] {
  const file = join(folder, "trace.json");
  writeFileSync(file, JSON.stringify({ traceEvents: events }));
  return [file];
}

export const realProfiles: RealProfile[] = [
  sample("QNN chain of eight", "qnn/chain8"),
  simulated("ResNet-50 on four cores", "../models/light_resnet50.onnx", 4),
  simulated("SqueezeNet on one core", "../models/light_squeezenet.onnx", 1),
  generated("BERT on two cores", "bert-base", 2),
  sample("Torq log", "torq/runtime_new.csv"),
  onIpu("SigmaStar timeline", "../models/light_squeezenet.onnx"),
  sample("MTIA inference", "chrome/mtia_inference_rank_0.json.gz"),
  { name: "an empty trace", missing: null, isEmpty: true, files: (folder) => trace(folder, []) },
  { name: "one event", missing: null, files: (folder) => trace(folder, [{ ph: "X", pid: 1, tid: 1, ts: 5, dur: 1, name: "only" }]) },
  {
    name: "hostile names", missing: null,
    files: (folder) => trace(folder, [
      { ph: "M", pid: 1, name: "process_name", args: { name: hostileNames[0] } }, { ph: "M", pid: 1, tid: 2, name: "thread_name", args: { name: hostileNames[1] } },
      ...hostileNames.flatMap((name, i) => [0, 1].map((turn) => ({ ph: "X", pid: 1, tid: 2 + turn, ts: 10 * i + 3 * turn, dur: 6, name, cat: hostileNames[(i + 1) % hostileNames.length], args: { [name.slice(0, 40)]: name } })))]),
  },
];

export const pageOf = (files: string[], folder: string): string => {
  const html = join(folder, "report.html");
  run(["report", ...files, "-o", html]);
  return readFileSync(html, "utf8");
};

// The JSON of the first profile.
export const answerOf = (words: string[], files: string[]): Values =>
  (JSON.parse(run([...words, ...files, "--json"])) as { profiles: Values[] }).profiles[0];
