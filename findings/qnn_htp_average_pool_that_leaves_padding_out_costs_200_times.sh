#!/usr/bin/env bash
# onnxruntime-qnn 2.7.0 with onnxruntime 1.32.0 (Linux x86-64, no device): for HTP v73 the compiler estimates a float AveragePool with
# padding at more than a hundred times the cycles of the same one that counts its padding.
#
# ONNX leaves the padding out of the mean unless count_include_pad is 1, so the usual 3x3 pool with pads of 1 is the slow one. Its
# numbers differ along the border only. Seen, of 1x64x28x28 in float: without padding 75,605 cycles, with padding left out
# 16,950,272, with padding counted 79,900, and with a Pad node in front of a pool without padding 79,900 too. MaxPool with the same
# pads takes 97,573. So one pool can outweigh the rest of a network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnxruntime-qnn==2.7.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'PY'
import re
import sys

import numpy
import onnx
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper

provider = onnxruntime_qnn.get_ep_name()
onnxruntime.register_execution_provider_library(provider, onnxruntime_qnn.get_library_path())
ones = numpy.array([0, 0, 1, 1, 0, 0, 1, 1], dtype=numpy.int64)


def cycles_of(label, nodes, side, constants=()):
    def value(name, extent):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, extent, extent])
    graph = helper.make_graph(nodes, "graph", [value("x", 28)], [value("y", side)], list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == provider],
                                     {"backend_type": "htp", "soc_model": "52", "profiling_level": "basic",
                                      "profiling_file_path": f"{label}.csv"})
    onnxruntime.InferenceSession(model, options)
    return int(re.search(r",(\d+),CYCLES,.*Simulated \(Accelerator exec cycles\)", open(f"{label}.csv").read())[1])


def pool(read="x", **attributes):
    return helper.make_node("AveragePool", [read], ["y"], kernel_shape=[3, 3], **attributes)


bare = cycles_of("bare", [pool()], 26)
left_out = cycles_of("left_out", [pool(pads=[1, 1, 1, 1])], 28)
counted = cycles_of("counted", [pool(pads=[1, 1, 1, 1], count_include_pad=1)], 28)
before = cycles_of("before", [helper.make_node("Pad", ["x", "pads"], ["t"]), pool("t")], 28,
                   [onnx.numpy_helper.from_array(ones, "pads")])
print("no padding", bare, "left out", left_out, "counted", counted, "Pad in front", before)
sys.exit(0 if left_out > 100 * counted and counted == before and counted < 2 * bare else "not as described")
PY
venv/bin/python run.py
