#!/usr/bin/env bash
# onnxruntime-qnn 2.7.0 with onnxruntime 1.32.0 (Linux x86-64, no device): soc_model alone decides which chip HTP's compiler estimates, and for most
# there is no estimate.
#
# htp_arch, which looks like the choice of the architecture, changes no cycle, from 68 to 81. With the soc_model of a phone (43, 57, 69: Snapdragon 8
# Gen 2, Gen 3, Elite) the session is made, the csv is written, and has the preparation's time without a row of an estimate; no
# error or warning says so. Of the numbers below 110 five have one, and the log's "Hextimate Configuration" says of what: 52 SA8255 and 77 QCS9100
# (the same cycles), 62 SA8540, 63 AIC100 (one core of a Cloud AI 100), 72 SA8797. Seen, of a product of 256x256x256 in float: 48,045,
# 48,045, 51,580, 52,299 and 37,507 cycles, at clocks of 1497.6, 1497.6, 1286.4, 1450 and 1708.8 MHz.
# The cycles of one chip are none of another's, and an estimate for the chip that was named has to be checked for.
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


def model_of(node, weights, shape):
    value = helper.make_tensor_value_info
    graph = helper.make_graph([node], "graph", [value("x", TensorProto.FLOAT, shape)], [value("y", TensorProto.FLOAT, shape)],
                              [onnx.numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


models = {"product": model_of(helper.make_node("MatMul", ["x", "w"], ["y"]), numpy.eye(256, dtype=numpy.float32), [256, 256]),
          "convolution": model_of(helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1]),
                                  numpy.ones((64, 64, 3, 3), numpy.float32), [1, 64, 56, 56])}


def estimate(model, **settings):
    """Cycles, chip and clock; None where there is no estimate."""
    path = "-".join([model, *(f"{name}{value}" for name, value in settings.items())])
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices([device for device in onnxruntime.get_ep_devices() if device.ep_name == provider],
                                     {"backend_type": "htp", "profiling_level": "optrace", "profiling_file_path": f"{path}.csv"} | settings)
    session = onnxruntime.InferenceSession(models[model], options)
    rows = open(f"{path}.csv").read()
    assert provider in session.get_providers() and "QNN (finalize) time" in rows
    cycles = re.search(r",(\d+),CYCLES,.*Simulated \(Accelerator exec cycles\)", rows)
    if cycles is None:
        return None
    log = open(f"{path}_qnn.log", "rb").read()
    said = [re.search(pattern, log)[1].decode() for pattern in (rb'"soc_type": ?"(\w+)"', rb'"sim_core_freq": ?([0-9.]+)')]
    return int(cycles[1]), said[0], float(said[1])


chips = {"52": "SA8255", "77": "QCS9100", "62": "SA8540", "63": "AIC100", "72": "SA8797"}
as_described = True
for model in models:
    known = {soc: estimate(model, soc_model=soc) for soc in chips}
    phones = {soc: estimate(model, soc_model=soc) for soc in ("43", "57", "69")}
    architectures = {arch: estimate(model, soc_model="52", htp_arch=arch) for arch in ("68", "69", "73", "75", "79", "81")}
    print(model, known, "phones", phones, "htp_arch", {arch: one and one[0] for arch, one in architectures.items()})
    as_described &= all(known[soc] and known[soc][1] == chip for soc, chip in chips.items())
    as_described &= known["52"][0] == known["77"][0] and len({one[0] for one in known.values()}) == 4
    as_described &= not any(phones.values()) and set(architectures.values()) == {known["52"]}
sys.exit(0 if as_described else "not as described")
PY
venv/bin/python run.py
