"""ONNX models of single operators, whose names say their shapes, and of small nets, for a Torq and its compiler."""

import re


class Model:
    """An ONNX model written operator by operator, in floats or quantised around every operator."""

    def __init__(self, is_int8):
        import numpy
        import onnx
        self.numpy, self.onnx, self.is_int8 = numpy, onnx, is_int8
        self.nodes, self.constants, self.inputs = [], [], []

    def constant(self, values, type=None):
        name = f"k{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(self.numpy.asarray(values, type), name))
        return name

    def node(self, kind, *reads, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(reads), [name], **attributes))
        return name

    def input(self, *shape):
        name, types = f"in{len(self.inputs)}", self.onnx.TensorProto
        kind = types.INT8 if self.is_int8 else types.FLOAT
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))
        return self.real(name) if self.is_int8 else name

    def real(self, name, type="int8"):
        return self.node("DequantizeLinear", name, self.constant(0.02, "float32"), self.constant(0, type))

    def quantised(self, name):
        return self.node("QuantizeLinear", name, self.constant(0.05, "float32"), self.constant(0, "int8"))

    def weight(self, *shape, bias=False):
        if not self.is_int8:
            return self.constant(self.numpy.full(shape, 0.01), "float32")
        type = "int32" if bias else "int8"
        return self.real(self.constant(self.numpy.ones(shape), type), type)

    def between(self, name):
        """Between two operators of a net."""
        return self.real(self.quantised(name)) if self.is_int8 else name

    def save(self, name, path):
        if self.is_int8:
            name = self.quantised(name)
        kind = self.onnx.TensorProto.INT8 if self.is_int8 else self.onnx.TensorProto.FLOAT
        output = self.onnx.helper.make_empty_tensor_value_info(name)
        output.type.tensor_type.elem_type = kind
        graph = self.onnx.helper.make_graph(self.nodes, "case", self.inputs, [output], self.constants)
        model = self.onnx.helper.make_model(graph, opset_imports=[self.onnx.helper.make_opsetid("", 17)], ir_version=8)
        self.onnx.save(self.onnx.shape_inference.infer_shapes(model), path)

    # Operators with weights of their own.

    def conv(self, x, inputs, outputs, window, stride=1, groups=1, gap=1, pads=None, sides=2):
        pads = [gap * (window // 2)] * 2 * sides if pads is None else pads
        weight = self.weight(outputs, inputs // groups, *[window] * sides)
        return self.node("Conv", x, weight, self.weight(outputs, bias=True), kernel_shape=[window] * sides,
                         strides=[stride] * sides, pads=pads, group=groups, dilations=[gap] * sides)

    def transposed(self, x, inputs, outputs, window, stride):
        return self.node("ConvTranspose", x, self.weight(inputs, outputs, window, window), self.weight(outputs, bias=True),
                         kernel_shape=[window] * 2, strides=[stride] * 2, pads=[(window - stride) // 2] * 4)

    def channelwise(self, x, width):
        steps = self.numpy.arange(width) / 100
        each = [self.constant(first + steps, "float32") for first in (1, 0.1, 0.2, 1.5)]
        return self.node("BatchNormalization", x, *each)

    def normalised(self, x, width):
        ones = self.numpy.ones(width)
        return self.node("LayerNormalization", x, self.constant(ones, "float32"), self.constant(0 * ones, "float32"), axis=-1)


def sides(text):
    return [int(each) for each in text.split("x")]


def silu(m, x):
    return m.node("Mul", x, m.between(m.node("Sigmoid", x)))


def doubled(m, x):
    scales = m.constant([1, 1, 2, 2], "float32")
    return m.node("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def gelu(m, x):
    """As exporters write it before opset 20."""
    half = m.between(m.node("Mul", x, m.constant(0.5, "float32")))
    error = m.between(m.node("Erf", m.between(m.node("Div", x, m.constant(1.41421356, "float32")))))
    return m.node("Mul", half, m.between(m.node("Add", error, m.constant(1, "float32"))))


def layers(m, x, window, channels, relu=True):
    """Convolutions one after the other, each with a Relu."""
    for inputs, outputs in zip(channels, channels[1:]):
        x = m.between(m.conv(x, inputs, outputs, window))
        x = m.between(m.node("Relu", x)) if relu else x
    return x


def residual(m, side, width):
    x = m.input(1, width, side, side)
    y = m.between(m.conv(layers(m, x, 3, [width, width]), width, width, 3))
    return m.node("Relu", m.between(m.node("Add", x, y)))


def separable(m, side, width, outputs):
    x = m.input(1, width, side, side)
    x = m.between(m.node("Relu", m.between(m.conv(x, width, width, 3, 1, width))))
    return layers(m, x, 1, [width, outputs])


def stem(m, side, width, outputs):
    x = m.between(m.node("Relu", m.between(m.conv(m.input(1, 3, side, side), 3, width, 3, 2))))
    return layers(m, x, 3, [width, outputs])


def uneven(m, inputs, outputs, side, down, across):
    return m.node("Conv", m.input(1, inputs, side, side), m.weight(outputs, inputs, 3, 3), m.weight(outputs, bias=True),
                  kernel_shape=[3, 3], strides=[down, across], pads=[1] * 4)


def attention(m, heads, rows, depth):
    q, k, v = (m.input(1, heads, *each) for each in ((rows, depth), (depth, rows), (rows, depth)))
    scores = m.between(m.node("Softmax", m.between(m.node("MatMul", q, k)), axis=-1))
    return m.node("MatMul", scores, v)


def cell(m, rows, width):
    """The gates of an LSTM's step, without its products."""
    i, f, o, g, c = (m.input(rows, width) for _ in range(5))
    i, f, o = (m.between(m.node("Sigmoid", each)) for each in (i, f, o))
    kept, new = m.between(m.node("Mul", f, c)), m.between(m.node("Mul", i, m.between(m.node("Tanh", g))))
    return m.node("Mul", o, m.between(m.node("Tanh", m.between(m.node("Add", kept, new)))))


# Cases of one operator, by the pattern of their names: how many numbers, and what is made of them.
CASES = {
    r"conv_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.conv(m.input(1, c, h, h), c, c, k, s),
    r"conv_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, i, o, k, s, h: m.conv(m.input(1, i, h, h), i, o, k, s),
    r"dw_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.conv(m.input(1, c, h, h), c, c, k, s, c),
    r"mm_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("MatMul", m.input(a, b), m.weight(b, c)),
    r"bmm_(\d+)x(\d+)x(\d+)x(\d+)": lambda m, n, a, b, c: m.node("MatMul", m.input(n, a, b), m.input(n, b, c)),
    r"bmm_(\d+)x(\d+)x(\d+)x(\d+)x(\d+)": lambda m, n, h, a, b, c: m.node("MatMul", m.input(n, h, a, b), m.input(n, h, b, c)),
    r"gemm_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("Gemm", m.input(a, b), m.weight(b, c), m.weight(c, bias=True)),
    r"ln_(\d+)x(\d+)": lambda m, a, b: m.normalised(m.input(1, a, b), b),
    r"softmax_(\d+)x(\d+)": lambda m, a, b: m.node("Softmax", m.input(a, b), axis=-1),
    r"avgpool_c(\d+)_h(\d+)": lambda m, c, h: m.node("AveragePool", m.input(1, c, h, h), kernel_shape=[2, 2], strides=[2, 2]),
    r"maxpool_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.node(
        "MaxPool", m.input(1, c, h, h), kernel_shape=[k] * 2, strides=[s] * 2, pads=[(k - 1) // 2] * 4),
    r"concat_c(\d+)_h(\d+)": lambda m, c, h: m.node("Concat", m.input(1, c, h, h), m.input(1, c, h, h), axis=1),
    r"resize_c(\d+)_h(\d+)": lambda m, c, h: doubled(m, m.input(1, c, h, h)),
    r"addc_c(\d+)_h(\d+)": lambda m, c, h: m.node("Add", m.input(1, c, h, h), m.weight(1, c, 1, 1)),
    r"mulb_c(\d+)_h(\d+)": lambda m, c, h: m.node("Mul", m.input(1, c, h, h), m.input(1, c, 1, 1)),
    r"gelu_([\dx]+)": lambda m, shape: gelu(m, m.input(*sides(shape))),
    r"mean_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("ReduceMean", m.input(a, b, c), axes=[1], keepdims=0),
    r"gap_c(\d+)_h(\d+)": lambda m, c, h: m.node("GlobalAveragePool", m.input(1, c, h, h)),
    r"row_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_l(\d+)": lambda m, i, o, k, s, l: m.conv(m.input(1, i, l), i, o, k, s, sides=1),
    r"grouped_c(\d+)_g(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, g, k, s, h: m.conv(m.input(1, c, h, h), c, c, k, s, g),
    r"dilated_c(\d+)_d(\d+)_h(\d+)": lambda m, c, d, h: m.conv(m.input(1, c, h, h), c, c, 3, gap=d),
    r"dilateddw_c(\d+)_d(\d+)_h(\d+)": lambda m, c, d, h: m.conv(m.input(1, c, h, h), c, c, 3, 1, c, gap=d),
    r"transposed_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, i, o, k, s, h: m.transposed(m.input(1, i, h, h), i, o, k, s),
    r"padded_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_h(\d+)_p(\d)(\d)": lambda m, i, o, k, s, h, before, behind: m.conv(
        m.input(1, i, h, h), i, o, k, s, pads=[before, before, behind, behind]),
    r"paddeddw_c(\d+)_k(\d+)_s(\d+)_h(\d+)_p(\d)(\d)": lambda m, c, k, s, h, before, behind: m.conv(
        m.input(1, c, h, h), c, c, k, s, c, pads=[before, before, behind, behind]),
    r"oblong_ci(\d+)_co(\d+)_(\d+)x(\d+)_(\d+)x(\d+)": lambda m, i, o, high, wide, h, w: m.node(
        "Conv", m.input(1, i, h, w), m.weight(o, i, high, wide), m.weight(o, bias=True), kernel_shape=[high, wide],
        pads=[high // 2, wide // 2] * 2),
    r"batchnorm_c(\d+)_h(\d+)": lambda m, c, h: m.channelwise(m.input(1, c, h, h), c),
    r"convnorm_ci(\d+)_co(\d+)_k(\d+)_h(\d+)": lambda m, i, o, k, h: m.node(
        "Relu", m.channelwise(m.conv(m.input(1, i, h, h), i, o, k), o)),
    r"silu_c(\d+)_h(\d+)": lambda m, c, h: silu(m, m.input(1, c, h, h)),
    r"convsilu_ci(\d+)_co(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, i, o, k, s, h: silu(
        m, m.between(m.conv(m.input(1, i, h, h), i, o, k, s))),
    r"pool_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.node(
        "MaxPool", m.input(1, c, h, h), kernel_shape=[k] * 2, strides=[s] * 2),
    r"mean_c(\d+)_k(\d+)_s(\d+)_h(\d+)": lambda m, c, k, s, h: m.node(
        "AveragePool", m.input(1, c, h, h), kernel_shape=[k] * 2, strides=[s] * 2),
    r"pad_c(\d+)_h(\d+)": lambda m, c, h: m.node("Pad", m.input(1, c, h, h), m.constant([0, 0, 1, 1] * 2, "int64")),
    r"square_c(\d+)_h(\d+)": lambda m, c, h: (lambda x: m.node("Mul", x, x))(m.input(1, c, h, h)),
    r"power_c(\d+)_h(\d+)": lambda m, c, h: m.node("Pow", m.input(1, c, h, h), m.constant(2, "float32")),
    r"depthtospace_c(\d+)_h(\d+)": lambda m, c, h: m.node("DepthToSpace", m.input(1, c, h, h), blocksize=2),
    r"greater_c(\d+)_h(\d+)": lambda m, c, h: m.node("Max", m.input(1, c, h, h), m.input(1, c, h, h)),
    r"swap_(\d+)x(\d+)x(\d+)": lambda m, a, b, c: m.node("Transpose", m.input(1, a, b, c), perm=[0, 2, 1, 3]),
    r"turn_(\d+)x(\d+)": lambda m, a, b: m.node("Transpose", m.input(a, b), perm=[1, 0]),
    r"layers_h(\d+)_k(\d)_([\d_]+)": lambda m, h, k, widths: layers(
        m, m.input(1, int(widths.split("_")[0]), h, h), k, [int(each) for each in widths.split("_")]),
    r"residual_c(\d+)_h(\d+)": lambda m, c, h: residual(m, h, c),
    r"separable_ci(\d+)_co(\d+)_h(\d+)": lambda m, i, o, h: separable(m, h, i, o),
    r"stem_c(\d+)_co(\d+)_h(\d+)": lambda m, c, o, h: stem(m, h, c, o),
    r"convpool_ci(\d+)_co(\d+)_h(\d+)": lambda m, i, o, h: m.node(
        "MaxPool", layers(m, m.input(1, i, h, h), 3, [i, o]), kernel_shape=[2, 2], strides=[2, 2]),
    r"lrn_n(\d+)_c(\d+)_h(\d+)": lambda m, n, c, h: m.node("LRN", m.input(1, c, h, h), size=n),
    r"images_(\d+)x(\d+)x(\d+)x(\d+)": lambda m, h, w, a, b: m.node("MatMul", m.input(1, h, w, a), m.weight(a, b)),
    r"batches_(\d+)x(\d+)x(\d+)x(\d+)": lambda m, n, h, a, b: m.node("MatMul", m.input(n, h, a), m.weight(a, b)),
    r"uneven_ci(\d+)_co(\d+)_h(\d+)_s(\d)(\d)": uneven,
    r"attention_(\d+)x(\d+)x(\d+)": attention,
    r"cell_(\d+)x(\d+)": cell,
    r"rowmeans_c(\d+)_h(\d+)": lambda m, c, h: m.node("ReduceMean", m.input(1, c, h, h), axes=[2, 3], keepdims=1),
    r"softmaxc_c(\d+)_h(\d+)": lambda m, c, h: m.node("Softmax", m.input(1, c, h, h), axis=1),
    r"gather_(\d+)x(\d+)x(\d+)": lambda m, a, b, n: m.node(
        "Gather", m.weight(a, b), m.constant([(7 * i) % a for i in range(n)], "int64")),
    r"halves_c(\d+)_h(\d+)": lambda m, c, h: (lambda x: m.node(
        "Add", m.node("Slice", x, *(m.constant([each], "int64") for each in (0, c // 2, 1))),
        m.node("Slice", x, *(m.constant([each], "int64") for each in (c // 2, c, 1)))))(m.input(1, c, h, h)),
    r"threefold_c(\d+)_h(\d+)": lambda m, c, h: m.node(
        "Resize", m.input(1, c, h, h), "", m.constant([1, 1, 3, 3], "float32"), mode="nearest",
        coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    r"transpose_1x(\d+)x(\d+)x(\d+)_nhwc": lambda m, c, h, w: m.node("Transpose", m.input(1, c, h, w), perm=[0, 2, 3, 1]),
}
BINARY = r"(add|mul|sub|div)_([\dx]+)"
UNARIES = {"elu": "Elu", "neg": "Neg", "softplus": "Softplus", "abs": "Abs", "log": "Log", "hardswish": "HardSwish", "hardsigmoid": "HardSigmoid", "leakyrelu": "LeakyRelu"}
UNARY = r"(relu|sigmoid|tanh|exp|sqrt|hardswish|hardsigmoid|leakyrelu|erf|elu|neg|softplus|abs|log)_([\dx]+)"


def one_operator(name, model):
    for pattern, make in CASES.items():
        found = re.fullmatch(pattern, name)
        if found:
            return make(model, *(int(each) if each.isdigit() else each for each in found.groups()))
    found = re.fullmatch(BINARY, name)
    if found:
        shape = sides(found[2])
        return model.node(found[1].capitalize(), model.input(*shape), model.input(*shape))
    found = re.fullmatch(UNARY, name)
    return model.node(UNARIES.get(found[1], found[1].capitalize()), model.input(*sides(found[2]))) if found else None


# Whole nets. `step` is an operator of one: its result is quantised for the next.

def step(m, *words, **attributes):
    return m.between(m.node(*words, **attributes))


def block(m, x, *sizes, relu=True, **more):
    x = m.conv(x, *sizes, **more)
    return m.between(m.node("Relu", x) if relu else x)


def halved(m, x, window=2, pads=0):
    return step(m, "MaxPool", x, kernel_shape=[window] * 2, strides=[2, 2], pads=[pads] * 4)


def joined(m, a, b, relu=True):
    x = m.node("Add", a, b)
    return m.between(m.node("Relu", x) if relu else x)


def classified(m, x, width, classes):
    x = step(m, "Flatten", step(m, "GlobalAveragePool", x), axis=1)
    return m.node("Gemm", x, m.weight(width, classes), m.weight(classes, bias=True))


def smallcnn(m):
    x = halved(m, block(m, m.input(1, 3, 32, 32), 3, 16, 3))
    return classified(m, block(m, halved(m, block(m, x, 16, 32, 3)), 32, 64, 3), 64, 10)


def mbnet(m):
    x, width = block(m, m.input(1, 3, 96, 96), 3, 16, 3, 2), 16
    for wider, stride in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2)):
        x = block(m, block(m, x, width, width, 3, stride, width), width, wider, 1)
        width = wider
    return classified(m, x, 256, 100)


def resnetish(m):
    x = halved(m, block(m, m.input(1, 3, 64, 64), 3, 32, 7, 2), 3, 1)
    for _ in range(2):
        x = joined(m, block(m, block(m, x, 32, 32, 3), 32, 32, 3, relu=False), x)
    deep = block(m, block(m, x, 32, 64, 3, 2), 64, 64, 3, relu=False)
    return classified(m, joined(m, deep, block(m, x, 32, 64, 1, 2, relu=False)), 64, 10)


def dscnn(m):
    x = block(m, m.input(1, 1, 48, 12), 1, 64, 5, 2)
    for _ in range(4):
        x = block(m, block(m, x, 64, 64, 3, 1, 64), 64, 64, 1)
    return classified(m, x, 64, 12)


def vggish(m):
    x, width = m.input(1, 3, 48, 48), 3
    for wider in (16, 32, 64):
        x, width = halved(m, block(m, block(m, x, width, wider, 3), wider, wider, 3)), wider
    return classified(m, x, 64, 20)


def resnet8(m):
    x, width = block(m, m.input(1, 3, 32, 32), 3, 16, 3), 16
    for wider, stride in ((16, 1), (32, 2), (64, 2)):
        deep = block(m, block(m, x, width, wider, 3, stride), wider, wider, 3, relu=False)
        x = joined(m, deep, x if stride == 1 else block(m, x, width, wider, 1, stride, relu=False))
        width = wider
    return classified(m, x, 64, 10)


def mbv2ish(m):
    x, width = block(m, m.input(1, 3, 64, 64), 3, 16, 3, 2), 16
    for wider, stride in ((24, 2), (24, 1), (40, 2), (40, 1)):
        deep = block(m, block(m, x, width, 4 * width, 1), 4 * width, 4 * width, 3, stride, 4 * width)
        deep = block(m, deep, 4 * width, wider, 1, relu=False)
        x, width = joined(m, deep, x, relu=False) if wider == width and stride == 1 else deep, wider
    return classified(m, x, 40, 10)


def gated(m, x, width):
    y = block(m, step(m, "GlobalAveragePool", x), width, width // 4, 1)
    y = m.between(m.conv(y, width // 4, width, 1))
    return m.between(m.node("Mul", x, m.between(m.node("Sigmoid", y))))


def senet(m):
    x, width = block(m, m.input(1, 3, 96, 96), 3, 16, 3, 2), 16
    for wider, stride in ((24, 2), (24, 1), (48, 2), (48, 1), (96, 2)):
        deep = block(m, block(m, x, width, 4 * width, 1), 4 * width, 4 * width, 3, stride, 4 * width)
        deep = block(m, gated(m, deep, 4 * width), 4 * width, wider, 1, relu=False)
        x, width = joined(m, deep, x, relu=False) if wider == width and stride == 1 else deep, wider
    return classified(m, x, 96, 100)


def unet(m):
    a = block(m, block(m, m.input(1, 3, 64, 64), 3, 16, 3), 16, 16, 3)
    b = block(m, halved(m, a), 16, 32, 3)
    x = block(m, halved(m, b), 32, 64, 3)
    for before, width in ((b, 32), (a, 16)):
        x = block(m, m.between(doubled(m, x)), 2 * width, width, 3)
        x = block(m, step(m, "Concat", x, before, axis=1), 2 * width, width, 3)
    return m.conv(x, 16, 2, 1)


def mlp(m):
    x = m.input(1, 256)
    for i, (read, made) in enumerate(((256, 512), (512, 512), (512, 64))):
        x = m.node("Gemm", x, m.weight(read, made), m.weight(made, bias=True))
        x = m.between(m.node("Relu", x)) if i < 2 else x
    return x


def transformer(m, rows, width, heads, hidden, norm_first):
    def linear(x, read, made):
        return m.node("Add", m.node("MatMul", x, m.weight(read, made)), m.weight(made))

    def shaped(x, *shape):
        return m.node("Reshape", x, m.constant(shape, "int64"))

    def headed(x, order):
        return m.node("Transpose", shaped(linear(x, width, width), 1, rows, heads, width // heads), perm=order)

    x = m.input(1, rows, width)
    y = m.normalised(x, width) if norm_first else x
    scores = m.node("MatMul", headed(y, [0, 2, 1, 3]), headed(y, [0, 2, 3, 1]))
    scores = m.node("Softmax", m.node("Mul", scores, m.constant(0.2, "float32")), axis=-1)
    y = m.node("Transpose", m.node("MatMul", scores, headed(y, [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    x = m.node("Add", x, linear(shaped(y, 1, rows, width), width, width))
    x = x if norm_first else m.normalised(x, width)
    y = m.normalised(x, width) if norm_first else x
    y = m.node("Add", x, linear(m.node("Relu", linear(y, width, hidden)), hidden, width))
    return y if norm_first else m.normalised(y, width)


def inception(m):
    x = block(m, m.input(1, 3, 64, 64), 3, 32, 3, 2)
    for width in (32, 96):
        parts = [block(m, x, width, 24, 1), block(m, block(m, x, width, 16, 1), 16, 32, 3), block(m, block(m, x, width, 8, 1), 8, 16, 5)]
        pooled = step(m, "MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
        x = step(m, "Concat", *parts, block(m, pooled, width, 24, 1), axis=1)
    return classified(m, x, 96, 10)


def resnext(m, side, widths, groups):
    """Widths as (channels, stride), the first of the stem."""
    x, width = block(m, m.input(1, 3, side, side), 3, widths[0][0], 3, 2), widths[0][0]
    for wider, stride in widths[1:]:
        deep = block(m, block(m, x, width, wider, 1), wider, wider, 3, stride, groups)
        deep = block(m, deep, wider, wider, 1, relu=False)
        same = stride == 1 and wider == width
        x = joined(m, deep, x if same else block(m, x, width, wider, 1, stride, relu=False))
        width = wider
    return classified(m, x, width, 10)


def autoencoder(m):
    x, width = m.input(1, 1, 48, 48), 1
    for wider in (16, 32, 64):
        x, width = block(m, x, width, wider, 3, 2), wider
    for narrower in (32, 16, 8):
        x, width = block(m, m.between(doubled(m, x)), width, narrower, 3), narrower
    return m.node("Sigmoid", m.between(m.conv(x, 8, 1, 3)))


def detector(m):
    def layer(x, *sizes):
        return m.between(silu(m, m.between(m.conv(x, *sizes))))

    x = layer(layer(m.input(1, 3, 96, 96), 3, 16, 3, 2), 16, 32, 3, 2)
    y = layer(layer(x, 32, 64, 3, 2), 64, 64, 1)
    y = layer(step(m, "Concat", m.between(doubled(m, y)), x, axis=1), 96, 32, 3)
    return m.node("Sigmoid", m.between(m.conv(y, 32, 24, 1)))


def raised(m, x, *sizes, relu=True):
    x = m.transposed(x, *sizes)
    return m.between(m.node("Relu", x) if relu else x)


def raising(m):
    x = block(m, block(m, m.input(1, 3, 64, 64), 3, 32, 3, 2), 32, 64, 3, 2)
    return m.conv(raised(m, raised(m, x, 64, 32, 2, 2), 32, 16, 2, 2), 16, 4, 1)


def dilated(m):
    x = block(m, m.input(1, 3, 64, 64), 3, 32, 3, 2)
    for gap in (2, 4):
        x = block(m, x, 32, 32, 3, gap=gap)
    return m.conv(x, 32, 8, 1)


def deeplab(m):
    x = block(m, block(m, m.input(1, 3, 65, 65), 3, 16, 3, 2), 16, 32, 3, 2)
    x = block(m, x, 32, 48, 3, gap=2)
    return m.conv(step(m, "Concat", block(m, x, 48, 24, 1), block(m, x, 48, 24, 3, gap=3), axis=1), 48, 8, 1)


def generator(m):
    x = m.node("Gemm", m.input(1, 64), m.weight(64, 1024), m.weight(1024, bias=True))
    x = step(m, "Reshape", m.between(x), m.constant([1, 64, 4, 4], "int64"))
    x = raised(m, raised(m, x, 64, 48, 4, 2), 48, 24, 4, 2)
    return m.node("Tanh", raised(m, x, 24, 3, 4, 2, relu=False))


def segnet(m):
    a = block(m, m.input(1, 3, 48, 48), 3, 16, 3)
    b = block(m, halved(m, a), 16, 32, 3)
    x = raised(m, block(m, halved(m, b), 32, 48, 3), 48, 32, 2, 2)
    x = raised(m, block(m, step(m, "Concat", x, b, axis=1), 64, 32, 3), 32, 16, 2, 2)
    return m.conv(block(m, step(m, "Concat", x, a, axis=1), 32, 16, 3), 16, 2, 1)


def alexnet(m):
    x = halved(m, block(m, m.input(1, 3, 99, 99), 3, 32, 11, 4, pads=[2] * 4), 3)
    x = halved(m, block(m, x, 32, 64, 5), 3)
    return classified(m, block(m, block(m, x, 64, 96, 3), 96, 64, 3), 64, 50)


def oddpools(m):
    none = [0] * 4
    x = block(m, block(m, m.input(1, 3, 75, 75), 3, 16, 3, 2, pads=none), 16, 16, 3, pads=none)
    x = halved(m, block(m, x, 16, 32, 3), 3)
    x = step(m, "Concat", block(m, x, 32, 24, 3, 2, pads=none), halved(m, x, 3), axis=1)
    return classified(m, x, 56, 10)


def dronet(m):
    x = halved(m, block(m, m.input(1, 1, 80, 80), 1, 32, 5, 2), 3)
    for width, wider in ((32, 32), (32, 64)):
        deep = block(m, block(m, x, width, wider, 3, 2), wider, wider, 3, relu=False)
        x = m.between(m.node("Add", deep, block(m, x, width, wider, 1, 2, relu=False)))
    return classified(m, x, 64, 2)


def lenet(m):
    x, width = m.input(1, 1, 28, 28), 1
    for wider in (6, 16):
        x, width = halved(m, block(m, x, width, wider, 5, pads=[0] * 4)), wider
    x = step(m, "Flatten", x, axis=1)
    for width, wider in ((256, 120), (120, 84)):
        x = m.between(m.node("Relu", m.node("Gemm", x, m.weight(width, wider), m.weight(wider, bias=True))))
    return m.node("Gemm", x, m.weight(84, 10), m.weight(10, bias=True))


def rows(m, window, length, widths):
    """Of sound; widths as (channels, stride)."""
    x, width = m.input(1, widths[0][0], length), widths[0][0]
    for at, (wider, stride) in enumerate(widths[1:]):
        x = m.between(m.node("Relu", m.conv(x, width, wider, 3 if at == 0 and window > 5 else window, stride, sides=1)))
        width = wider
    x = step(m, "Flatten", step(m, "GlobalAveragePool", x), axis=1)
    classes = 12 if window > 5 else 8
    return m.node("Gemm", x, m.weight(width, classes), m.weight(classes, bias=True))


def srcnn(m):
    x = block(m, block(m, m.input(1, 1, 33, 33), 1, 32, 9), 32, 16, 1)
    return m.conv(x, 16, 1, 5)


def shuffled(m):
    x = halved(m, block(m, m.input(1, 3, 64, 64), 3, 24, 3, 2), 3, 1)
    for _ in range(2):
        y = step(m, "Reshape", block(m, x, 24, 24, 1, groups=2), m.constant([1, 2, 12, 256], "int64"))
        y = step(m, "Reshape", step(m, "Transpose", y, perm=[0, 2, 1, 3]), m.constant([1, 24, 16, 16], "int64"))
        y = m.between(m.conv(y, 24, 24, 3, 1, 24))
        x = joined(m, x, block(m, y, 24, 24, 1, groups=2, relu=False))
    return classified(m, x, 24, 10)


def ghost(m):
    x = block(m, m.input(1, 3, 56, 56), 3, 16, 3, 2)
    for width, wider in ((16, 24), (24, 32)):
        half = block(m, x, width, wider // 2, 1)
        x = step(m, "Concat", half, block(m, half, wider // 2, wider // 2, 3, 1, wider // 2), axis=1)
        x = m.between(m.conv(x, wider, wider, 3, 2, wider))
    return classified(m, x, 32, 10)


def edsr(m):
    first = x = block(m, m.input(1, 3, 32, 32), 3, 32, 3, relu=False)
    for _ in range(2):
        x = joined(m, x, block(m, block(m, x, 32, 32, 3), 32, 32, 3, relu=False), relu=False)
    x = block(m, joined(m, x, first, relu=False), 32, 12, 3, relu=False)
    return m.node("DepthToSpace", x, blocksize=2)


def fcn(m):
    x, width = m.input(1, 3, 64, 64), 3
    for wider in (16, 32, 64):
        x, width = block(m, x, width, wider, 3, 2), wider
    return m.conv(raised(m, raised(m, x, 64, 32, 4, 2), 32, 16, 4, 2), 16, 5, 1)


def espnet(m):
    x = block(m, block(m, m.input(1, 3, 64, 64), 3, 24, 3, 2), 24, 12, 1)
    near = block(m, x, 12, 12, 3, relu=False)
    both = joined(m, near, block(m, x, 12, 12, 3, gap=2, relu=False), relu=False)
    return classified(m, block(m, step(m, "Concat", near, both, axis=1), 24, 32, 3, 2), 32, 10)


def mixer(m):
    def mixed(x, width, wider):
        y = m.node("Relu", m.node("Add", m.node("MatMul", x, m.weight(width, wider)), m.weight(wider)))
        return m.node("Add", x, m.node("Add", m.node("MatMul", y, m.weight(wider, width)), m.weight(width)))

    x = m.between(m.conv(m.input(1, 3, 48, 48), 3, 64, 8, 8, pads=[0] * 4))
    x = mixed(step(m, "Reshape", x, m.constant([1, 64, 36], "int64")), 36, 72)
    return mixed(m.node("Transpose", x, perm=[0, 2, 1]), 64, 128)


def superresolution(m):
    x, width = m.input(1, 1, 60, 60), 1
    for wider, window in ((32, 5), (32, 3), (16, 3)):
        x, width = block(m, x, width, wider, window), wider
    return m.node("DepthToSpace", m.between(m.conv(x, 16, 4, 3)), blocksize=2)


def convnext(m):
    x = m.between(m.conv(m.input(1, 3, 64, 64), 3, 48, 4, 4, pads=[0] * 4))
    for _ in range(2):
        y = m.normalised(m.node("Transpose", m.between(m.conv(x, 48, 48, 7, 1, 48)), perm=[0, 2, 3, 1]), 48)
        y = m.node("Relu", m.node("Add", m.node("MatMul", y, m.weight(48, 96)), m.weight(96)))
        y = m.node("Add", m.node("MatMul", y, m.weight(96, 48)), m.weight(48))
        x = m.node("Add", x, m.node("Transpose", y, perm=[0, 3, 1, 2]))
    return classified(m, x, 48, 10)


def gaps_of_rows(m):
    x = m.input(1, 32, 128)
    for gap in (1, 2, 4):
        x = joined(m, x, m.between(m.node("Relu", m.conv(x, 32, 32, 3, gap=gap, sides=1))), relu=False)
    return m.node("GlobalAveragePool", x)


NETS = {
    "superresolution": superresolution, "convnext": convnext, "gaps_of_rows": gaps_of_rows,
    "inception": inception, "autoencoder": autoencoder, "detector": detector, "raising": raising, "dilated": dilated,
    "deeplab": deeplab, "generator": generator, "segnet": segnet, "alexnet": alexnet, "oddpools": oddpools,
    "dronet": dronet, "lenet": lenet, "srcnn": srcnn, "shuffled": shuffled, "ghost": ghost, "edsr": edsr, "fcn": fcn,
    "espnet": espnet, "mixer": mixer,
    "resnext": lambda m: resnext(m, 64, ((32, 2), (64, 2), (64, 1), (128, 2)), 8),
    "resnext_small": lambda m: resnext(m, 48, ((24, 2), (48, 1), (48, 1)), 4),
    "keywords": lambda m: rows(m, 9, 100, ((40, 1), (64, 1), (96, 2), (96, 1), (128, 2), (128, 1))),
    "sounds": lambda m: rows(m, 5, 96, ((20, 1), (32, 1), (48, 2), (48, 1), (64, 2))),
    "smallcnn": smallcnn, "mbnet": mbnet, "resnetish": resnetish, "dscnn": dscnn, "vggish": vggish, "resnet8": resnet8,
    "mbv2ish": mbv2ish, "mlp": mlp, "senet": senet, "unet": unet,
    "tblock": lambda m: transformer(m, 32, 128, 4, 512, True),
    "encoder": lambda m: transformer(m, 48, 96, 3, 192, False),
    "deit": lambda m: transformer(m, 197, 192, 3, 768, True),
    "bert": lambda m: transformer(m, 128, 256, 4, 1024, False),
}
