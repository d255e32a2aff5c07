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
    "operators wait for one another (unet, squeezenet int8) and too short where HVX is too cheap (speech, mixer, patches int8, encoder,",
    "detector fp16).", "",
    "- Operators at once. HMX and HVX work together for 3 % of the time of the shorter at the median (0 to 53), in the estimate 44 % (12",
    "  to 72): it cuts every operator into strips, the reference only large elementwise operators with the product or convolution before",
    "  them, in four; pooling, softmax, norms and conversions of layouts wait for whole tensors, and the next product for them.",
    "- Layouts. Concat and Resize leave d32, so whole tensors are converted out of it and back while the HMX waits: with Resize itself",
    "  181,000 cycles of unet fp16 (estimate: 106,000, and two thirds of all its HVX work is behind the HMX), 93,000 in int8 (33,000),",
    "  62,000 of squeezenet int8 (11,000).",
    "- Convolutions over 3 channels. Each place of the window is padded to 32 channels. The estimate pads to 4 where the stride is 1 (first",
    "  of unet fp16: 17,900 cycles, here 52,400) and moves the places of patches into channels: those of mixer fp16 take 81,800 cycles",
    "  here, all of the estimate's HMX work 21,500.",
    "- Rate of the HMX. All of unet runs at 2,640 multiply-adds a cycle in fp16 and 5,170 in int8 (estimate 3,520 and 7,140): 72 % of the",
    "  peak and 500 cycles a task, both from cards. With attention in int8 the estimate is slower (distilled 2,950, here 3,900).",
    "- Depthwise convolutions. In fp16 the estimate has them on the HMX, 32 channels at a time (mobile: 305,000 HMX cycles, here 160,000,",
    "  and 1.2 MB more weights); here they take 255,000 cycles of HVX. In int8 it has some on HVX (34,000 cycles), here all are (128,000).",
    "- Strides. Before convolutions of stride 2 its HVX moves places into channels: 79,000 to 202,000 cycles a network in fp16, 23,000 to",
    "  54,000 in int8, in five of these networks. Here that costs nothing.",
    "- Prices of HVX kernels. Softmax in int8 is priced by bytes as in float16, though it works on values: 0.33 of the estimate's cycles",
    "  (float16, from a card: 1.41). LayerNorm 0.61 in fp16, 0.40 in int8. Functions in fp16: a KiB of Sigmoid costs 90 cycles (estimate",
    "  about 230), of x Sigmoid(x) 110 (148 to 215), of Gelu 165 (271 to 364; here Erf is from a card). Gelu in int8 is no table: 1.8 to 2.7",
    "  times the estimate's cycles.",
    "- What pairs of QuantizeLinear and DequantizeLinear keep apart. The estimate runs biases of products as operators (178,000 cycles in",
    "  five networks, 100,000 of them in patches) and the BatchNorms of resnet50 (677,000); the reference folds both.",
    "- DMA. One transfer at a time at 24.4 GB/s (from a card) and 0.76 us each: 8.8 to 16 bytes a cycle; 22.1 in the estimate (32 GB/s,",
    "  issued ahead). Scales and biases are transfers of their own: 17 of 64 us in speech int8. An output leaves in one piece at the end:",
    "  86 of 350 us in detector int8. DMA bounds resnet50 int8 and tokens (93 to 96 % of the time; estimate 63 to 75 %), so that resnet50",
    "  int8 is near by two misses that cancel, this and BatchNorm.",
    "- Clock. The governor takes up to 13 % (unet and squeezed in fp16); the estimate has none."]
