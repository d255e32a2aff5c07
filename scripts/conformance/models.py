"""Models that scripts/conformance compares on: written here, or the light ones of npuscope with random weights."""

from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

class Writer:
    """An ONNX graph whose nodes are appended one by one."""

    def __init__(self, name, shape, seed=1):
        self.name, self.shape, self.random = name, shape, numpy.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, *shape, scale=None):
        name = f"w{len(self.constants)}"
        scale = scale or 1 / max(1, numpy.prod(shape[1:])) ** 0.5
        values = (self.random.standard_normal(shape) * scale).astype(numpy.float32)
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def given(self, values):
        self.constants.append(numpy_helper.from_array(values, f"w{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, *inputs, **attributes):
        result = f"{op}_{len(self.nodes)}_out"
        self.nodes.append(helper.make_node(op, list(inputs), [result], name=f"{op}_{len(self.nodes)}", **attributes))
        return result

    def split(self, x, results, axis):
        self.nodes.append(helper.make_node("Split", [x], results, name=f"Split_{len(self.nodes)}", axis=axis))

    def convolution(self, x, channels, made, kernel=1, stride=1, group=1, act="Relu"):
        x = self.node("Conv", x, self.constant(made, channels // group, kernel, kernel), self.constant(made, scale=0.1),
                      kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2, group=group)
        return self.node(act, x) if act else x

    def product(self, x, depth, columns, bias=True):
        x = self.node("MatMul", x, self.constant(depth, columns, scale=depth**-0.5))
        return self.node("Add", x, self.constant(columns, scale=0.1)) if bias else x

    def normalized(self, x, channels):
        return self.node("LayerNormalization", x, self.given(numpy.ones(channels, numpy.float32)),
                         self.given(numpy.zeros(channels, numpy.float32)), axis=-1)

    def model(self, output):
        given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        made = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, self.name, given, made, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return onnx.shape_inference.infer_shapes(model)


def chain8(w):
    x = "x"
    for _ in range(8):
        x = w.product(x, 256, 256, bias=False)
    return x


def small(w):
    first = w.convolution("x", 32, 64, 3)
    x = w.node("Relu", w.node("Add", w.convolution(first, 64, 64, 3, act=None), first))
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    x = w.node("Gemm", x, w.constant(100, 64), w.constant(100, scale=0.1), transB=1)
    return w.node("Softmax", x)


def attention(w, width=128):
    q, k, v = (w.product("x", width, width, bias=False) for _ in range(3))
    scores = w.node("Softmax", w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 1])), axis=-1)
    x = w.product(w.node("MatMul", scores, v), width, width, bias=False)
    return w.normalized(w.node("Add", x, "x"), width)


def mobile(w):
    x, channels = w.convolution("x", 3, 32, 3, 2), 32
    for made, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1)]:
        x = w.convolution(x, channels, channels, 3, stride, group=channels)
        x, channels = w.convolution(x, channels, made), made
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    return w.node("Gemm", x, w.constant(1000, channels), w.constant(1000, scale=0.1), transB=1)


