#!/usr/bin/env python3
"""The reference NPU's Torq against torq-compiler 2.3.0: run.py makes a section of docs/validation.md of it.

    scripts/conformance/torq.py --program build/release/npuscope --data ../shared/data/torq/real

The compiler's side is data, because its wheels need a newer C library than most machines have: sweep.csv of the
folder, whose cases the reference was made after, and torq_predictions.csv next to this file, whose cases and nets
it was tried on afterwards. A case's name says its shape. The models are made here, with the same operators and
shapes; what a compiler estimates does not depend on weights. Needs the packages onnx and numpy.
"""

import argparse
import csv
import statistics
import subprocess
import sys
from pathlib import Path

from torq_models import NETS, Model, one_operator

TARGETS = ["torq-sl2610", "torq-sr200"]
TITLE = "Torq against torq-compiler 2.3.0"
ROOT = Path(__file__).resolve().parents[2]
PREDICTIONS = Path(__file__).with_name("torq_predictions.csv")


def cycles_of(timeline):
    rows = [line.split(",") for line in timeline.read_text().splitlines()[1:]]
    return max((int(row[1]) + int(row[2]) for row in rows), default=0)


def reference(npuscope, name, type, folder, target):
    """Cycles of the estimate, or None for a case that nobody here can make."""
    model = Model(type == "int8")
    result = NETS[name](model) if name in NETS else one_operator(name, model)
    if result is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path, timeline = folder / f"{name}.{type}.onnx", folder / "timeline.csv"
    model.save(result, path)
    timeline.unlink(missing_ok=True)
    words = ["compile", "-m", path, "--target", target, "-o", folder / "case.torq", "--torq-enable-profiling",
             f"--torq-dump-profiling={timeline}"]
    done = subprocess.run([npuscope, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name} {type}: npuscope compile ended with {done.returncode}: {done.stderr[-1000:]}")
    return cycles_of(timeline)


def family_of(name):
    if name in NETS:
        return "whole nets"
    word = name.partition("_")[0]
    return {"conv": "convolutions", "padded": "convolutions", "oblong": "convolutions", "row": "convolutions", "convsilu": "convolutions",
            "convnorm": "batch normalization", "batchnorm": "batch normalization",
            "layers": "layers cut together", "stem": "layers cut together", "residual": "layers cut together",
            "separable": "layers cut together", "convpool": "layers cut together", "lrn": "local normalization",
            "images": "products", "batches": "products", "attention": "chains of operators", "cell": "chains of operators",
            "uneven": "convolutions", "rowmeans": "pooling", "softmaxc": "softmax, LayerNorm", "halves": "moves",
            "grouped": "grouped convolutions", "dilated": "windows with gaps", "dilateddw": "windows with gaps",
            "transposed": "windows with gaps", "paddeddw": "depthwise convolutions", "pool": "pooling", "pad": "moves",
            "depthtospace": "transposes", "swap": "transposes", "turn": "transposes", "greater": "elementwise", "square": "elementwise",
            "power": "elementwise", "neg": "elementwise", "abs": "elementwise", "dw": "depthwise convolutions", "mm": "products", "bmm": "products", "add": "elementwise",
            "mul": "elementwise", "sub": "elementwise", "avgpool": "pooling", "gap": "pooling", "ln": "softmax, LayerNorm",
            "softmax": "softmax, LayerNorm", "transpose": "transposes", "gemm": "products", "div": "elementwise", "addc": "elementwise",
            "mulb": "elementwise", "maxpool": "pooling", "mean": "pooling", "concat": "moves", "resize": "moves"}.get(word, "activation functions")


def table(results):
    """Of (name, type, cycles, vendor's cycles): how far off they are, by family and type."""
    groups = {}
    for name, type, ours, theirs in results:
        groups.setdefault((family_of(name), type), []).append((ours / theirs, name))
    lines = ["| kernels | type | cases | within 10 % | within 25 % | beyond a factor of 2 | median | furthest |",
             "|---|---|---:|---:|---:|---:|---:|---|"]
    everything = [each for group in groups.values() for each in group]
    for (family, type), group in [*sorted(groups.items()), (("all", ""), everything)]:
        ratios = [ratio for ratio, _ in group]
        furthest = max(group, key=lambda each: max(each[0], 1 / max(each[0], 1e-9)))
        lines.append(f"| {family} | {type} | {len(group)} | {sum(abs(r - 1) <= .1 for r in ratios)} | "
                     f"{sum(abs(r - 1) <= .25 for r in ratios)} | {sum(not .5 <= r <= 2 for r in ratios)} | "
                     f"{statistics.median(ratios):.2f} | {furthest[1]} {furthest[0]:.2f} |")
    return lines


def cases_in(path):
    """Name, type and the vendor's cycles of those that ran on the NPU at all."""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if int(row["makespan"] or 0) > 0:
                yield row["case"], row["dtype"], int(row["makespan"]), row.get("use", "fit")


def runs(npuscope, folder, data=None):
    """Entries of docs/validation.toml; a sentence of why there are none raises SystemExit."""
    data = Path(data or ROOT.parent / "shared" / "data" / "torq" / "real")
    if not (data / "sweep.csv").is_file():
        raise SystemExit(f"{data} has no sweep.csv, the compiler's side; give its folder with --data")
    for path in (data / "sweep.csv", PREDICTIONS):
        for name, type, theirs, use in cases_in(path):
            target = "torq-sr200" if use == "sr200" else "torq-sl2610"
            ours = reference(npuscope, name, type, Path(folder) / "torq", target)
            if ours is not None:
                yield {"target": target, "judge": "estimate", "run": name, "figure": "cycles", "family": "other", "precision": type,
                       "network": name in NETS, "fitted": use == "fit", "reference": theirs, "npuscope": ours}


def section(entries):
    """Markdown of these entries."""
    def rows(target, fitted):
        return table([(each["run"], each["precision"], each["npuscope"], each["reference"]) for each in entries
                      if each["target"] == target and each["fitted"] == fitted])

    return [
        "Cycles of the whole estimate (`--torq-dump-profiling`), reference by compiler. A case that the compiler runs on the",
        "host alone has none on either side.", "",
        "### Fits: what the reference was made after", "", *rows("torq-sl2610", True), "",
        "### Predictions: shapes and nets that it was tried on afterwards", "", *rows("torq-sl2610", False), "",
        "### SR200: the same rules with one slice, its rate of the DMA and 256 KiB of LRAM", "", *rows("torq-sr200", False), "",
        "The names of cases are their shapes: channels, window, stride, height; rows by depth by columns. The cases of sweep.csv and the",
        "nets smallcnn, mbnet, resnetish and tblock are what the rules were made after; transposes and ten convolutions in bf16 were",
        "predictions until a rule was made after them (before it 5 of those 14 were within 25 %, so at first sight 143 of 157).", "",
        "The cases behind LayerNorm and softmax in int8, batched products, roots beyond LRAM and strided tiles of rows were compiled for",
        "the rules and count as fits; those of the same kinds that count as predictions were compiled afterwards, or were kept back.", "",
        "Windows with gaps, transposed and grouped convolutions, odd extents, strides beyond two, rows of places, x * Sigmoid(x) and pooling",
        "without pads were taken in November 2026 from 131 cases and 26 nets of kinds that were not among these before; 41 and 12 of them",
        "were within 25 % then. Of the 38 cases and 19 nets that were compiled afterwards, and count as predictions, 8 and 6 would have been.", "",
        "The compiler's nets in int8 were quantised with its torq-quantize-model, which leaves a Relu in front of a QuantizeLinear out.",
        "Where one is left there (as with symmetric activations) the compiler runs the convolution on the CSS, ten times as long; the",
        "reference folds it, and warns.", "",
        "Layers that are cut by rows together, local normalization, products of images, unequal strides and others were taken in November",
        "2026 from 43 cases; of 20 further ones of the same kinds, compiled before and opened after, 18 were within 25 % at first",
        "sight; three of them made a rule afterwards and count as fits. Int8 cases whose Relu the compiler leaves to the CSS are not among them.", "",
        "The rows that each layer needs around a tile are computed again, by the compiler too: four and six 3x3 layers of 64 channels and 80x80,",
        "compiled afterwards, take 9,402,877 and 34,181,566 of its cycles (the reference 1.08 of both), five and eight of 32 channels and",
        "64x64 1,450,512 and 2,419,288 (1.00). With 17 layers the compiler was not done after minutes: beyond eight nothing is judged.", "",
        "Whole networks of ONNX's zoo with random weights, in bf16: SqueezeNet 0.92 of the compiler's cycles (0.95 in int8), ResNet-50 0.95,",
        "ShuffleNet 0.87, Inception v1 0.96. Their batch normalization, which the compiler leaves to the CSS, is half of ResNet-50 and most of",
        "ShuffleNet; local normalization is half of Inception v1, which was 0.48 before layers were cut together and that was taken apart.", "",
        "Not modelled: the compiler's choice between tiles of rows and of rows and channels for large images in bf16 with a stride of",
        "one (conv_ci16_co64_k3_s1_h96), pooling and additions in one tile with the convolutions before them (convpool, residual), values",
        "that it writes out where LRAM is in pieces, rows of places with gaps, which its host unfolds (gaps_of_rows), chains of the CSS",
        "(HardSigmoid, HardSwish), unequal strides in int8, which it computes at full rate, channels of int8 that slices do not share evenly",
        "between a sum or a Concat (espnet, ghost), Gemm in int8 whose bias has a scale of its own.",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/npuscope", help="npuscope")
    parser.add_argument("--data", type=Path, help="the folder of the compiler's sweep.csv")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/conformance", help="for what is made")
    given = parser.parse_args()
    print("\n".join(section(list(runs(given.program.resolve(), given.folder, given.data)))))


if __name__ == "__main__":
    sys.exit(main())
