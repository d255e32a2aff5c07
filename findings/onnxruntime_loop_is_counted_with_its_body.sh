#!/usr/bin/env bash
# onnxruntime 1.31.1 (Python, CPU): the profile of a model with a Loop counts the same time twice, and its number of
# SequentialExecutor::Execute events is no number of runs.
#
# The Loop is one event of category Node that holds those of its body, once a turn, and nothing says so: all are
# "NAME_kernel_time", args.node_index begins at 0 again in the body, and the body's events stand before the Loop's in the
# file. Adding up the node events of a run gives more than the run took. Each turn of the body writes a
# SequentialExecutor::Execute of its own: 3 runs of a Loop of 5 turns have 18. Only model_run counts runs. Seen: 3 model_run,
# 18 Execute, 3 events of the Loop and 15 of the product in its body, both of node_index 0, node events 1.9 times the runs.
# A reader needs nesting by time on a thread, self times, and model_run for inferences.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.31.1 onnx==1.19.1 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import collections
import json
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

size, turns, runs = 384, 5, 3
value = helper.make_tensor_value_info
body = helper.make_graph(
    [helper.make_node("MatMul", ["x", "weights"], ["y"], name="product"),
     helper.make_node("Identity", ["go"], ["still"], name="condition")],
    "body",
    [value("turn", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("x", TensorProto.FLOAT, [size, size])],
    [value("still", TensorProto.BOOL, []), value("y", TensorProto.FLOAT, [size, size])])
constants = [helper.make_tensor("turns", TensorProto.INT64, [], [turns]), helper.make_tensor("yes", TensorProto.BOOL, [], [True]),
             onnx.numpy_helper.from_array(numpy.eye(size, dtype=numpy.float32), "weights")]
graph = helper.make_graph([helper.make_node("Loop", ["turns", "yes", "start"], ["end"], name="loop", body=body)], "graph",
                          [value("start", TensorProto.FLOAT, [size, size])], [value("end", TensorProto.FLOAT, [size, size])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
options = onnxruntime.SessionOptions()
options.enable_profiling = True
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
for _ in range(runs):
    session.run(None, {"start": numpy.ones((size, size), numpy.float32)})
events = json.load(open(session.end_profiling()))

count = collections.Counter(event["name"] for event in events)
indices = {name: {e["args"]["node_index"] for e in events if e["name"] == name} for name in ("loop_kernel_time", "product_kernel_time")}
in_nodes = sum(event["dur"] for event in events if event["cat"] == "Node")
in_runs = sum(event["dur"] for event in events if event["name"] == "model_run")
print("model_run", count["model_run"], "Execute", count["SequentialExecutor::Execute"], "Loop", count["loop_kernel_time"],
      "product", count["product_kernel_time"])
print("node_index", indices, "node events by runs", round(in_nodes / in_runs, 2))
as_described = (count["model_run"] == runs and count["SequentialExecutor::Execute"] == runs * (1 + turns)
                and count["loop_kernel_time"] == runs and count["product_kernel_time"] == runs * turns
                and indices["loop_kernel_time"] == indices["product_kernel_time"] == {"0"} and in_nodes > 1.5 * in_runs)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
