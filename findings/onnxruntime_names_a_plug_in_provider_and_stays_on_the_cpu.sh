#!/usr/bin/env bash
# onnxruntime 1.32.0 with onnxruntime-qnn 2.7.0 (Linux x86-64): naming the plug-in provider leaves the session on the CPU.
#
# After register_execution_provider_library() get_available_providers() lists QNNExecutionProvider, so that
# providers=["QNNExecutionProvider"] with provider_options looks right. The session that is made has the CPU provider alone;
# nothing is raised, and the profiling file that the options name is never written. Only
# SessionOptions.add_provider_for_devices() with the plug-in's devices gives a session on QNN, and the file. Seen: by name
# ['CPUExecutionProvider'] and no file, by devices ['QNNExecutionProvider', 'CPUExecutionProvider'] and a file.
# A recipe of a release before the plug-in measures the CPU without saying so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnxruntime-qnn==2.7.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import os
import sys

import numpy
import onnx
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper

value = helper.make_tensor_value_info
weights = onnx.numpy_helper.from_array(numpy.eye(64, dtype=numpy.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "graph",
                          [value("x", TensorProto.FLOAT, [64, 64])], [value("y", TensorProto.FLOAT, [64, 64])], [weights])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
name = onnxruntime_qnn.get_ep_name()
onnxruntime.register_execution_provider_library(name, onnxruntime_qnn.get_library_path())
settings = {"backend_type": "htp", "soc_model": "52", "profiling_level": "detailed"}
listed = name in onnxruntime.get_available_providers()

named = onnxruntime.InferenceSession(model, providers=[name],
                                     provider_options=[settings | {"profiling_file_path": "named.csv"}])
options = onnxruntime.SessionOptions()
options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == name],
                                 settings | {"profiling_file_path": "devices.csv"})
by_devices = onnxruntime.InferenceSession(model, options)
print("listed", listed, "by name", named.get_providers(), os.path.exists("named.csv"),
      "by devices", by_devices.get_providers(), os.path.exists("devices.csv"))
as_described = (listed and name not in named.get_providers() and not os.path.exists("named.csv")
                and name in by_devices.get_providers() and os.path.exists("devices.csv"))
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
