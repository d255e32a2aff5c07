#!/usr/bin/env bash
# onnxruntime-qnn 2.7.0 with onnxruntime 1.32.0 (Linux x86-64, no device): the csv of a model that becomes several QNN graphs has the
# estimate of each of them twice, but for the last.
#
# An operator that HTP lacks splits a model. Each graph's rows from "QNN (finalize) time" to "Missing Ops" then stand in the csv twice, equal
# to the microsecond of the preparation, except those of the last graph. No row names a graph. A model that becomes one graph has one
# estimate, so that nothing is wrong until an operator falls back; then the sum of the cycles says that the fallback nearly doubles
# the work on the NPU. Seen: graphs of 1, 2 and 3 products give 48,045 48,045 71,074 71,074 80,741 cycles, the sum of which is 60 % more than
# that of the three; graphs of 2 and 1 give 57,712 57,712 61,407.
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
value = helper.make_tensor_value_info


def estimates(*products):
    """Of graphs with so many products each; a determinant, which HTP lacks, stands between two."""
    nodes, constants, last = [], [], "x"
    for graph, count in enumerate(products):
        if graph > 0:
            nodes += [helper.make_node("Det", [last], [f"d{graph}"]), helper.make_node("Mul", [last, f"d{graph}"], [f"m{graph}"])]
            last = f"m{graph}"
        for number in range(count):
            constants.append(onnx.numpy_helper.from_array(numpy.eye(256, dtype=numpy.float32), f"w{graph}_{number}"))
            nodes.append(helper.make_node("MatMul", [last, f"w{graph}_{number}"], [f"y{graph}_{number}"]))
            last = f"y{graph}_{number}"
    network = helper.make_graph(nodes, "network", [value("x", TensorProto.FLOAT, [256, 256])],
                                [value(last, TensorProto.FLOAT, [256, 256])], constants)
    model = helper.make_model(network, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    path = "-".join(map(str, products)) + ".csv"
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == provider],
                                     {"backend_type": "htp", "soc_model": "52", "profiling_level": "basic",
                                      "profiling_file_path": path})
    onnxruntime.InferenceSession(model, options)
    blocks = open(path).read().split("0,FINALIZE,")[1:]
    cycles = [int(re.search(r",(\d+),CYCLES,.*\(Accelerator exec cycles\)", block)[1]) for block in blocks]
    print(products, cycles)
    pairs = [blocks[graph] == blocks[graph + 1] for graph in range(0, len(blocks) - 1, 2)]
    return len(blocks) == 2 * len(products) - 1 and all(pairs) and len(set(blocks)) == len(products)


sys.exit(0 if estimates(3) & estimates(2, 1) & estimates(1, 2, 3) else "not as described")
PY
venv/bin/python run.py
