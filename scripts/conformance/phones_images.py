"""More of phones.py's: of images and windows of attention."""

import numpy

from deployed import attended, convolution, integers, part, pooled, resized, shaped, turned
from models import classified, gelu
from novel import prelu
from phones import clipped


def halves(w, x, axis=1, count=2):
    """Split in equal parts."""
    outputs = [f"Split_{len(w.nodes)}_{i}" for i in range(count)]
    w.split(x, outputs, axis)
    return outputs


def sub_pixels(w):
    """ESPCN, its shuffle as Reshape and Transpose."""
    x = convolution(w, "x", 1, 64, 5, act="Tanh")
    x = convolution(w, convolution(w, x, 64, 32, 3, act="Tanh"), 32, 9, 3, act=None)
    x = turned(w, shaped(w, x, 1, 1, 3, 3, 72, 96), 0, 1, 4, 2, 5, 3)
    return w.node("Clip", shaped(w, x, 1, 1, 216, 288), w.given(numpy.float32(0)), w.given(numpy.float32(1)))


def bins(w):
    """PSPNet: means of 1, 2, 3 and 6 parts, grown to the image again."""
    x, channels = convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3, 2), 64
    for made in (128, 128):
        y = convolution(w, convolution(w, x, channels, 64, 3, dilation=2), 64, made, act=None)
        skip = x if channels == made else convolution(w, x, channels, made, act=None)
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    parts = [x]
    for count in (1, 2, 3, 6):
        side = 36 // count
        y = convolution(w, w.node("AveragePool", x, kernel_shape=[side] * 2, strides=[side] * 2), 128, 32)
        parts.append(w.node("Resize", y, "", "", integers(w, 1, 32, 36, 36), mode="linear"))
    x = convolution(w, w.node("Concat", *parts, axis=1), 256, 64, 3)
    return resized(w, convolution(w, x, 64, 19, act=None), 4, "linear")


