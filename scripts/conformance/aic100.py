"""Qualcomm's host estimate of models for one NSP of a Cloud AI 100 against the reference NPU's run of the same models on
one core. What both write is read here without npuscope's readers.
"""

import json
import math
import re
import subprocess

import onnx

import qnn

TARGETS = ["aic100"]
TITLE = "Cloud AI 100, one core, against Qualcomm's host estimate"
NETWORKS = ["resnet50", "squeezenet", "mobile", "squeezed", "unet", "detector", "encoder", "tokens", "distilled", "patches", "speech",
            "mixer"]
INFERENCES = 100  # the clock settles in the first few
KEYS = {"hmx_cycles": "HMX cycles", "hvx_cycles": "busiest HVX", "ddr_bytes": "DDR bytes"}


def given_and_made(model):
    """Values of its inputs and outputs, without those of constants."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(model)).graph
    constants = {each.name for each in graph.initializer}
    return sum(math.prod(size.dim_value for size in each.type.tensor_type.shape.dim)
               for each in [*graph.input, *graph.output] if each.name not in constants)


def estimate(model, folder, bytes_of_value):
    """us; the least and the most that the estimate gives; cycles of HMX and of the busiest HVX; bytes of DDR."""
    trace = qnn.estimated_trace(model, folder, "63")
    if trace is None:
        return None
    chip = trace["Hextimate Configuration"]
    if (chip["soc_type"], chip["num_nsps"]) != ("AIC100", 1):
        raise SystemExit(f"{model.name}: the estimate is of {chip['soc_type']} with {chip['num_nsps']} NSPs, not of one of AIC100")
    cycles, *figures, ddr_bytes = qnn.estimate(trace)
    rows = (folder / "prof.csv").read_text()
    bounds = [int(re.search(rf",(\d+),CYCLES,.*cycles \({which} estimate\)", rows)[1]) for which in ("lower", "upper")]
    return [*(each / chip["sim_core_freq"] for each in (cycles, *bounds)), *figures, ddr_bytes - bytes_of_value * given_and_made(model)]


def run(npuscope, model, folder, level, *words):
    folder = folder / str(level)
    folder.mkdir(parents=True, exist_ok=True)
    for each in (["compile", f"-model={model}", "-target=aic100", "-aic-num-cores=1", f"-stats-level={level}", "-convert-to-fp16",
                  f"-aic-binary-dir={folder}"],
                 ["run", "-t", folder, "-S", "1", "--json", *words]):
        done = subprocess.run([npuscope, *each], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{model.name}: npuscope {each[0]} ended with {done.returncode}: {done.stderr[-1000:]}")
    return json.loads(done.stdout)["programs"][0]["device_performance"]["ExecTimeUs"]["avg"], folder


def reference(npuscope, model, folder):
    """us; us at the estimate's clock; cycles of HMX and of each HVX thread; bytes of DDR."""
    words = ["-n", str(INFERENCES)]  # of programs that do not record every operator, which takes time
    times = [run(npuscope, model, folder, 40, *words, *more)[0] for more in ([], ["--core-clock-mhz", "1450"])]
    _, written = run(npuscope, model, folder, 70, "-n", "2", "--aic-profiling-type=trace", "--aic-profiling-start-iter", "1")
    trace = json.loads((written / "aic-profiling-program-0-trace.json").read_text())["traceEvents"]
    lanes = {each["tid"]: each["args"]["name"].rpartition("_")[2] for each in trace if each["name"] == "thread_name"}
    figures = {"HMX": 0, "HVX": 0, "DMA": 0}
    for each in trace:
        if each["ph"] != "X" or "opKind" not in each["args"] or each["name"] == "aicendcyclestats":
            continue
        lane, what = lanes[each["tid"]], each["args"]
        if lane in ("HMX", "HVX"):
            figures[lane] += int(what["opPCycle"])
        elif lane == "DMA" and what["opMemory"] == "DDR":
            figures[lane] += int(what["opOutputSize"])
    return [*times, figures["HMX"], figures["HVX"], figures["DMA"] - 2 * given_and_made(model)]


def runs(npuscope, folder):
    """Entries of docs/validation.toml; a sentence of why there are none raises SystemExit."""
    for name in NETWORKS:
        for precision, model in qnn.both_precisions(name, folder):
            theirs = estimate(model, folder / "aic100_estimates" / model.stem, {"fp16": 4, "int8": 1}[precision])
            if theirs is None:
                continue
            ours = reference(npuscope, model, folder / "aic100" / model.stem)
            seconds, least, most, own_clock, fixed_clock = (float(f"{each * 1e-6:.8g}") for each in (*theirs[:3], *ours[:2]))
            entry = {"target": "aic100", "judge": "estimate", "run": name, "figure": "device time", "family": "other",
                     "precision": precision, "network": True, "fitted": False, "reference": seconds, "npuscope": own_clock,
                     "least_and_most": [least, most], "at_1450_mhz": fixed_clock}
            yield entry | {key: list(pair) for key, *pair in zip(KEYS, theirs[3:], ours[2:])}


