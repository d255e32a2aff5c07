"""Networks of kinds that people deploy to phones and that the others have none of, as exporters write them: recorded first, then
looked at how they are compiled."""

import numpy

from deployed import activated, attended, convolution, integers, inverted_blocks, part, pooled, resized, shaped, turned
from models import classified, gelu


def hard_swish(w, x):
    """As PyTorch exported it before there was an operator: x * Clip(x + 3, 0, 6) / 6."""
    y = w.node("Clip", w.node("Add", x, w.given(numpy.float32(3))), w.given(numpy.float32(0)), w.given(numpy.float32(6)))
    return w.node("Div", w.node("Mul", x, y), w.given(numpy.float32(6)))


def clipped(w, x):
    return w.node("Clip", x, w.given(numpy.float32(0)), w.given(numpy.float32(6)))


def cross_stage(w, x, channels, made, count):
    """C3 of YOLOv5."""
    y = convolution(w, x, channels, made // 2, act="silu")
    for _ in range(count):
        z = convolution(w, convolution(w, y, made // 2, made // 2, act="silu"), made // 2, made // 2, 3, act="silu")
        y = w.node("Add", y, z)
    return convolution(w, w.node("Concat", y, convolution(w, x, channels, made // 2, act="silu"), axis=1), made, made, act="silu")


def anchored(w):
    """YOLOv5 with its decoded boxes."""
    x = w.node("Conv", "x", w.constant(16, 3, 6, 6), w.constant(16, scale=0.1), kernel_shape=[6, 6], pads=[2] * 4, strides=[2, 2])
    x = convolution(w, activated(w, x, "silu"), 16, 32, 3, 2, act="silu")
    x = convolution(w, cross_stage(w, x, 32, 32, 1), 32, 64, 3, 2, act="silu")
    fine = cross_stage(w, x, 64, 64, 2)
    coarse = cross_stage(w, convolution(w, fine, 64, 128, 3, 2, act="silu"), 128, 128, 1)
    y = cross_stage(w, w.node("Concat", resized(w, convolution(w, coarse, 128, 64, act="silu")), fine, axis=1), 128, 64, 1)
    made = []
    for each, channels, side in ((y, 64, 24), (coarse, 128, 12)):
        z = turned(w, shaped(w, convolution(w, each, channels, 255, act=None), 1, 3, 85, side, side), 0, 1, 3, 4, 2)
        z = w.node("Sigmoid", z)
        grid = w.constant(1, 3, side, side, 2)
        middle = w.node("Mul", w.node("Add", w.node("Mul", part(w, z, 0, 2, 4), w.given(numpy.float32(2))), grid), w.given(numpy.float32(8)))
        size = w.node("Mul", w.node("Pow", w.node("Mul", part(w, z, 2, 4, 4), w.given(numpy.float32(2))), w.given(numpy.float32(2))), grid)
        made.append(shaped(w, w.node("Concat", middle, size, part(w, z, 4, 85, 4), axis=4), 1, 3 * side * side, 85))
    return w.node("Concat", *made, axis=1)


def distributions(w):
    """YOLOv8's heads: distances as distributions over 16 places."""
    x = convolution(w, convolution(w, "x", 3, 16, 3, 2, act="silu"), 16, 32, 3, 2, act="silu")
    fine = convolution(w, x, 32, 64, 3, 2, act="silu")
    coarse = convolution(w, fine, 64, 128, 3, 2, act="silu")
    made = []
    for each, channels, count in ((fine, 64, 576), (coarse, 128, 144)):
        boxes = convolution(w, convolution(w, convolution(w, each, channels, 64, 3, act="silu"), 64, 64, 3, act="silu"), 64, 64, act=None)
        kinds = convolution(w, convolution(w, convolution(w, each, channels, 80, 3, act="silu"), 80, 80, 3, act="silu"), 80, 80, act=None)
        made.append(shaped(w, w.node("Concat", boxes, kinds, axis=1), 1, 144, count))
    x = w.node("Concat", *made, axis=2)
    boxes, kinds = part(w, x, 0, 64, 1), part(w, x, 64, 144, 1)
    y = w.node("Softmax", turned(w, shaped(w, boxes, 1, 4, 16, 720), 0, 2, 1, 3), axis=1)
    y = w.node("Conv", y, w.given(numpy.arange(16, dtype=numpy.float32).reshape(1, 16, 1, 1)), kernel_shape=[1, 1])
    y = shaped(w, y, 1, 4, 720)
    near, far = part(w, y, 0, 2, 1), part(w, y, 2, 4, 1)
    places = w.constant(1, 2, 720)
    near, far = w.node("Sub", places, near), w.node("Add", places, far)
    middle = w.node("Div", w.node("Add", near, far), w.given(numpy.float32(2)))
    boxes = w.node("Mul", w.node("Concat", middle, w.node("Sub", far, near), axis=1), w.given(numpy.full((1, 720), 8, numpy.float32)))
    return w.node("Concat", boxes, w.node("Sigmoid", kinds), axis=1)


def boxes_of_depths(w):
    """SSDLite: heads of several depths, laid out place by place and joined."""
    x = convolution(w, "x", 3, 32, 3, 2, act=None)
    x, channels = inverted_blocks(w, clipped(w, x), 32, [(3, 32, 16, 1, False, "Relu"), (3, 96, 24, 2, False, "Relu"), (3, 144, 32, 2, False, "Relu"),
                                                         (3, 192, 64, 2, False, "Relu")])
    made, side = [], 10
    for wide in (64, 128, 96):
        if wide != 64:
            x = convolution(w, convolution(w, x, channels, wide // 2), wide // 2, wide // 2, 3, 2, wide // 2)
            x, channels, side = convolution(w, x, wide // 2, wide), wide, (side + 1) // 2
        y = convolution(w, x, channels, channels, 3, 1, channels, None)
        kinds = turned(w, convolution(w, clipped(w, y), channels, 6 * 21, act=None), 0, 2, 3, 1)
        made.append(shaped(w, kinds, 1, side * side * 6, 21))
    return w.node("Softmax", w.node("Concat", *made, axis=1), axis=2)


def blaze(w):
    """BlazeFace: 5x5 depthwise, skips pooled and padded with channels."""
    x, channels = convolution(w, "x", 3, 24, 5, 2), 24
    for made, stride in ((24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2), (56, 1), (64, 1), (88, 2), (96, 1)):
        y = convolution(w, convolution(w, x, channels, channels, 5 if stride == 1 else 3, stride, channels, None), channels, made, act=None)
        skip = pooled(w, x, 2, 2, 0) if stride == 2 else x
        if made > channels:
            skip = w.node("Pad", skip, integers(w, 0, 0, 0, 0, 0, made - channels, 0, 0))
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    kinds = shaped(w, turned(w, convolution(w, x, 96, 6, act=None), 0, 2, 3, 1), 1, 384, 1)
    boxes = shaped(w, turned(w, convolution(w, x, 96, 96, act=None), 0, 2, 3, 1), 1, 384, 16)
    return w.node("Concat", kinds, boxes, axis=2)


def old_mobile_v3(w):
    """MobileNetV3 as PyTorch exported it before HardSwish."""
    x = hard_swish(w, convolution(w, "x", 3, 16, 3, 2, act=None))
    channels = 16
    for kernel, wide, made, stride, gated in ((3, 64, 24, 2, False), (3, 72, 24, 1, False), (5, 72, 40, 2, True), (5, 120, 40, 1, True), (3, 240, 80, 2, False)):
        y = hard_swish(w, convolution(w, x, channels, wide, act=None))
        y = hard_swish(w, convolution(w, y, wide, wide, kernel, stride, wide, None))
        if gated:
            z = convolution(w, convolution(w, w.node("GlobalAveragePool", y), wide, wide // 4), wide // 4, wide, act=None)
            z = w.node("Clip", w.node("Add", z, w.given(numpy.float32(3))), w.given(numpy.float32(0)), w.given(numpy.float32(6)))
            y = w.node("Mul", y, w.node("Div", z, w.given(numpy.float32(6))))
        y = convolution(w, y, wide, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and made == channels else y, made
    return classified(w, hard_swish(w, convolution(w, x, channels, 480, act=None)), 480)


def recurrent(w, kind, x, depth, hidden, gates):
    weights = [w.constant(1, gates * hidden, each, scale=hidden**-0.5) for each in (depth, hidden)]
    y = w.node(kind, x, *weights, w.constant(1, 2 * gates * hidden, scale=0.1), hidden_size=hidden)
    return w.node("Squeeze", y, integers(w, 1))


def spotted(w):
    """Keywords by two LSTM layers."""
    x = recurrent(w, "LSTM", recurrent(w, "LSTM", "x", 40, 64, 4), 64, 64, 4)
    x = w.node("Gather", x, w.given(numpy.array(-1, numpy.int64)), axis=0)
    return w.node("Softmax", w.product(x, 64, 12), axis=-1)


def noise(w):
    """RNNoise: a mask for each band, by GRUs."""
    x = w.node("Tanh", w.product("x", 42, 24))
    y = recurrent(w, "GRU", x, 24, 48, 3)
    y = recurrent(w, "GRU", w.node("Concat", y, x, axis=2), 72, 96, 3)
    return w.node("Sigmoid", w.product(y, 96, 22))


def strided(w, x, channels, made, kernel, stride):
    return w.node("Conv", x, w.constant(made, channels, kernel), kernel_shape=[kernel], strides=[stride])


def waves(w, width=128):
    """wav2vec 2.0: strided convolutions along sound, positions by a grouped one, attention."""
    x = w.node("InstanceNormalization", strided(w, "x", 1, width, 10, 5), w.given(numpy.ones(width, numpy.float32)), w.given(numpy.zeros(width, numpy.float32)))
    x = gelu(w, x)
    for kernel in (3, 3, 2):
        x = gelu(w, strided(w, x, width, width, kernel, 2))
    count = 99
    x = w.product(w.normalized(turned(w, x, 0, 2, 1), width), width, 192)
    y = w.node("Conv", turned(w, x, 0, 2, 1), w.constant(192, 12, 16), w.constant(192, scale=0.1), kernel_shape=[16], pads=[8, 8], group=16)
    y = gelu(w, part(w, y, 0, count, 2))
    x = w.normalized(w.node("Add", x, turned(w, y, 0, 2, 1)), 192)
    x = w.normalized(w.node("Add", x, attended(w, x, count, 192, 4)), 192)
    x = w.normalized(w.node("Add", x, w.product(gelu(w, w.product(x, 192, 768)), 768, 192)), 192)
    return w.product(x, 192, 32)


def vocoder(w):
    """HiFi-GAN: sound twice and twice as long, dilated convolutions along it."""
    x, channels = w.node("Conv", "x", w.constant(128, 80, 7), w.constant(128, scale=0.1), kernel_shape=[7], pads=[3, 3]), 128
    for made, scale in ((64, 8), (32, 4)):
        x = w.node("ConvTranspose", w.node("LeakyRelu", x, alpha=0.1), w.constant(channels, made, 2 * scale), w.constant(made, scale=0.1),
                   kernel_shape=[2 * scale], strides=[scale], pads=[scale // 2] * 2)
        channels = made
        for dilation in (1, 3):
            y = w.node("Conv", w.node("LeakyRelu", x, alpha=0.1), w.constant(made, made, 3), kernel_shape=[3], pads=[dilation] * 2, dilations=[dilation])
            x = w.node("Add", x, w.node("Conv", w.node("LeakyRelu", y, alpha=0.1), w.constant(made, made, 3), kernel_shape=[3], pads=[1, 1]))
    return w.node("Tanh", w.node("Conv", w.node("LeakyRelu", x), w.constant(1, 32, 7), kernel_shape=[7], pads=[3, 3]))


FITS = {"anchored": (anchored, [1, 3, 192, 192]), "distributions": (distributions, [1, 3, 192, 192]),
               "boxes_of_depths": (boxes_of_depths, [1, 3, 160, 160]), "blaze": (blaze, [1, 3, 128, 128]),
               "old_mobile_v3": (old_mobile_v3, [1, 3, 160, 160]), "spotted": (spotted, [25, 1, 40]), "noise": (noise, [16, 1, 42]),
               "waves": (waves, [1, 1, 4000]), "vocoder": (vocoder, [1, 80, 32])}