def group_norm(w, x, channels, side, groups=16):
    y = shaped(w, x, 1, groups, channels // groups * side * side)
    y = w.node("InstanceNormalization", y, w.given(numpy.ones(groups, numpy.float32)), w.given(numpy.zeros(groups, numpy.float32)))
    y = w.node("Mul", shaped(w, y, 1, channels, side, side), w.constant(channels, 1, 1, scale=0.5))
    return w.node("Add", y, w.constant(channels, 1, 1, scale=0.1))


def diffusion(w, side=24, width=128):
    """A block of a diffusion model: GroupNorm, SiLU, attention over places."""
    silu = lambda x: w.node("Mul", x, w.node("Sigmoid", x))
    x = convolution(w, "x", 4, width, 3, act=None)
    for _ in range(2):
        y = convolution(w, silu(group_norm(w, x, width, side)), width, width, 3, act=None)
        y = convolution(w, silu(group_norm(w, w.node("Add", y, w.constant(1, width, 1, 1)), width, side)), width, width, 3, act=None)
        x = w.node("Add", x, y)
        y = convolution(w, group_norm(w, x, width, side), width, width, act=None)
        y = turned(w, shaped(w, y, 1, width, side * side), 0, 2, 1)
        y = w.node("Add", y, attended(w, w.normalized(y, width), side * side, width, 2))
        gate, value = halves(w, w.product(w.normalized(y, width), width, 4 * width), 2)
        y = w.node("Add", y, w.product(w.node("Mul", value, gelu(w, gate)), 2 * width, width))
        x = w.node("Add", x, convolution(w, shaped(w, turned(w, y, 0, 2, 1), 1, width, side, side), width, width, act=None))
    return convolution(w, silu(group_norm(w, x, width, side)), width, 4, 3, act=None)


def batch_norm(w, x, channels):
    return w.node("BatchNormalization", x, w.given(numpy.linspace(0.8, 1.2, channels, dtype=numpy.float32)), w.constant(channels, scale=0.1),
                  w.constant(channels, scale=0.1), w.given(numpy.linspace(0.9, 1.1, channels, dtype=numpy.float32)))


def faces(w):
    """ArcFace: normalisation before convolutions, PRelu, an embedding of all places."""
    x, channels = prelu(w, batch_norm(w, convolution(w, "x", 3, 64, 3, act=None), 64), 64), 64
    for made in (64, 128, 256):
        y = prelu(w, batch_norm(w, convolution(w, batch_norm(w, x, channels), channels, made, 3, act=None), made), made)
        y = batch_norm(w, convolution(w, y, made, made, 3, 2, act=None), made)
        x, channels = w.node("Add", y, batch_norm(w, convolution(w, x, channels, made, 1, 2, act=None), made)), made
    x = w.node("Flatten", batch_norm(w, x, 256))
    return batch_norm(w, w.node("Gemm", x, w.constant(256, 256 * 49), w.constant(256, scale=0.1), transB=1), 256)


def factorised(w):
    """Inception v3: 1 by 7 and 7 by 1, means whose border does not count."""
    def across(x, channels, made, high, wide):
        x = w.node("Conv", x, w.constant(made, channels, high, wide), w.constant(made, scale=0.1), kernel_shape=[high, wide],
                   pads=[high // 2, wide // 2] * 2)
        return w.node("Relu", x)

    x = pooled(w, convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3), 3, 2, 0)
    x, channels = convolution(w, x, 64, 128, 3, 2), 128
    for _ in range(2):
        parts = [convolution(w, x, channels, 64), across(across(convolution(w, x, channels, 48), 48, 48, 1, 7), 48, 64, 7, 1),
                 across(across(across(convolution(w, x, channels, 48), 48, 48, 7, 1), 48, 48, 1, 7), 48, 64, 7, 1),
                 convolution(w, w.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4), channels, 64)]
        x, channels = w.node("Concat", *parts, axis=1), 256
    return classified(w, x, 256)


def reflected(w):
    """Monodepth2's decoder: ELU, mirrored borders."""
    def mirrored(x, channels, made, act="Elu"):
        x = w.node("Pad", x, integers(w, 0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        x = w.node("Conv", x, w.constant(made, channels, 3, 3), w.constant(made, scale=0.1), kernel_shape=[3, 3])
        return w.node(act, x)

    first = convolution(w, "x", 3, 32, 3, 2)
    second = convolution(w, first, 32, 64, 3, 2)
    x = convolution(w, second, 64, 128, 3, 2)
    for skip, channels, made in ((second, 128, 64), (first, 64, 32)):
        x = w.node("Concat", resized(w, mirrored(x, channels, made)), skip, axis=1)
        x = mirrored(x, 2 * made, made)
    return mirrored(resized(w, mirrored(x, 32, 16)), 16, 1, "Sigmoid")


def written_out(w, x, channels):
    """LayerNormalization as exporters wrote it before there was an operator."""
    y = w.node("Sub", x, w.node("ReduceMean", x, axes=[-1], keepdims=1))
    spread = w.node("ReduceMean", w.node("Pow", y, w.given(numpy.float32(2))), axes=[-1], keepdims=1)
    y = w.node("Div", y, w.node("Sqrt", w.node("Add", spread, w.given(numpy.float32(1e-5)))))
    return w.node("Add", w.node("Mul", y, w.given(numpy.ones(channels, numpy.float32))), w.constant(channels, scale=0.1))


def tanh_gelu(w, x):
    cubed = w.node("Mul", w.node("Pow", x, w.given(numpy.float32(3))), w.given(numpy.float32(0.044715)))
    y = w.node("Tanh", w.node("Mul", w.node("Add", x, cubed), w.given(numpy.float32(0.7978846))))
    return w.node("Mul", w.node("Mul", x, w.given(numpy.float32(0.5))), w.node("Add", y, w.given(numpy.float32(1))))


def old_bert(w, rows=64, width=256):
    """BERT of an older exporter: norms and GELU written out, a mask added to scores."""
    x = written_out(w, "x", width)
    for _ in range(2):
        q, k, v = (turned(w, shaped(w, w.product(x, width, width), 1, rows, 4, 64), 0, 2, 1, 3) for _ in range(3))
        scores = w.node("Div", w.node("MatMul", q, turned(w, k, 0, 1, 3, 2)), w.given(numpy.float32(8)))
        scores = w.node("Add", scores, w.given(numpy.where(numpy.arange(rows) < 50, 0, -100).astype(numpy.float32).reshape(1, 1, 1, rows)))
        y = turned(w, w.node("MatMul", w.node("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
        x = written_out(w, w.node("Add", w.product(shaped(w, y, 1, rows, width), width, width), x), width)
        x = written_out(w, w.node("Add", w.product(tanh_gelu(w, w.product(x, width, 4 * width)), 4 * width, width), x), width)
    x = w.node("Tanh", w.product(w.node("Gather", x, w.given(numpy.array(0, numpy.int64)), axis=1), width, width))
    return w.product(x, width, 2)


def rolled(w, x, by, axis, extent):
    return w.node("Concat", part(w, x, by, extent, axis), part(w, x, 0, by, axis), axis=axis)


def shifted(w, side=28, width=96, window=7):
    """Swin's second block: windows shifted by half of one."""
    x, count = "x", 4
    for _ in range(2):
        y = shaped(w, w.normalized(x, width), 1, side, side, width)
        y = rolled(w, rolled(w, y, 3, 1, side), 3, 2, side)
        y = turned(w, shaped(w, y, 1, count, window, count, window, width), 0, 1, 3, 2, 4, 5)
        y = attended(w, shaped(w, y, 16, 49, width), 49, width, 3, 16)
        y = shaped(w, turned(w, shaped(w, y, 1, count, count, window, window, width), 0, 1, 3, 2, 4, 5), 1, side, side, width)
        y = rolled(w, rolled(w, y, 25, 1, side), 25, 2, side)
        x = w.node("Add", x, shaped(w, y, 1, side * side, width))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    return w.normalized(x, width)


def channels_last(w):
    """MobileNetV2 as tf2onnx writes it: images turned at both ends, borders as operators."""
    x, channels = turned(w, "x", 0, 3, 1, 2), 3
    for made, stride in ((32, 2), (64, 1), (96, 2), (96, 1), (160, 2)):
        wide = 32 if channels == 3 else 4 * channels
        y = clipped(w, convolution(w, x, channels, wide, act=None))
        if stride == 2:
            y = w.node("Pad", y, integers(w, 0, 0, 0, 0, 0, 0, 1, 1))
            y = w.node("Conv", y, w.constant(wide, 1, 3, 3), w.constant(wide, scale=0.1), kernel_shape=[3, 3], strides=[2, 2], group=wide)
        else:
            y = convolution(w, y, wide, wide, 3, group=wide, act=None)
        y = convolution(w, clipped(w, y), wide, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and made == channels else y, made
    x = w.node("ReduceMean", clipped(w, convolution(w, x, channels, 320, act=None)), axes=[2, 3], keepdims=0)
    return w.node("Softmax", w.product(x, 320, 100), axis=-1)


FITS = {"sub_pixels": (sub_pixels, [1, 1, 72, 96]), "bins": (bins, [1, 3, 144, 144]), "diffusion": (diffusion, [1, 4, 24, 24]),
               "faces": (faces, [1, 3, 56, 56]), "factorised": (factorised, [1, 3, 139, 139]), "reflected": (reflected, [1, 3, 96, 128]),
               "old_bert": (old_bert, [1, 64, 256]), "shifted": (shifted, [1, 784, 96]), "channels_last": (channels_last, [1, 128, 128, 3])}
