"""Networks that were opened for the first time when the operators of novel.py had been taken anew; nobody looked at how they are
compiled."""

import numpy

from deployed import attended, convolution, excited, part, pooled, resized, shaped, turned
from models import classified, gelu


def split_channels(w):
    """ShuffleNetV2: half of the channels pass, the others are worked on, both are dealt anew."""
    def dealt(x, channels, extent):
        return shaped(w, turned(w, shaped(w, x, 1, 2, channels // 2, extent, extent), 0, 2, 1, 3, 4), 1, channels, extent, extent)

    x = pooled(w, convolution(w, "x", 3, 24, 3, 2), 3, 2, 1)
    channels, extent = 24, 48
    for made in (64, 128):
        side = convolution(w, convolution(w, x, channels, channels, 3, 2, channels, None), channels, made // 2)
        y = convolution(w, convolution(w, x, channels, made // 2), made // 2, made // 2, 3, 2, made // 2, None)
        channels, extent = made, extent // 2
        x = dealt(w.node("Concat", side, convolution(w, y, made // 2, made // 2), axis=1), channels, extent)
        for _ in range(2):
            y = convolution(w, part(w, x, channels // 2, channels, 1), channels // 2, channels // 2)
            y = convolution(w, convolution(w, y, channels // 2, channels // 2, 3, 1, channels // 2, None), channels // 2, channels // 2)
            x = dealt(w.node("Concat", part(w, x, 0, channels // 2, 1), y, axis=1), channels, extent)
    return classified(w, convolution(w, x, channels, 256), 256)


def separated(w):
    """Xception."""
    x, channels = convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3), 64
    for made in (128, 256):
        y = convolution(w, convolution(w, x, channels, channels, 3, group=channels, act=None), channels, made)
        y = pooled(w, convolution(w, convolution(w, y, made, made, 3, group=made, act=None), made, made, act=None), 3, 2, 1)
        x, channels = w.node("Add", y, convolution(w, x, channels, made, 1, 2, act=None)), made
    return classified(w, w.node("Relu", x), channels)


def gated_skips(w):
    """U-Net whose skips are gated by what comes up."""
    x, channels, skips = "x", 3, []
    for made in (32, 64, 128):
        x = convolution(w, convolution(w, x, channels, made, 3), made, made, 3)
        channels = made
        skips.append(x)
        x = pooled(w, x, 2, 2, 0)
    x = convolution(w, x, 128, 128, 3)
    for skip, made in zip(skips[::-1], (128, 64, 32)):
        x = convolution(w, resized(w, x), channels, made, 3)
        channels = made
        gate = w.node("Relu", w.node("Add", convolution(w, x, made, made // 2, act=None), convolution(w, skip, made, made // 2, act=None)))
        skip = w.node("Mul", skip, convolution(w, gate, made // 2, 1, act="Sigmoid"))
        x = convolution(w, w.node("Concat", skip, x, axis=1), 2 * made, made, 3)
    return convolution(w, x, 32, 1, act="Sigmoid")


def centres(w):
    """CenterNet: transposed convolutions, a head each for heat, size and offset."""
    x, channels = "x", 3
    for made in (32, 64, 128, 256):
        x, channels = convolution(w, x, channels, made, 3, 2), made
        x = w.node("Relu", w.node("Add", x, convolution(w, convolution(w, x, made, made, 3), made, made, 3, act=None)))
    for made in (128, 64):
        x = w.node("Relu", w.node("ConvTranspose", x, w.constant(channels, made, 4, 4), kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4))
        channels = made
    heads = [convolution(w, convolution(w, x, 64, 64, 3), 64, made, act=act) for made, act in ((20, "Sigmoid"), (2, None), (2, None))]
    return w.node("Concat", *heads, axis=1)


def caption(w, rows=77, width=256, heads=4):
    """CLIP's text encoder: a causal mask, x * Sigmoid(1.702 x)."""
    x, depth = w.node("Add", "x", w.constant(1, rows, width, scale=0.1)), width // heads
    mask = w.given(numpy.triu(numpy.full((rows, rows), -100, numpy.float32), 1))
    for _ in range(2):
        y = w.normalized(x, width)
        q, k, v = (shaped(w, w.product(y, width, width), 1, rows, heads, depth) for _ in range(3))
        q, v = turned(w, q, 0, 2, 1, 3), turned(w, v, 0, 2, 1, 3)
        scores = w.node("Mul", w.node("MatMul", q, turned(w, k, 0, 2, 3, 1)), w.given(numpy.float32(depth**-0.5)))
        y = turned(w, w.node("MatMul", w.node("Softmax", w.node("Add", scores, mask), axis=-1), v), 0, 2, 1, 3)
        x = w.node("Add", x, w.product(shaped(w, y, 1, rows, width), width, width))
        y = w.product(w.normalized(x, width), width, 4 * width)
        y = w.node("Mul", y, w.node("Sigmoid", w.node("Mul", y, w.given(numpy.float32(1.702)))))
        x = w.node("Add", x, w.product(y, 4 * width, width))
    return w.normalized(x, width)


def denoised(w):
    """DnCNN: noise of one channel, taken off."""
    x = convolution(w, "x", 1, 48, 3)
    for _ in range(5):
        x = convolution(w, x, 48, 48, 3)
    return w.node("Sub", "x", convolution(w, x, 48, 1, 3, act=None))


def styled(w):
    """Style transfer: instance normalisation, resized instead of transposed convolutions."""
    def norm(x, channels):
        return w.node("InstanceNormalization", x, w.given(numpy.ones(channels, numpy.float32)), w.given(numpy.zeros(channels, numpy.float32)))

    x = w.node("Relu", norm(convolution(w, "x", 3, 32, 3, act=None), 32))
    x = w.node("Relu", norm(convolution(w, x, 32, 64, 3, 2, act=None), 64))
    for _ in range(2):
        y = w.node("Relu", norm(convolution(w, x, 64, 64, 3, act=None), 64))
        x = w.node("Add", x, norm(convolution(w, y, 64, 64, 3, act=None), 64))
    x = w.node("Relu", norm(convolution(w, resized(w, x), 64, 32, 3, act=None), 32))
    return convolution(w, x, 32, 3, 3, act="Tanh")


def unfolded(w, width=96, side=16):
    """MobileViT: attention over places a patch apart, between convolutions."""
    x = convolution(w, convolution(w, "x", 3, 32, 3, 2, act="silu"), 32, 64, 3, 2, act="silu")
    x = excited(w, convolution(w, x, 64, 64, 3, 2, 64, "silu"), 64)
    y = convolution(w, convolution(w, x, 64, 64, 3, act="silu"), 64, width, act=None)
    y = turned(w, shaped(w, y, 1, width, side * side), 0, 2, 1)
    for _ in range(2):
        y = w.node("Add", y, attended(w, w.normalized(y, width), side * side, width, 4))
        z = w.product(w.normalized(y, width), width, 2 * width)
        y = w.node("Add", y, w.product(w.node("Mul", z, w.node("Sigmoid", z)), 2 * width, width))
    y = shaped(w, turned(w, y, 0, 2, 1), 1, width, side, side)
    y = convolution(w, w.node("Concat", x, convolution(w, y, width, 64, act="silu"), axis=1), 128, 64, 3, act="silu")
    return classified(w, convolution(w, y, 64, 256, act="silu"), 256)


# The four below were opened when rows of matrices had been taken anew.


def clip_vision(w, width=192, heads=3, count=50):
    """CLIP's image side: Swish with beta."""
    x = w.node("Conv", "x", w.constant(width, 3, 16, 16), kernel_shape=[16, 16], strides=[16, 16])
    x = turned(w, shaped(w, x, 1, width, count - 1), 0, 2, 1)
    x = w.node("Add", w.node("Concat", w.constant(1, 1, width, scale=0.1), x, axis=1), w.constant(1, count, width, scale=0.1))
    x = w.normalized(x, width)
    for _ in range(2):
        x = w.node("Add", x, attended(w, w.normalized(x, width), count, width, heads))
        y = w.product(w.normalized(x, width), width, 4 * width)
        y = w.node("Mul", y, w.node("Sigmoid", w.node("Mul", y, w.given(numpy.float32(1.702)))))
        x = w.node("Add", x, w.product(y, 4 * width, width))
    x = w.node("Gather", w.normalized(x, width), w.given(numpy.array(0, numpy.int64)), axis=1)
    return w.product(x, width, 128, False)


def decoder(w, rows=12, width=256, heads=4):
    """GPT over a short prompt."""
    mask, depth, x = w.given(numpy.triu(numpy.full((rows, rows), -100, numpy.float32), 1)), width // heads, "x"
    for _ in range(2):
        y = w.normalized(x, width)
        q, k, v = (turned(w, shaped(w, w.product(y, width, width), 1, rows, heads, depth), 0, 2, 1, 3) for _ in range(3))
        scores = w.node("Mul", w.node("MatMul", q, turned(w, k, 0, 1, 3, 2)), w.given(numpy.float32(depth**-0.5)))
        y = w.node("MatMul", w.node("Softmax", w.node("Add", scores, mask), axis=-1), v)
        x = w.node("Add", x, w.product(shaped(w, turned(w, y, 0, 2, 1, 3), 1, rows, width), width, width))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    return w.product(w.normalized(x, width), width, 1024, False)


def reg_net(w):
    x, channels = convolution(w, "x", 3, 32, 3, 2), 32
    for made, stride in ((64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (256, 2)):
        y = convolution(w, convolution(w, x, channels, made), made, made, 3, stride, made // 16)
        y = convolution(w, excited(w, y, made), made, made, act=None)
        skip = x if stride == 1 and channels == made else convolution(w, x, channels, made, 1, stride, act=None)
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    return classified(w, x, channels)


def recommender(w):
    """DLRM's two perceptrons on a batch."""
    x = "x"
    for depth, columns in ((64, 512), (512, 256), (256, 64)):
        x = w.node("Relu", w.product(x, depth, columns))
    x = w.node("Concat", x, "x", axis=-1)
    for depth, columns in ((128, 512), (512, 256)):
        x = w.node("Relu", w.product(x, depth, columns))
    return w.node("Sigmoid", w.product(x, 256, 1))


PREDICTIONS = {"split_channels": (split_channels, [1, 3, 192, 192]), "separated": (separated, [1, 3, 128, 128]),
               "gated_skips": (gated_skips, [1, 3, 96, 96]), "centres": (centres, [1, 3, 192, 192]), "caption": (caption, [1, 77, 256]),
               "denoised": (denoised, [1, 1, 96, 96]), "styled": (styled, [1, 3, 96, 96]), "unfolded": (unfolded, [1, 3, 128, 128]),
               "clip_vision": (clip_vision, [1, 3, 112, 112]), "decoder": (decoder, [1, 12, 256]),
               "reg_net": (reg_net, [1, 3, 160, 160]), "recommender": (recommender, [16, 64])}
