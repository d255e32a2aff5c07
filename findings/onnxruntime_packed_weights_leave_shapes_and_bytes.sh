#!/usr/bin/env bash
# onnxruntime 1.32.0 (Python, CPU): the profile lists the inputs of a node without the weights that a session has packed, and what
# comes after them moves up.
#
# args.input_type_shape is a list by position, but packed weights are neither in it nor in args.parameter_size. Entry 1 of a MatMul is missing;
# entry 3 of a QLinearConv is not its weights but their scales, the shape of which is one number. Nothing marks the gap. Which kernels pack
# depends on type and processor, so that an int8 model looks as if it had next to no parameters. With the session option
# session.disable_prepacking the same nodes have all. Seen, of two convolutions and a product: float 73,984, 147,456 and 0 bytes,
# quantised 586, 330 and 510 bytes, unpacked 19,018, 37,194 and 6,910.
# Bytes, MACs and intensities from these fields are wrong by the weights; take them from the model.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import json
import logging
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

logging.disable()
random = numpy.random.default_rng(0)


def filled(name, *shape):
    return onnx.numpy_helper.from_array(random.normal(size=shape).astype(numpy.float32), name)


def image():
    return {"x": random.normal(size=(1, 32, 16, 16)).astype(numpy.float32)}


class Images(CalibrationDataReader):
    def __init__(self):
        self.left = 3

    def get_next(self):
        self.left -= 1
        return image() if self.left >= 0 else None


value = helper.make_tensor_value_info
nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="first", pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
         helper.make_node("Conv", ["r1", "w2"], ["c2"], name="second", pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c2"], ["r2"], name="relu2"),
         helper.make_node("GlobalAveragePool", ["r2"], ["p"], name="pool"), helper.make_node("Flatten", ["p"], ["f"], name="flat"),
         helper.make_node("MatMul", ["f", "w3"], ["y"], name="product")]
graph = helper.make_graph(nodes, "graph", [value("x", TensorProto.FLOAT, [1, 32, 16, 16])], [value("y", TensorProto.FLOAT, [1, 100])],
                          [filled("w1", 64, 32, 3, 3), filled("b1", 64), filled("w2", 64, 64, 3, 3), filled("w3", 64, 100)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "float.onnx")
quantize_static("float.onnx", "int8.onnx", Images(), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8)


def products(path, packs):
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.log_severity_level = 3
    options.add_session_config_entry("session.disable_prepacking", "0" if packs else "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, image())
    events = [event["args"] for event in json.load(open(session.end_profiling())) if event["cat"] == "Node"]
    return [(args["op_name"], int(args["parameter_size"]), [shape for entry in args["input_type_shape"] for shape in entry.values()])
            for args in events if args["op_name"] in ("Conv", "QLinearConv", "MatMul", "QLinearMatMul")]


for path, packs in (("float.onnx", True), ("int8.onnx", True), ("int8.onnx", False)):
    for product in products(path, packs):
        print(path, "packed" if packs else "not packed", *product)
packed, whole, floats = products("int8.onnx", True), products("int8.onnx", False), products("float.onnx", True)
weights = [[64, 32, 3, 3], [64, 64, 3, 3], [64, 100]]
scales = [[64], [64], [100]]
as_described = ([entry[2][3] for entry in packed] == scales and [entry[2][3] for entry in whole] == weights
                and all(more[1] - less[1] == numpy.prod(shape) for more, less, shape in zip(whole, packed, weights))
                and all(len(more[2]) == len(less[2]) + 1 for more, less in zip(whole, packed))
                and floats[2][1:] == (0, [[1, 64]]))
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
