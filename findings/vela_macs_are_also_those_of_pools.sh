#!/usr/bin/env bash
# ethos-u-vela 5.2.0 (Ethos-U55, 128 MACs): nn_macs, nn_tops and "MAC Count" count each element of a pool's window as a MAC, and of a product of
# two tensors none.
#
# MaxPool and AveragePool have the MACs of a depthwise convolution of their kernel, Mean those of one that is as large as the image,
# Softmax those of its two reductions; Mul and Add have 0, though they take cycles. TensorFlow Lite, ONNX and PyTorch counters
# have it the other way about. A Softmax is 29 rows of other names, one of which is a MaxPool, so that pools are found in networks without
# one. Seen, on 16x16x16: MaxPool 3x3 36,864 MACs, AveragePool 36,864, Mean 4,096, Mul and Add 0 in 3,072 and 6,144 cycles; Softmax of
# 256 values 512 MACs in 29 rows, MaxPool the slowest.
# Utilisation of a network with many pools looks better than its convolutions are.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q ethos-u-vela==5.2.0 2>/dev/null
venv/bin/pip install -q --no-deps ai-edge-litert==2.3.0 2>/dev/null  # the schema of .tflite files

cat >make.py <<'EOF'
import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

operator, kind = schema.BuiltinOperator, schema.BuiltinOptions


def write(name, code, options, kind_of_options, shape, result, inputs=1, axes=None, zero_point=0):
    tensors, buffers = [], [schema.BufferT()]

    def tensor(called, extents, scale, zero, data=None):
        made = schema.TensorT()
        made.name, made.shape, made.buffer = called, extents, 0
        made.type = schema.TensorType.INT8 if data is None else schema.TensorType.INT32
        made.quantization = schema.QuantizationParametersT()
        made.quantization.scale, made.quantization.zeroPoint = [scale], [zero]
        if data is not None:
            buffers.append(schema.BufferT())
            buffers[-1].data = numpy.frombuffer(numpy.array(data, numpy.int32).tobytes(), numpy.uint8)
            made.buffer, made.quantization = len(buffers) - 1, None
        tensors.append(made)
        return len(tensors) - 1

    first = tensor("input", shape, 0.05, 0)
    made = schema.OperatorT()
    made.opcodeIndex, made.inputs = 0, [first] * inputs + ([tensor("axes", [len(axes)], 0, 0, axes)] if axes else [])
    made.outputs = [tensor(name, result, 1 / 256 if zero_point else 0.05, zero_point)]
    made.builtinOptionsType, made.builtinOptions = kind_of_options, options
    graph = schema.SubGraphT()
    graph.tensors, graph.operators, graph.name, graph.inputs, graph.outputs = tensors, [made], "main", [first], made.outputs
    known = schema.OperatorCodeT()
    known.builtinCode = known.deprecatedBuiltinCode = code
    known.version = 3
    model = schema.ModelT()
    model.version, model.buffers, model.subgraphs, model.operatorCodes = 3, buffers, [graph], [known]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    open(f"{name}.tflite", "wb").write(bytes(builder.Output()))


pool = schema.Pool2DOptionsT()
pool.padding, pool.strideW, pool.strideH, pool.filterWidth, pool.filterHeight = schema.Padding.SAME, 1, 1, 3, 3
reducer, softmax = schema.ReducerOptionsT(), schema.SoftmaxOptionsT()
reducer.keepDims, softmax.beta = True, 1.0
image = [1, 16, 16, 16]
write("maxpool", operator.MAX_POOL_2D, pool, kind.Pool2DOptions, image, image)
write("averagepool", operator.AVERAGE_POOL_2D, pool, kind.Pool2DOptions, image, image)
write("mean", operator.MEAN, reducer, kind.ReducerOptions, image, [1, 1, 1, 16], axes=[1, 2])
write("mul", operator.MUL, schema.MulOptionsT(), kind.MulOptions, image, image, inputs=2)
write("add", operator.ADD, schema.AddOptionsT(), kind.AddOptions, image, image, inputs=2)
write("softmax", operator.SOFTMAX, softmax, kind.SoftmaxOptions, [1, 256], [1, 256], zero_point=-128)
EOF
cat >compare.py <<'EOF'
import csv
import glob
import sys

macs, cycles, layers = {}, {}, {}
for network in ("maxpool", "averagepool", "mean", "mul", "add", "softmax"):
    summary = next(csv.DictReader(open(glob.glob(f"out/{network}_summary_*.csv")[0])))
    layers[network] = list(csv.DictReader(open(f"out/{network}_per-layer.csv")))
    macs[network], cycles[network] = int(summary["nn_macs"]), int(float(summary["cycles_total"]))
    assert macs[network] == sum(int(row["MAC Count"]) for row in layers[network])
slowest = max(layers["softmax"], key=lambda row: float(row["Op Cycles"]))["NNG Operator"]
print("MACs", macs, "cycles", cycles, "rows of softmax", len(layers["softmax"]), "slowest", slowest)
values = 16 * 16 * 16
as_described = (macs == {"maxpool": 9 * values, "averagepool": 9 * values, "mean": values, "mul": 0, "add": 0, "softmax": 2 * 256}
                and min(cycles.values()) > 1000 and len(layers["softmax"]) == 29 and slowest == "MaxPool")
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python make.py
for network in maxpool averagepool mean mul add softmax; do
  venv/bin/vela "$network.tflite" --accelerator-config ethos-u55-128 --verbose-performance --output-dir out >log.txt
done
venv/bin/python compare.py
