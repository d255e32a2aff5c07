#!/usr/bin/env bash
# onnxsim 0.8.1 and onnxslim 0.1.98 (Python): a simplified model can have many times the parameters, and onnxslim's operators other names.
#
# Both compute what depends on constants alone, a small bias that Expand lays over a batch among it, and write the result as a
# constant: fewer operators, and a file, a parameter count and weights read from memory that grow by the factor of the Expand. A roofline
# by bytes then calls the model bound by memory. onnxslim names a convolution that it fuses with a Pad in front or a BatchNormalization after
# it like a tensor, and writes nodes in another order, so that profiles by node no longer match the model; onnxsim keeps the
# names. Seen: 8 operators with 86,872 bytes of constants, 65,536 of them expanded 64 times, become 5 with 4,215,360; conv and other
# become c and d (onnxslim).
# Compare constants before and after, not only the count of operators.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxsim==0.8.1 onnxslim==0.1.98 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import sys

import numpy
import onnx
import onnxsim
import onnxslim
from onnx import TensorProto, helper

random = numpy.random.default_rng(0)
value, times = helper.make_tensor_value_info, 64


def constant(name, data):
    return onnx.numpy_helper.from_array(data, name)


def filled(name, *shape):
    return constant(name, random.uniform(0.5, 1.5, shape).astype(numpy.float32))


nodes = [helper.make_node("Pad", ["x", "pads"], ["padded"], name="pad"), helper.make_node("Conv", ["padded", "w1"], ["c"], name="conv"),
         helper.make_node("Conv", ["c", "w2"], ["d"], name="other"),
         helper.make_node("BatchNormalization", ["d", "scale", "bias", "mean", "variance"], ["n"], name="norm"),
         helper.make_node("Relu", ["n"], ["y"], name="relu"), helper.make_node("Expand", ["row", "extents"], ["rows"], name="expand"),
         helper.make_node("Add", ["t", "rows"], ["u"], name="add"), helper.make_node("Softmax", ["u"], ["z"], name="softmax", axis=-1)]
constants = [constant("pads", numpy.array([0, 0, 1, 1, 0, 0, 1, 1], numpy.int64)), filled("w1", 16, 8, 3, 3), filled("w2", 16, 16, 4, 4),
             *(filled(name, 16) for name in ("scale", "bias", "mean", "variance")), filled("row", 1, 256, 64),
             constant("extents", numpy.array([times, 256, 64], numpy.int64))]
graph = helper.make_graph(nodes, "graph", [value("x", TensorProto.FLOAT, [1, 8, 16, 16]), value("t", TensorProto.FLOAT, [times, 256, 64])],
                          [value("y", TensorProto.FLOAT, [1, 16, 13, 13]), value("z", TensorProto.FLOAT, [times, 256, 64])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model, full_check=True)


def described(label, of):
    size = sum(onnx.numpy_helper.to_array(one).nbytes for one in of.graph.initializer)
    names = [node.name for node in of.graph.node]
    print(label, "operators", names, "bytes of constants", size)
    return size, names


before = described("before", model)
sim = described("onnxsim", onnxsim.simplify(model)[0])
slim = described("onnxslim", onnxslim.slim(model))
row = 256 * 64 * 4
as_described = (all((times - 1) * row - 2048 < size - before[0] < (times - 1) * row + 2048 for size, _ in (sim, slim))
                and {"conv", "other"} < set(sim[1]) and {"c", "d"} < set(slim[1]) and not {"conv", "other"} & set(slim[1]))
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
