#!/usr/bin/env bash
# onnxruntime-qnn 2.7.0 with onnxruntime 1.32.0 (Linux x86-64, no device): the binary profiling log of the HTP backend holds a
# whole Chrome trace as text, and its ts and dur count cycles, not the format's microseconds.
#
# With profiling_level=optrace and soc_model=52 the backend estimates the graph when the session is made; nothing need run.
# The csv states the estimate as CYCLES and as US. The trace's first start to last end is the former less six, so a viewer
# shows an inference of 0.03 ms as one of 30 ms and more; the clock that turns one into the other stands behind the events,
# in "Hextimate Configuration". Most events are no work: each transfer and each vector kernel has events for its start and
# its end next to it, which repeat its bytes. Seen: cycles of the csv = span + 6; microseconds = cycles by the clock, rounded
# down; bytes summed over all events more than those of the working ones.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnxruntime-qnn==2.7.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import json
import re
import sys

import numpy
import onnx
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper

value = helper.make_tensor_value_info
constants = [onnx.numpy_helper.from_array(numpy.eye(256, dtype=numpy.float32), f"w{i}") for i in range(4)]
nodes = [helper.make_node("MatMul", [f"y{i}", f"w{i}"], [f"y{i + 1}"], name=f"product{i}") for i in range(4)]
graph = helper.make_graph(nodes, "graph", [value("y0", TensorProto.FLOAT, [256, 256])],
                          [value("y4", TensorProto.FLOAT, [256, 256])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
name = onnxruntime_qnn.get_ep_name()
onnxruntime.register_execution_provider_library(name, onnxruntime_qnn.get_library_path())
options = onnxruntime.SessionOptions()
options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == name],
                                 {"backend_type": "htp", "soc_model": "52", "profiling_level": "optrace",
                                  "profiling_file_path": "prof.csv"})
onnxruntime.InferenceSession(model, options)

log = open("prof_qnn.log", "rb").read()
begin = log.rfind(b"{", 0, log.find(b'"traceEvents"'))
trace, _ = json.JSONDecoder().raw_decode(log[begin:].decode("utf-8", "replace"))
events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
span = max(event["ts"] + event["dur"] for event in events) - min(event["ts"] for event in events)
rows = open("prof.csv").read()
cycles = int(re.search(r",(\d+),CYCLES,.*Simulated \(Accelerator exec cycles\)", rows)[1])
microseconds = int(re.search(r",(\d+),US,.*Simulated \(Accelerator exec time us\)", rows)[1])
clock = trace["Hextimate Configuration"]["sim_core_freq"]
moved = lambda chosen: sum(event["args"]["bw_info"]["dram_read"] for event in chosen)
works = [event for event in events if not event["name"].startswith(("default_dma_s", "default_hvx"))]
print("span", span, "csv", cycles, "cycles", microseconds, "us, clock", clock, "bytes", moved(works), "of all events", moved(events))
as_described = (cycles == span + 6 and microseconds == int(cycles / clock) and microseconds * 100 < span
                and moved(events) > moved(works) > 0)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
