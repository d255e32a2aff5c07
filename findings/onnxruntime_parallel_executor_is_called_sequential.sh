#!/usr/bin/env bash
# onnxruntime 1.32.0 (Python, CPU): a profile does not say whether nodes ran in parallel, and inter_op_num_threads is one more than the
# threads that run them.
#
# With ORT_PARALLEL the event around the nodes is "SequentialExecutor::Execute" as with ORT_SEQUENTIAL, and ParallelExecutor::Execute never
# comes. The caller's thread, which has model_run and that event, runs no node: with inter_op_num_threads=2 all nodes run one after
# another on the other thread, with 4 on up to three. With 1 the mode changes nothing. So two threads are no faster than one, and a profile of
# one mode passes for one of the other. Seen, of four independent products with a softmax each, threads that have nodes: sequential 1, the
# caller's; parallel with 1 the same; with 2 another one; with 4 up to three others.
# Which mode ran, only the tid of the nodes tells, next to that of model_run.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import json
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

size, branches, runs = 256, 4, 12
value = helper.make_tensor_value_info
nodes = [helper.make_node("MatMul", ["x", f"w{branch}"], [f"y{branch}"], name=f"product{branch}") for branch in range(branches)]
nodes += [helper.make_node("Softmax", [f"y{branch}"], [f"s{branch}"], name=f"softmax{branch}") for branch in range(branches)]
nodes += [helper.make_node("Concat", [f"s{branch}" for branch in range(branches)], ["z"], name="join", axis=1)]
weights = [onnx.numpy_helper.from_array(numpy.full((size, size), branch / 1000, numpy.float32), f"w{branch}") for branch in range(branches)]
graph = helper.make_graph(nodes, "graph", [value("x", TensorProto.FLOAT, [size, size])],
                          [value("z", TensorProto.FLOAT, [size, branches * size])], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
modes = onnxruntime.ExecutionMode


def recorded(mode, threads):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.execution_mode = mode
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for _ in range(runs):
        session.run(None, {"x": numpy.ones((size, size), numpy.float32)})
    events = json.load(open(session.end_profiling()))
    executes = {event["name"] for event in events if "Execute" in event["name"]}
    callers = {event["tid"] for event in events if event["name"] == "model_run"}
    workers = {event["tid"] for event in events if event["cat"] == "Node"}
    print(mode, "inter_op_num_threads", threads, executes, "threads with nodes", len(workers), "of the caller", workers & callers == callers)
    return executes, len(workers), bool(workers & callers)


seen = [recorded(modes.ORT_SEQUENTIAL, 1), recorded(modes.ORT_PARALLEL, 1), recorded(modes.ORT_PARALLEL, 2), recorded(modes.ORT_PARALLEL, 4)]
name = {"SequentialExecutor::Execute"}
as_described = seen[:3] == [(name, 1, True), (name, 1, True), (name, 1, False)] and seen[3][0] == name and seen[3][1] in (2, 3) and not seen[3][2]
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
