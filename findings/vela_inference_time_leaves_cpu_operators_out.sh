#!/usr/bin/env bash
# ethos-u-vela 5.2.0 (Ethos-U55, 128 MACs): a network that falls back to the CPU has a shorter inference_time than the same one on the NPU.
#
# inference_time, inferences_per_second, cycles_total and nn_macs of NET_summary_*.csv leave operators out that Vela gives to the
# CPU. The summary has no column that says that there are any (passes_after_fusing counts them with the others), so that the
# less of a network the NPU can run, the faster it seems; a table of several networks ranks the wrong one first. Only the console says
# "CPU operators = 3 (60.0%)", and NET_per-layer.csv of --verbose-performance has rows of 0 cycles for them. Seen, of two convolutions with
# three depthwise ones between: all on the NPU 78,239 cycles, 156.5 us; depthwise on the CPU 38,467 cycles, 76.9 us; a wider one 2,118.8
# us and 737.7 us.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q ethos-u-vela==5.2.0 2>/dev/null
venv/bin/pip install -q --no-deps ai-edge-litert==2.3.0 2>/dev/null  # the schema of .tflite files

cat >make.py <<'EOF'
import sys

import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

operator = schema.BuiltinOperator


class Network:
    def __init__(self, side, channels):
        self.tensors, self.operators, self.buffers = [], [], [schema.BufferT()]
        self.codes = []
        self.last = self.first = self.tensor("input", [1, side, side, channels])

    def tensor(self, name, shape, data=None):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.buffer = name, list(shape), 0
        tensor.type = schema.TensorType.INT32 if name.endswith("bias") else schema.TensorType.INT8
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [0.05 * 0.01 if name.endswith("bias") else 0.05], [0]
        if data is not None:
            if data.dtype == numpy.int8:
                tensor.quantization.scale = [0.01]
            buffer = schema.BufferT()
            buffer.data = numpy.frombuffer(data.tobytes(), numpy.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add(self, code, name, kernel, outputs):
        _, side, _, channels = self.tensors[self.last].shape
        depthwise = code == operator.DEPTHWISE_CONV_2D
        shape = [1, kernel, kernel, channels] if depthwise else [outputs, kernel, kernel, channels]
        weights = numpy.random.default_rng(0).integers(-127, 128, shape).astype(numpy.int8)
        inputs = [self.last, self.tensor(f"{name}/weights", shape, weights),
                  self.tensor(f"{name}/bias", [outputs], numpy.zeros(outputs, numpy.int32))]
        options = schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()
        options.padding, options.strideW, options.strideH = schema.Padding.SAME, 1, 1
        options.dilationWFactor = options.dilationHFactor = 1
        if depthwise:
            options.depthMultiplier = 1
        if code not in self.codes:
            self.codes.append(code)
        made = schema.OperatorT()
        made.opcodeIndex, made.inputs = self.codes.index(code), inputs
        self.last = self.tensor(name, [1, side, side, outputs])
        made.outputs = [self.last]
        made.builtinOptionsType = (schema.BuiltinOptions.DepthwiseConv2DOptions if depthwise
                                   else schema.BuiltinOptions.Conv2DOptions)
        made.builtinOptions = options
        self.operators.append(made)

    def save(self, path):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, graph.name = self.tensors, self.operators, "main"
        graph.inputs, graph.outputs = [self.first], [self.last]
        model = schema.ModelT()
        model.version, model.buffers, model.subgraphs, model.operatorCodes = 3, self.buffers, [graph], []
        for code in self.codes:
            made = schema.OperatorCodeT()
            made.builtinCode = made.deprecatedBuiltinCode = code
            made.version = 3
            model.operatorCodes.append(made)
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        open(path, "wb").write(bytes(builder.Output()))


for name, side, channels, kernel in (("small", 32, 16, 3), ("wide", 64, 32, 5)):
    network = Network(side, channels)
    network.add(operator.CONV_2D, "before", 3, channels)
    for number in range(3):
        network.add(operator.DEPTHWISE_CONV_2D, f"depthwise{number}", kernel, channels)
    network.add(operator.CONV_2D, "after", 1, channels)
    network.save(f"{name}.tflite")
EOF
cat >compare.py <<'EOF'
import csv
import glob
import sys

as_described = True
for network in ("small", "wide"):
    whole, part = (next(csv.DictReader(open(glob.glob(f"{folder}/{network}_summary_*.csv")[0]))) for folder in ("npu", "cpu"))
    layers = list(csv.DictReader(open(f"cpu/{network}_per-layer.csv")))
    on_cpu = [row["Op Cycles"] for row in layers if row["Target"] == "CPU"]
    seconds = [float(summary["inference_time"]) for summary in (whole, part)]
    print(network, "inference_time", seconds, "cycles_total", whole["cycles_total"], part["cycles_total"], "passes",
          whole["passes_after_fusing"], part["passes_after_fusing"], "cycles of rows on the CPU", on_cpu)
    different = {name for name in whole if "cpu" in name.lower() or "fallback" in name.lower()}
    as_described &= seconds[1] < 0.6 * seconds[0] and int(part["nn_macs"]) < int(whole["nn_macs"]) and not different
    as_described &= whole["passes_after_fusing"] == part["passes_after_fusing"] and [float(cycles) for cycles in on_cpu] == [0, 0, 0]
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python make.py
for network in small wide; do
  options=(--accelerator-config ethos-u55-128 --verbose-performance)
  venv/bin/vela "$network.tflite" "${options[@]}" --output-dir npu >"npu-$network.txt"
  venv/bin/vela "$network.tflite" "${options[@]}" --ignore-ops DEPTHWISE_CONV_2D --output-dir cpu >"cpu-$network.txt"
  grep "CPU operators" "npu-$network.txt" "cpu-$network.txt"
done
venv/bin/python compare.py