def encoder(w, rows=128, width=256, heads=4):
    shape = w.given(numpy.array([1, rows, heads, width // heads], numpy.int64))
    joined = w.given(numpy.array([1, rows, width], numpy.int64))
    x = "x"
    for _ in range(2):
        q, k, v = (w.node("Reshape", w.product(x, width, width), shape) for _ in range(3))
        q, v = (w.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
        scores = w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 3, 1]))
        scores = w.node("Mul", scores, w.given(numpy.float32((width // heads) ** -0.5)))
        made = w.node("MatMul", w.node("Softmax", scores, axis=-1), v)
        made = w.node("Reshape", w.node("Transpose", made, perm=[0, 2, 1, 3]), joined)
        x = w.normalized(w.node("Add", w.product(made, width, width), x), width)
        wide = w.product(x, width, 4 * width)
        wide = w.node("Mul", wide, w.node("Sigmoid", wide))
        x = w.normalized(w.node("Add", w.product(wide, 4 * width, width), x), width)
    return x


def unet(w):
    first = w.convolution(w.convolution("x", 3, 32, 3), 32, 32, 3)
    second = w.convolution(w.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 32, 64, 3)
    x = w.convolution(w.node("MaxPool", second, kernel_shape=[2, 2], strides=[2, 2]), 64, 128, 3)
    for skip, channels in ((second, 64), (first, 32)):
        x = w.node("Resize", x, "", w.given(numpy.array([1, 1, 2, 2], numpy.float32)), mode="nearest",
                   coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = w.convolution(w.node("Concat", x, skip, axis=1), channels * 3, channels, 3)
    return w.convolution(x, 32, 4, 1, act="Sigmoid")


def perceptron(w):
    x = "x"
    for depth, columns in ((512, 1024), (1024, 1024), (1024, 512)):
        x = w.node("Relu", w.product(x, depth, columns))
    return w.product(x, 512, 64)


def gated(w):
    x, channels = w.convolution("x", 3, 32, 3, 2), 32
    for made, stride in [(64, 2), (96, 1), (160, 2)]:
        x = w.convolution(x, channels, made, 3, stride)
        gate = w.node("GlobalAveragePool", x)
        gate = w.convolution(w.convolution(gate, made, made // 4), made // 4, made, act="Sigmoid")
        x, channels = w.node("Mul", x, gate), made
    return w.convolution(x, channels, 64, 1)


def pyramid(w):
    x = w.convolution("x", 3, 64, 7, 2)
    x = w.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for channels, made in ((64, 128), (128, 256)):
        left = w.convolution(x, channels, made, 3, 2)
        x = w.node("Relu", w.node("Add", w.convolution(left, made, made, 3, act=None), w.convolution(x, channels, made, 1, 2, act=None)))
    return w.convolution(x, 256, 255, 1, act=None)


def classified(w, x, channels):
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    return w.node("Gemm", x, w.constant(1000, channels), w.constant(1000, scale=0.1), transB=1)


def dense(w):
    x = w.node("MaxPool", w.convolution("x", 3, 64, 3, 2), kernel_shape=[2, 2], strides=[2, 2])
    channels = 64
    for _ in range(4):
        made = w.convolution(w.convolution(x, channels, 128), 128, 32, 3)
        x, channels = w.node("Concat", x, made, axis=1), channels + 32
    x = w.node("AveragePool", w.convolution(x, channels, 96), kernel_shape=[2, 2], strides=[2, 2])
    return classified(w, w.convolution(x, 96, 256, 3), 256)


def inverted(w):
    x, channels = w.convolution("x", 3, 32, 3, 2), 32
    for made, stride in [(32, 1), (64, 2), (64, 1), (96, 2), (96, 1), (160, 2), (160, 1)]:
        wide = w.convolution(w.convolution(x, channels, 6 * channels), 6 * channels, 6 * channels, 3, stride, group=6 * channels)
        narrow = w.convolution(wide, 6 * channels, made, act=None)
        x, channels = w.node("Add", x, narrow) if made == channels and stride == 1 else narrow, made
    return classified(w, w.convolution(x, channels, 640), 640)


def stacked(w):
    x, channels = "x", 3
    for made, count in [(64, 1), (128, 2), (256, 2)]:
        for _ in range(count):
            x, channels = w.convolution(x, channels, made, 3), made
        x = w.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = w.node("Flatten", x)
    x = w.node("Relu", w.node("Gemm", x, w.constant(512, 256 * 64, scale=0.01), w.constant(512, scale=0.1), transB=1))
    return w.node("Gemm", x, w.constant(100, 512), w.constant(100, scale=0.1), transB=1)


def detector(w):
    silu = lambda x: w.node("Mul", x, w.node("Sigmoid", x))
    conv = lambda x, a, b, kernel=1, stride=1: silu(w.convolution(x, a, b, kernel, stride, act=None))
    x = conv(conv("x", 3, 32, 3, 2), 32, 64, 3, 2)
    side = conv(x, 64, 32)
    x = conv(x, 64, 32)
    x = w.node("Add", x, conv(conv(x, 32, 32), 32, 32, 3))
    fine = conv(w.node("Concat", x, side, axis=1), 64, 64)
    x = conv(conv(fine, 64, 128, 3, 2), 128, 64)
    x = w.node("Resize", x, "", w.given(numpy.array([1, 1, 2, 2], numpy.float32)), mode="nearest",
               coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = conv(w.node("Concat", x, fine, axis=1), 128, 64, 3)
    return w.convolution(x, 64, 255, 1, act="Sigmoid")


def generator(w):
    x = w.convolution("x", 128, 128, 3)
    for channels in (128, 64):
        x = w.node("Relu", w.node("ConvTranspose", x, w.constant(channels, channels // 2, 2, 2), w.constant(channels // 2, scale=0.1),
                                  kernel_shape=[2, 2], strides=[2, 2]))
        x = w.convolution(x, channels // 2, channels // 2, 3)
    return w.convolution(x, 32, 3, 3, act="Tanh")


def patches(w, width=192, heads=3, count=196):
    x = w.node("Conv", "x", w.constant(width, 3, 16, 16), w.constant(width, scale=0.1), kernel_shape=[16, 16], strides=[16, 16])
    x = w.node("Transpose", w.node("Reshape", x, w.given(numpy.array([1, width, count], numpy.int64))), perm=[0, 2, 1])
    heads_shape = w.given(numpy.array([1, count, heads, width // heads], numpy.int64))
    for _ in range(2):
        y = w.normalized(x, width)
        q, k, v = (w.node("Reshape", w.product(y, width, width), heads_shape) for _ in range(3))
        q, v = (w.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
        scores = w.node("Div", w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 3, 1])), w.given(numpy.float32(8)))
        y = w.node("Transpose", w.node("MatMul", w.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = w.node("Reshape", y, w.given(numpy.array([1, count, width], numpy.int64)))
        x = w.node("Add", x, w.product(y, width, width))
        y = w.product(w.normalized(x, width), width, 4 * width)
        y = w.product(w.node("Relu", y), 4 * width, width)
        x = w.node("Add", x, y)
    return w.normalized(x, width)


def residual(w):
    x = w.node("MaxPool", w.convolution("x", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for made, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1)]:
        skip = x if stride == 1 else w.convolution(x, channels, made, 1, 2, act=None)
        x = w.node("Relu", w.node("Add", w.convolution(w.convolution(x, channels, made, 3, stride), made, made, 3, act=None), skip))
        channels = made
    return classified(w, x, channels)


def gelu(w, x):
    erf = w.node("Erf", w.node("Div", x, w.given(numpy.float32(2**0.5))))
    return w.node("Mul", w.node("Mul", x, w.node("Add", erf, w.given(numpy.float32(1)))), w.given(numpy.float32(0.5)))


def tokens(w, rows=64, width=384, heads=6):
    x = encoder_layer(w, "x", rows, width, heads)
    return encoder_layer(w, x, rows, width, heads)


def encoder_layer(w, x, rows, width, heads):
    shape = w.given(numpy.array([1, rows, heads, width // heads], numpy.int64))
    q, k, v = (w.node("Reshape", w.product(x, width, width), shape) for _ in range(3))
    q, v = (w.node("Transpose", each, perm=[0, 2, 1, 3]) for each in (q, v))
    scores = w.node("Div", w.node("MatMul", q, w.node("Transpose", k, perm=[0, 2, 3, 1])), w.given(numpy.float32(8)))
    y = w.node("Transpose", w.node("MatMul", w.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    y = w.node("Reshape", y, w.given(numpy.array([1, rows, width], numpy.int64)))
    x = w.normalized(w.node("Add", w.product(y, width, width), x), width)
    y = w.product(gelu(w, w.product(x, width, 4 * width)), 4 * width, width)
    return w.normalized(w.node("Add", y, x), width)


def segments(w):
    x, skips, channels = "x", [], 3
    for made in (32, 64, 128):
        x = w.convolution(x, channels, made, 3, 2, act="LeakyRelu")
        x, channels = w.convolution(x, made, made, 3, act="LeakyRelu"), made
        skips.append(x)
    for skip, made in ((skips[1], 64), (skips[0], 32)):
        x = w.node("Resize", w.convolution(x, channels, made), "", w.given(numpy.array([1, 1, 2, 2], numpy.float32)), mode="linear")
        x, channels = w.convolution(w.node("Add", x, skip), made, made, 3), made
    return w.convolution(x, channels, 32, 1, act=None)


def mixed(w, rows=128, width=256):
    x = "x"
    for _ in range(3):
        y = w.node("Transpose", w.normalized(x, width), perm=[0, 2, 1])
        y = w.product(gelu(w, w.product(y, rows, 2 * rows)), 2 * rows, rows)
        x = w.node("Add", x, w.node("Transpose", y, perm=[0, 2, 1]))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    return w.normalized(x, width)


OWN = {"residual": (residual, [1, 3, 160, 160]), "tokens": (tokens, [1, 64, 384]), "segments": (segments, [1, 3, 128, 192]),
       "mixed": (mixed, [1, 128, 256]),
       "dense": (dense, [1, 3, 224, 224]), "inverted": (inverted, [1, 3, 192, 192]), "stacked": (stacked, [1, 3, 64, 64]),
       "detector": (detector, [1, 3, 256, 256]), "generator": (generator, [1, 128, 32, 32]), "patches": (patches, [1, 3, 224, 224]),
       "chain8": (chain8, [256, 256]), "small": (small, [1, 32, 56, 56]), "attention": (attention, [1, 64, 128]),
       "mobile": (mobile, [1, 3, 224, 224]), "encoder": (encoder, [1, 128, 256]), "unet": (unet, [1, 3, 128, 128]),
       "perceptron": (perceptron, [128, 512]), "gated": (gated, [1, 3, 192, 192]), "pyramid": (pyramid, [1, 3, 224, 224])}


def light(path):
    """A model whose weights are ConstantOfShape nodes, with random ones in their place."""
    model = onnx.load(path)
    graph, random = model.graph, numpy.random.default_rng(3)
    known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    shapes = {node.output[0]: known[node.input[0]].tolist() for node in graph.node if node.op_type == "ConstantOfShape"}
    kept = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    near_one = {node.input[i] for node in kept if node.op_type == "BatchNormalization" for i in (1, 4)}
    used = {name for node in kept for name in node.input}
    weights = [each for each in graph.initializer if each.name in used]
    for name, shape in shapes.items():
        values = random.uniform(0.8, 1.2, shape) if name in near_one else random.standard_normal(shape) * (
            (2 / numpy.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.05)
        weights.append(numpy_helper.from_array(values.astype(numpy.float32), name))
    names = {each.name for each in weights}
    inputs = [each for each in graph.input if each.name not in names and each.name in used]
    for kind, items in ((graph.node, kept), (graph.initializer, weights), (graph.input, inputs)):
        del kind[:]
        kind.extend(items)
    model.ir_version = 8
    model = version_converter.convert_version(model, 13)
    for node in model.graph.node:
        if node.op_type == "Sum" and len(node.input) == 2:
            node.op_type = "Add"
    return model


def make(name, folders, path):
    """Saves the model; False where it is made of a file that none of the folders has."""
    import deployed  # which write with what stands here
    import fresh
    import kept
    import novel
    import packages
    import phones
    import phones_images
    import unseen

    own = OWN | deployed.FITS | deployed.PREDICTIONS | unseen.PREDICTIONS | novel.FITS | fresh.PREDICTIONS | phones.FITS | phones_images.FITS | kept.PREDICTIONS
    if name in own:
        build, shape = own[name]
        writer = Writer(name, shape)
        onnx.save(writer.model(build(writer)), path)
        return True
    if name in packages.ALL:
        return packages.make(name, path)
    for folder in folders:
        source = Path(folder) / f"light_{'bvlc_' if name == 'alexnet' else ''}{name}.onnx"
        if source.exists():
            onnx.save(light(source), path)
            return True
    return False


def quantize(source, path, folder):
    """8 bit weights and activations, as QNN's tools for ONNX Runtime make it."""
    from onnxruntime.quantization import CalibrationDataReader, QuantType
    from onnxruntime.quantization import quantize as run
    from onnxruntime.quantization.execution_providers.qnn import get_qnn_qdq_config, qnn_preprocess_model

    prepared = Path(folder) / "prepared.onnx"
    if not qnn_preprocess_model(source, prepared):
        prepared = source
    given = onnx.load(prepared).graph.input[0]
    shape = [each.dim_value or 1 for each in given.type.tensor_type.shape.dim]

    class Samples(CalibrationDataReader):
        left = [numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)]

        def get_next(self):
            return {given.name: self.left.pop()} if self.left else None

    Samples.left = list(Samples.left)
    run(prepared, path, get_qnn_qdq_config(prepared, Samples(), activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8))
