#!/usr/bin/env bash
# onnx 1.23.2 (Python): after a change of the batch in graph.input, infer_shapes returns the shapes of the old batch and raises nothing.
#
# A model that has been through shape inference once keeps the shapes of its values (value_info, outputs), and they win over what
# follows from the input: with another batch, or a symbolic one, all values but the input stay as they were. check_type and data_prop
# change nothing, check_model passes; only strict_mode and check_model(full_check=True) complain. A cost that is counted from the file's shapes is
# that of the old batch. Seen, of a convolution and a product, batch 1 made 8: values of batch 1, 1,343,488 MACs instead of
# 10,747,904; batch 1 made "batch": values of batch 1.
# To change a batch, remove value_info and the outputs' extents first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q onnx==1.23.2 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import copy
import sys

import numpy
import onnx
from onnx import TensorProto, helper, shape_inference


def weights(name, *shape):
    return onnx.numpy_helper.from_array(numpy.zeros(shape, numpy.float32), name)


value = helper.make_tensor_value_info
nodes = [helper.make_node("Conv", ["x", "kernel"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["r"]),
         helper.make_node("Flatten", ["r"], ["f"]), helper.make_node("MatMul", ["f", "matrix"], ["y"])]
graph = helper.make_graph(nodes, "graph", [value("x", TensorProto.FLOAT, [1, 8, 32, 32])], [value("y", TensorProto.FLOAT, [1, 10])],
                          [weights("kernel", 16, 8, 3, 3), weights("matrix", 16 * 32 * 32, 10)])
model = shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def shapes(of):
    return {v.name: [d.dim_value or d.dim_param for d in v.type.tensor_type.shape.dim] for v in [*of.graph.value_info, *of.graph.output]}


def macs(of):
    images, outputs, rows, columns = shapes(of)["c"]
    products, results = shapes(of)["y"]
    return images * outputs * rows * columns * 8 * 9 + products * results * 16 * 32 * 32


def refuses(call):
    try:
        call()
    except (shape_inference.InferenceError, onnx.checker.ValidationError):
        return True
    return False


wider, open_ = copy.deepcopy(model), copy.deepcopy(model)
wider.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 8
open_.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
inferred = [shape_inference.infer_shapes(wider, **options) for options in ({}, {"check_type": True}, {"data_prop": True})]
onnx.checker.check_model(wider)
strict = refuses(lambda: shape_inference.infer_shapes(wider, strict_mode=True))
full = refuses(lambda: onnx.checker.check_model(wider, full_check=True))
fresh = copy.deepcopy(wider)
fresh.graph.ClearField("value_info")
fresh.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 8
fresh = shape_inference.infer_shapes(fresh)
still = shape_inference.infer_shapes(open_)
print("batch 1", shapes(model), macs(model))
print("batch 8", shapes(inferred[0]), macs(inferred[0]), "strict refuses", strict, "full check refuses", full)
print("batch 8, shapes removed first", shapes(fresh), macs(fresh), "symbolic", shapes(still))
as_described = (all(shapes(one) == shapes(model) for one in inferred) and shapes(still) == shapes(model) and strict and full
                and macs(fresh) == 8 * macs(model) == 8 * macs(inferred[0]))
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
