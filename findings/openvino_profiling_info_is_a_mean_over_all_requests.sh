#!/usr/bin/env bash
# openvino 2026.4.1 (Python, CPU): InferRequest.profiling_info is no profile of that request's last inference.
#
# Each time in it is the mean over all inferences that the request's stream has run since the model was compiled, whichever request
# asked for them. A request that never ran has the numbers of the others. So a slow inference shows in none, warm-up stays in for
# good, and with inputs of several lengths the numbers are of no length. Seen: after 40 inferences of 8 rows one of 4,096 rows takes
# tens of milliseconds (InferRequest.latency); profiling_info of the request that ran it adds up to less than a tenth, and that of a
# second request, which never ran, is equal to it, node by node. Running the long one again and again lets the numbers creep up.
# To time one inference by node, compile the model for it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q openvino==2026.4.1 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import sys

import numpy
import openvino
from openvino import opset13

width = 512


def tried(layers, small, large):
    x = opset13.parameter([-1, width], numpy.float32, name="x")
    weights = opset13.constant(numpy.full((width, width), 0.001, numpy.float32))
    y = x
    for layer in range(layers):
        y = opset13.tanh(opset13.matmul(y, weights, False, False, name=f"product{layer}"))
    model = openvino.Model([opset13.result(y)], [x], "model")
    compiled = openvino.Core().compile_model(model, "CPU", {"PERF_COUNT": True, "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1})
    runs, never_runs = compiled.create_infer_request(), compiled.create_infer_request()

    def times(request):
        return {node.node_name: node.real_time.total_seconds() * 1e3 for node in request.profiling_info}
    for _ in range(40):
        runs.infer({0: numpy.ones((small, width), numpy.float32)})
    before = sum(times(runs).values())
    runs.infer({0: numpy.ones((large, width), numpy.float32)})
    after, other, latency = times(runs), times(never_runs), runs.latency
    for _ in range(40):
        runs.infer({0: numpy.ones((large, width), numpy.float32)})
    later = sum(times(runs).values())
    print(f"{layers} layers: sum of nodes, ms: {before:.2f} after {small} rows, {sum(after.values()):.2f} after one of {large}, "
          f"which took {latency:.2f}; {later:.2f} after 40 more; request that never ran {sum(other.values()):.2f}")
    return other == after and 0 < sum(after.values()) < latency / 4 and later > 3 * sum(after.values())


sys.exit(0 if tried(2, 8, 4096) & tried(5, 4, 2048) else "not as described")
EOF
venv/bin/python run.py
