#!/usr/bin/env bash
# qonnx 1.0.0 (Python): inference_cost() counts a multiplication by a weight of 0 as none, so that a network's MACs depend on its values.
#
# total_macs, total_bops and the memory of weights are those of the non-zero weights, as if every zero were skipped and needed no place;
# no NPU that runs the dense layer does so. Weights that are 0 because a file was made without data, by pruning, or by rounding to few bits
# count as nothing, and the same architecture compares as cheaper after quantisation. ONNX's shapes, PyTorch's counters and a
# data sheet count all. discount_sparsity=False does too. Seen, of a 3x3 convolution, 8 to 16 channels, 16x16: 294,912 MACs with random
# weights, 147,456 with half of the kernels 0, 0 with all; rounded to 2 bits 179,712.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q qonnx==1.0.0 onnx==1.23.2 onnxruntime==1.32.0 onnxscript==0.7.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import sys

import numpy
import onnx
from onnx import TensorProto, helper
from qonnx.util.inference_cost import inference_cost

value = helper.make_tensor_value_info


def cost(weights, **options):
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], kernel_shape=[3, 3], strides=[1, 1], dilations=[1, 1], group=1)], "graph",
        [value("x", TensorProto.FLOAT, [1, 8, 16, 16])], [value("y", TensorProto.FLOAT, [1, 16, 16, 16])],
        [onnx.numpy_helper.from_array(weights.astype(numpy.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
    total = inference_cost("model.onnx", **options)["total_cost"]
    return int(total["total_macs"]), int(total["total_mem_w_elems"])


whole = numpy.random.default_rng(0).normal(size=(16, 8, 3, 3))
half = whole.copy()
half[8:] = 0
rounded = numpy.clip(numpy.round(whole), -2, 1)
seen = {name: cost(weights) for name, weights in (("random", whole), ("half", half), ("rounded", rounded), ("zeros", 0 * whole))}
dense = cost(0 * whole, discount_sparsity=False)
print("MACs and weights", seen, "zeros with discount_sparsity=False", dense)
macs, weights = 16 * 16 * 16 * 8 * 9, 16 * 8 * 9
as_described = (seen["random"] == dense == (macs, weights) and seen["half"] == (macs // 2, weights // 2) and seen["zeros"] == (0, 0)
                and seen["rounded"] == (256 * numpy.count_nonzero(rounded), numpy.count_nonzero(rounded)))
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
