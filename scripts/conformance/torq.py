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
import re
import statistics
import subprocess
import sys
from pathlib import Path

TARGETS = ["torq-sl2610", "torq-sr200"]
TITLE = "Torq against torq-compiler 2.3.0"
ROOT = Path(__file__).resolve().parents[2]
PREDICTIONS = Path(__file__).with_name("torq_predictions.csv")


class Model:
    """An ONNX model written operator by operator, in floats or quantised around every operator."""

    def __init__(self, is_int8):
        import numpy
        import onnx
        self.numpy, self.onnx, self.is_int8 = numpy, onnx, is_int8
        self.nodes, self.constants, self.inputs = [], [], []

    def constant(self, values, type=None):
        name = f"k{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(self.numpy.asarray(values, type), name))
        return name

    def node(self, kind, *reads, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(reads), [name], **attributes))
        return name

    def input(self, *shape):
        name, types = f"in{len(self.inputs)}", self.onnx.TensorProto
        kind = types.INT8 if self.is_int8 else types.FLOAT
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))
        return self.real(name) if self.is_int8 else name

    def real(self, name, type="int8"):
        return self.node("DequantizeLinear", name, self.constant(0.02, "float32"), self.constant(0, type))

    def quantised(self, name):
        return self.node("QuantizeLinear", name, self.constant(0.05, "float32"), self.constant(0, "int8"))

    def weight(self, *shape, bias=False):
        if not self.is_int8:
            return self.constant(self.numpy.full(shape, 0.01), "float32")
        type = "int32" if bias else "int8"
        return self.real(self.constant(self.numpy.ones(shape), type), type)

    def between(self, name):
        """Between two operators of a net."""
        return self.real(self.quantised(name)) if self.is_int8 else name

    def save(self, name, path):
        if self.is_int8:
            name = self.quantised(name)
        kind = self.onnx.TensorProto.INT8 if self.is_int8 else self.onnx.TensorProto.FLOAT
        output = self.onnx.helper.make_empty_tensor_value_info(name)
        output.type.tensor_type.elem_type = kind
        graph = self.onnx.helper.make_graph(self.nodes, "case", self.inputs, [output], self.constants)
        model = self.onnx.helper.make_model(graph, opset_imports=[self.onnx.helper.make_opsetid("", 17)], ir_version=8)
        self.onnx.save(self.onnx.shape_inference.infer_shapes(model), path)

    # Operators with weights of their own.

    def conv(self, x, inputs, outputs, window, stride=1, groups=1):
        return self.node("Conv", x, self.weight(outputs, inputs // groups, window, window), self.weight(outputs, bias=True),
                         kernel_shape=[window] * 2, strides=[stride] * 2, pads=[window // 2] * 4, group=groups)

    def normalised(self, x, width):
        ones = self.numpy.ones(width)
        return self.node("LayerNormalization", x, self.constant(ones, "float32"), self.constant(0 * ones, "float32"), axis=-1)


def sides(text):
    return [int(each) for each in text.split("x")]


def doubled(m, x):
    scales = m.constant([1, 1, 2, 2], "float32")
    return m.node("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def gelu(m, x):
    """As exporters write it before opset 20."""
    half = m.between(m.node("Mul", x, m.constant(0.5, "float32")))
    error = m.between(m.node("Erf", m.between(m.node("Div", x, m.constant(1.41421356, "float32")))))
    return m.node("Mul", half, m.between(m.node("Add", error, m.constant(1, "float32"))))


# Cases of one operator, by the pattern of their names: how many numbers, and what is made of them.
CASES = {
    r"conv_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.conv(m.input(1, c, h, h), c, c, k, s),
    r"conv_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, i, o, k, s, h: m.conv(m.input(1, i, h, h), i, o, k, s),
    r"dw_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.conv(m.input(1, c, h, h), c, c, k, s, c),
    r"mm_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("MatMul", m.input(a, b), m.weight(b, c)),
    r"bmm_(\d+)x(\d+)x(\d+)x(\d+)": lambda m, n, a, b, c: m.node("MatMul", m.input(n, a, b), m.input(n, b, c)),
    r"bmm_(\d+)x(\d+)x(\d+)x(\d+)x(\d+)": lambda m, n, h, a, b, c: m.node("MatMul", m.input(n, h, a, b), m.input(n, h, b, c)),
    r"gemm_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("Gemm", m.input(a, b), m.weight(b, c), m.weight(c, bias=True)),
    r"ln_(\d+)x(\d+)": lambda m, a, b: m.normalised(m.input(1, a, b), b),
    r"softmax_(\d+)x(\d+)": lambda m, a, b: m.node("Softmax", m.input(a, b), axis=-1),
    r"avgpool_c(\d+)_h(\d+)": lambda m, c, h: m.node("AveragePool", m.input(1, c, h, h), kernel_shape=[2, 2], strides=[2, 2]),
    r"maxpool_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.node(
        "MaxPool", m.input(1, c, h, h), kernel_shape=[k] * 2, strides=[s] * 2, pads=[(k - 1) // 2] * 4),
    r"concat_c(\d+)_h(\d+)": lambda m, c, h: m.node("Concat", m.input(1, c, h, h), m.input(1, c, h, h), axis=1),
    r"resize_c(\d+)_h(\d+)": lambda m, c, h: doubled(m, m.input(1, c, h, h)),
    r"addc_c(\d+)_h(\d+)": lambda m, c, h: m.node("Add", m.input(1, c, h, h), m.weight(1, c, 1, 1)),
    r"mulb_c(\d+)_h(\d+)": lambda m, c, h: m.node("Mul", m.input(1, c, h, h), m.input(1, c, 1, 1)),
    r"gelu_([\dx]+)": lambda m, shape: gelu(m, m.input(*sides(shape))),
    r"mean_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("ReduceMean", m.input(a, b, c), axes=[1], keepdims=0),
    r"gap_c(\d+)_h(\d+)": lambda m, c, h: m.node("GlobalAveragePool", m.input(1, c, h, h)),
    r"transpose_1x(\d+)x(\d+)x(\d+)_nhwc": lambda m, c, h, w: m.node("Transpose", m.input(1, c, h, w), perm=[0, 2, 3, 1]),
}
BINARY = r"(add|mul|sub|div)_([\dx]+)"
UNARIES = {"hardswish": "HardSwish", "hardsigmoid": "HardSigmoid", "leakyrelu": "LeakyRelu"}
UNARY = r"(relu|sigmoid|tanh|exp|sqrt|hardswish|hardsigmoid|leakyrelu|erf)_([\dx]+)"


def one_operator(name, model):
    for pattern, make in CASES.items():
        found = re.fullmatch(pattern, name)
        if found:
            return make(model, *(int(each) if each.isdigit() else each for each in found.groups()))
    found = re.fullmatch(BINARY, name)
    if found:
        shape = sides(found[2])
        return model.node(found[1].capitalize(), model.input(*shape), model.input(*shape))
    found = re.fullmatch(UNARY, name)
    return model.node(UNARIES.get(found[1], found[1].capitalize()), model.input(*sides(found[2]))) if found else None


# Whole nets. `step` is an operator of one: its result is quantised for the next.

def step(m, *words, **attributes):
    return m.between(m.node(*words, **attributes))


def block(m, x, *sizes, relu=True, **more):
    x = m.conv(x, *sizes, **more)
    return m.between(m.node("Relu", x) if relu else x)


def halved(m, x, window=2, pads=0):
    return step(m, "MaxPool", x, kernel_shape=[window] * 2, strides=[2, 2], pads=[pads] * 4)


def joined(m, a, b, relu=True):
    x = m.node("Add", a, b)
    return m.between(m.node("Relu", x) if relu else x)


def classified(m, x, width, classes):
    x = step(m, "Flatten", step(m, "GlobalAveragePool", x), axis=1)
    return m.node("Gemm", x, m.weight(width, classes), m.weight(classes, bias=True))


def smallcnn(m):
    x = halved(m, block(m, m.input(1, 3, 32, 32), 3, 16, 3))
    return classified(m, block(m, halved(m, block(m, x, 16, 32, 3)), 32, 64, 3), 64, 10)


def mbnet(m):
    x, width = block(m, m.input(1, 3, 96, 96), 3, 16, 3, 2), 16
    for wider, stride in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2)):
        x = block(m, block(m, x, width, width, 3, stride, width), width, wider, 1)
        width = wider
    return classified(m, x, 256, 100)


def resnetish(m):
    x = halved(m, block(m, m.input(1, 3, 64, 64), 3, 32, 7, 2), 3, 1)
    for _ in range(2):
        x = joined(m, block(m, block(m, x, 32, 32, 3), 32, 32, 3, relu=False), x)
    deep = block(m, block(m, x, 32, 64, 3, 2), 64, 64, 3, relu=False)
    return classified(m, joined(m, deep, block(m, x, 32, 64, 1, 2, relu=False)), 64, 10)


def dscnn(m):
    x = block(m, m.input(1, 1, 48, 12), 1, 64, 5, 2)
    for _ in range(4):
        x = block(m, block(m, x, 64, 64, 3, 1, 64), 64, 64, 1)
    return classified(m, x, 64, 12)


def vggish(m):
    x, width = m.input(1, 3, 48, 48), 3
    for wider in (16, 32, 64):
        x, width = halved(m, block(m, block(m, x, width, wider, 3), wider, wider, 3)), wider
    return classified(m, x, 64, 20)


def resnet8(m):
    x, width = block(m, m.input(1, 3, 32, 32), 3, 16, 3), 16
    for wider, stride in ((16, 1), (32, 2), (64, 2)):
        deep = block(m, block(m, x, width, wider, 3, stride), wider, wider, 3, relu=False)
        x = joined(m, deep, x if stride == 1 else block(m, x, width, wider, 1, stride, relu=False))
        width = wider
    return classified(m, x, 64, 10)


def mbv2ish(m):
    x, width = block(m, m.input(1, 3, 64, 64), 3, 16, 3, 2), 16
    for wider, stride in ((24, 2), (24, 1), (40, 2), (40, 1)):
        deep = block(m, block(m, x, width, 4 * width, 1), 4 * width, 4 * width, 3, stride, 4 * width)
        deep = block(m, deep, 4 * width, wider, 1, relu=False)
        x, width = joined(m, deep, x, relu=False) if wider == width and stride == 1 else deep, wider
    return classified(m, x, 40, 10)


def gated(m, x, width):
    y = block(m, step(m, "GlobalAveragePool", x), width, width // 4, 1)
    y = m.between(m.conv(y, width // 4, width, 1))
    return m.between(m.node("Mul", x, m.between(m.node("Sigmoid", y))))


def senet(m):
    x, width = block(m, m.input(1, 3, 96, 96), 3, 16, 3, 2), 16
    for wider, stride in ((24, 2), (24, 1), (48, 2), (48, 1), (96, 2)):
        deep = block(m, block(m, x, width, 4 * width, 1), 4 * width, 4 * width, 3, stride, 4 * width)
        deep = block(m, gated(m, deep, 4 * width), 4 * width, wider, 1, relu=False)
        x, width = joined(m, deep, x, relu=False) if wider == width and stride == 1 else deep, wider
    return classified(m, x, 96, 100)


def unet(m):
    a = block(m, block(m, m.input(1, 3, 64, 64), 3, 16, 3), 16, 16, 3)
    b = block(m, halved(m, a), 16, 32, 3)
    x = block(m, halved(m, b), 32, 64, 3)
    for before, width in ((b, 32), (a, 16)):
        x = block(m, m.between(doubled(m, x)), 2 * width, width, 3)
        x = block(m, step(m, "Concat", x, before, axis=1), 2 * width, width, 3)
    return m.conv(x, 16, 2, 1)


def mlp(m):
    x = m.input(1, 256)
    for i, (read, made) in enumerate(((256, 512), (512, 512), (512, 64))):
        x = m.node("Gemm", x, m.weight(read, made), m.weight(made, bias=True))
        x = m.between(m.node("Relu", x)) if i < 2 else x
    return x


def transformer(m, rows, width, heads, hidden, norm_first):
    def linear(x, read, made):
        return m.node("Add", m.node("MatMul", x, m.weight(read, made)), m.weight(made))

    def shaped(x, *shape):
        return m.node("Reshape", x, m.constant(shape, "int64"))

    def headed(x, order):
        return m.node("Transpose", shaped(linear(x, width, width), 1, rows, heads, width // heads), perm=order)

    x = m.input(1, rows, width)
    y = m.normalised(x, width) if norm_first else x
    scores = m.node("MatMul", headed(y, [0, 2, 1, 3]), headed(y, [0, 2, 3, 1]))
    scores = m.node("Softmax", m.node("Mul", scores, m.constant(0.2, "float32")), axis=-1)
    y = m.node("Transpose", m.node("MatMul", scores, headed(y, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    x = m.node("Add", x, linear(shaped(y, 1, rows, width), width, width))
    x = x if norm_first else m.normalised(x, width)
    y = m.normalised(x, width) if norm_first else x
    y = m.node("Add", x, linear(m.node("Relu", linear(y, width, hidden)), hidden, width))
    return y if norm_first else m.normalised(y, width)


NETS = {
    "smallcnn": smallcnn, "mbnet": mbnet, "resnetish": resnetish, "dscnn": dscnn, "vggish": vggish, "resnet8": resnet8,
    "mbv2ish": mbv2ish, "mlp": mlp, "senet": senet, "unet": unet,
    "tblock": lambda m: transformer(m, 32, 128, 4, 512, True),
    "encoder": lambda m: transformer(m, 48, 96, 3, 192, False),
    "deit": lambda m: transformer(m, 197, 192, 3, 768, True),
    "bert": lambda m: transformer(m, 128, 256, 4, 1024, False),
}


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
    return {"conv": "convolutions", "dw": "depthwise convolutions", "mm": "products", "bmm": "products", "add": "elementwise",
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
        "the rules and count as fits; those of the same kinds that count as predictions were compiled afterwards, or were kept back.",
        "",
        "Not modelled: the compiler's choice between tiles of rows and of rows and channels for large images in bf16 with a stride of",
        "one (conv_ci16_co64_k3_s1_h96), values that it writes out where LRAM is in pieces, chains of the CSS (HardSigmoid, HardSwish),",
        "maximum pooling in int8 with a stride of one, Gemm in int8 whose bias has a scale of its own.",
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