def section(entries):
    """Markdown of these entries."""
    entries = [each for each in entries if each["target"] == "aic100"]
    lines = ["| model | precision | us of the estimate | from | to | npuscope | ratio | at 1450 MHz | "
             + " | ".join(f"{each} of the estimate | npuscope | ratio" for each in KEYS.values()) + " |",
             "|---|---|" + "---:|" * (6 + 3 * len(KEYS))]
    rows, between = [], 0
    for each in entries:
        theirs, (least, most), ours, fixed = each["reference"], each["least_and_most"], each["npuscope"], each["at_1450_mhz"]
        lines.append(f"| {each['run']} | {each['precision']} | " + " | ".join(f"{value * 1e6:.1f}" for value in (theirs, least, most, ours))
                     + f" | {ours / theirs:.2f} | {fixed / theirs:.2f} | " + " | ".join(qnn.cells(*each[key]) for key in KEYS) + " |")
        rows.append((None, None, [theirs, theirs, *(each[key][0] for key in KEYS)], [ours, fixed, *(each[key][1] for key in KEYS)]))
        between += least <= fixed <= most
    return [*MEANING, "", *lines, "", *qnn.within(rows, ["us", "us at 1450 MHz", *KEYS.values()]), "",
            f"At 1450 MHz {between} of {len(entries)} times lie between the least and the most that the estimate gives.", "", *CAUSES]


MEANING = [
    "onnxruntime-qnn's compiler, QNN's HTP backend, prepares each model on a host for one NSP of a Cloud AI 100 (soc_model 63: 8 MiB of",
    "VTCM, four HVX threads, 1450 MHz) and estimates its cycles; the reference NPU compiles and runs the same file for `aic100` on one",
    "core (`-aic-num-cores=1 -convert-to-fp16`). No figure of the target was taken from these runs: all of them are predictions.", "",
    "The estimate is not a card, nor of the card's own compiler, which splits, fuses and places otherwise, and it gives a range itself.",
    "Where runs of real cards gave a figure of targets/aic100.toml (the rate of DDR, the HMX's share of its peak, kernels in float16),",
    "they count for more than this. A ratio near 1 says that two models agree, not that either is right; one far from 1 says where one",
    "of them lacks something. Several cores, batches and queues are not judged here; `tune` and `conversation` leave these runs out.", "",
    f"us: one inference on the device, without the host, mean of {INFERENCES} sent one at a time, at the clock that the governor of the target",
    "sets; 7 us of it write statistics (`-stats-level=40`), of which the estimate has none. At 1450 MHz: the ratio of us with the clock",
    "held there, as the estimate has it. HMX cycles: of operators on the HMX, without waits. Busiest HVX: cycles of the thread with most;",
    "those of the reference share evenly, the busiest of the estimate has 1.03 to 2.3 times the mean (median 1.5). DDR bytes: without the",
    "network's inputs and outputs, which are float32 in the estimate's float models and 8 bits in its int8 ones (the host quantises), and",
    "float16 in all of the reference, which converts them on the device."]
CAUSES = [
    "### What the model lacks", "",
    "From the traces of both, November 2026; cycles of HVX are a quarter of the sum over its four threads. Times come out too long where",
    "operators wait for one another (unet) and too short where HVX is too cheap (speech, mixer, patches int8).", "",
    "- Operators at once. HMX and HVX work together for 8 % of the time of the shorter at the median (0 to 81), in the estimate 44 % (12",
    "  to 72): it cuts every operator into strips, the reference images, and products with what follows them, in four where a part is worth",
    "  a task (500 cycles on the HMX, from a card). Most tensors of the transformers here are smaller, and transposes wait for whole ones.",
    "- Layouts. What rearranges matrices leaves d32, and is priced as on a card: the transposes of mixer fp16 take 9,000 cycles (estimate:",
    "  36,000 and 14,000 of reshapes).",
    "- Rate of the HMX. 72 % of the peak and 500 cycles a task, both from cards: unet in fp16 and int8 takes 1.27 and 1.32 of the estimate's",
    "  cycles. With attention in int8 the estimate is slower (distilled 0.75).",
    "- Depthwise convolutions. In int8 the estimate has some on the HMX and some on HVX (34,000 cycles of mobile), here all are on HVX",
    "  (130,000). Weights of those in fp16 are 0.9 MB more in the estimate.",
    "- Prices of HVX kernels. LayerNorm in fp16 takes 0.61 of the estimate's cycles and Gelu 0.5 (both from a card); softmax of integers,",
    "  priced by values as a card takes for float16, 0.45 to 1.1; x Sigmoid(x) in fp16, two kernels here, 1.3 to 1.8. What no card gave is a",
    "  quarter of what a thread of an HTP takes.",
    "- What pairs of QuantizeLinear and DequantizeLinear keep apart. The estimate runs biases of products as operators (178,000 cycles in",
    "  five networks, 100,000 of them in patches) and the BatchNorms of resnet50 (677,000); the reference folds both.",
    "- Strides. What sorts places before convolutions with strides is priced so, too: 0.46 to 0.83 of the estimate's cycles.",
    "- DMA. One transfer at a time at 24.4 GB/s (from a card) and 0.76 us each: 8.8 to 16 bytes a cycle; 22.1 in the estimate (32 GB/s,",
    "  issued ahead). Scales and biases are transfers of their own: 17 of 68 us in speech int8; inputs come in one piece. DMA bounds",
    "  resnet50 int8 and tokens (93 to 96 % of the time; estimate 63 to 75 %), so that resnet50 int8 is near by two misses that cancel,",
    "  this and BatchNorm.",
    "- Clock. The governor takes up to 13 % (unet and squeezed in fp16); the estimate has none."]
