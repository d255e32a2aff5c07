#!/usr/bin/env bash
# onnxruntime-qnn 2.7.0 with onnxruntime 1.32.0 (Linux x86-64, no device): for HTP v73 the compiler estimates GlobalAveragePool in float at 2.5
# to 8 times the cycles of ReduceMean over the same two axes, which gives the same numbers.
#
# Exporters write a network's last mean one way or the other. As a pool it also depends on the side: 9x9 and 17x17 take twice what their
# neighbours take, and a pool that cuts an image in four blocks of 28x28 (kernel and stride 28 on 56x56) has no kernel at all and takes
# hundreds of times what four ReduceMean of 28x28 take. Seen, of 64 channels, pool and mean: 7x7 36,747 and 6,379 cycles, 9x9
# 78,925 and 10,232, 12x12 31,365 and 10,784, 17x17 97,419 and 12,365; four blocks of 8x8 43,193, of 28x28 57,718,830.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnxruntime-qnn==2.7.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'PY'
import re
import sys

import onnx
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper

provider = onnxruntime_qnn.get_ep_name()
onnxruntime.register_execution_provider_library(provider, onnxruntime_qnn.get_library_path())


def cycles_of(label, operator, side, blocks=1, **attributes):
    def value(name, extent):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, extent, extent])
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], **attributes)], "graph", [value("x", side * blocks)],
                              [value("y", blocks)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == provider],
                                     {"backend_type": "htp", "soc_model": "52", "profiling_level": "basic",
                                      "profiling_file_path": f"{label}.csv"})
    onnxruntime.InferenceSession(model, options)
    return int(re.search(r",(\d+),CYCLES,.*Simulated \(Accelerator exec cycles\)", open(f"{label}.csv").read())[1])


means, pools = {}, {}
for side in (7, 9, 12, 17):
    means[side] = cycles_of(f"mean{side}", "ReduceMean", side, axes=[2, 3])
    pools[side] = cycles_of(f"pool{side}", "GlobalAveragePool", side)
blocks = {side: cycles_of(f"blocks{side}", "AveragePool", side, 2, kernel_shape=[side, side], strides=[side, side])
          for side in (8, 28)}
print("pools", pools, "means", means, "four blocks", blocks)
several = all(pools[side] > 2.5 * means[side] for side in means)
sys.exit(0 if several and pools[9] > 2 * pools[7] and blocks[28] > 1000 * blocks[8] else "not as described")
PY
venv/bin/python run.py
