"""More such networks, which nobody looked into: opened for the first time when the work after phones.py was done."""

import numpy

from deployed import attended, convolution, excited, integers, inverted_blocks, part, pooled, resized, shaped, turned
from models import classified, gelu
from novel import crossed_heads, prelu
from phones import recurrent


def nested(w):
    """U2-Net: a small U-Net in place of each layer, its depth dilated."""
    def block(x, channels, wide, made):
        first = convolution(w, x, channels, made, 3)
        down = convolution(w, first, made, wide, 3)
        deep = convolution(w, pooled(w, down, 2, 2, 0), wide, wide, 3)
        deepest = convolution(w, deep, wide, wide, 3, dilation=2)
        y = convolution(w, w.node("Concat", deepest, deep, axis=1), 2 * wide, wide, 3)
        y = convolution(w, w.node("Concat", resized(w, y, 2, "linear"), down, axis=1), 2 * wide, made, 3)
        return w.node("Add", y, first)

    fine = block("x", 3, 16, 32)
    coarse = block(pooled(w, fine, 2, 2, 0), 32, 32, 64)
    x = block(w.node("Concat", resized(w, coarse, 2, "linear"), fine, axis=1), 96, 16, 32)
    scores = [convolution(w, x, 32, 1, 3, act=None), resized(w, convolution(w, coarse, 64, 1, 3, act=None), 2, "linear")]
    return w.node("Sigmoid", convolution(w, w.node("Concat", *scores, axis=1), 2, 1, act=None))


def portrait(w):
    """MediaPipe's selfies: hard swish, gates of skips, transposed convolutions of two by two."""
    x, channels, skips = convolution(w, "x", 3, 16, 3, 2, act="HardSwish"), 16, []
    skips.append((x, 16))
    for blocks in ([(3, 16, 16, 2, True, "Relu")], [(3, 72, 24, 2, False, "Relu"), (3, 88, 24, 1, False, "Relu")], [(5, 96, 32, 2, True, "HardSwish")]):
        x, channels = inverted_blocks(w, x, channels, blocks)
        skips.append((x, channels))
    for skip, made in skips[2::-1]:
        x = w.node("Add", convolution(w, resized(w, x, 2, "linear"), channels, made), skip)
        x = convolution(w, x, made, made, 3, group=made) if made > 16 else convolution(w, excited(w, x, made), made, made)
        channels = made
    return w.node("Sigmoid", w.node("ConvTranspose", x, w.constant(16, 1, 2, 2), w.constant(1), kernel_shape=[2, 2], strides=[2, 2]))


def joiner(w, rows=48, width=256):
    """A transducer: each place of sound with each symbol."""
    x = w.product(w.normalized("x", width), width, 320)
    x = w.node("Add", w.node("Unsqueeze", x, integers(w, 2)), w.constant(1, 1, 8, 320))
    return w.node("LogSoftmax", w.product(w.node("Tanh", x), 320, 256), axis=-1)


def dense_depth(w, width=192):
    """Depth Anything: a vision transformer whose tokens become images again."""
    x = w.node("Conv", "x", w.constant(width, 3, 14, 14), w.constant(width, scale=0.1), kernel_shape=[14, 14], strides=[14, 14])
    x = w.node("Add", turned(w, shaped(w, x, 1, width, 144), 0, 2, 1), w.constant(1, 144, width, scale=0.1))
    levels = []
    for _ in range(2):
        x = w.node("Add", x, attended(w, w.normalized(x, width), 144, width, 3))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
        levels.append(shaped(w, turned(w, x, 0, 2, 1), 1, width, 12, 12))
    fine = w.node("ConvTranspose", convolution(w, levels[0], width, 48, act=None), w.constant(48, 48, 4, 4), kernel_shape=[4, 4], strides=[4, 4])
    coarse = w.node("ConvTranspose", convolution(w, levels[1], width, 96, act=None), w.constant(96, 96, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    x = convolution(w, coarse, 96, 64, 3, act=None)
    x = w.node("Add", resized(w, x, 2, "linear"), convolution(w, fine, 48, 64, 3, act=None))
    y = convolution(w, w.node("Relu", convolution(w, w.node("Relu", x), 64, 64, 3, act=None)), 64, 64, 3, act=None)
    return convolution(w, convolution(w, resized(w, w.node("Add", x, y), 2, "linear"), 64, 32, 3), 32, 1)


def two_ways(w, width=256, count=256):
    """SAM's decoder: few tokens and an image's places look at each other, masks as products of both."""
    image = turned(w, shaped(w, convolution(w, "x", 256, width, act=None), 1, width, count), 0, 2, 1)
    tokens = w.constant(1, 7, width)
    for _ in range(2):
        tokens = w.normalized(w.node("Add", tokens, attended(w, tokens, 7, width, 8)), width)
        tokens = w.normalized(w.node("Add", tokens, crossed_heads(w, tokens, image, 7, count, width, 8)), width)
        tokens = w.normalized(w.node("Add", tokens, w.product(w.node("Relu", w.product(tokens, width, 512)), 512, width)), width)
        image = w.normalized(w.node("Add", image, crossed_heads(w, image, tokens, count, 7, width, 8)), width)
    x = shaped(w, turned(w, image, 0, 2, 1), 1, width, 16, 16)
    x = gelu(w, w.node("ConvTranspose", x, w.constant(width, 64, 2, 2), kernel_shape=[2, 2], strides=[2, 2]))
    x = gelu(w, w.node("ConvTranspose", x, w.constant(64, 32, 2, 2), kernel_shape=[2, 2], strides=[2, 2]))
    masks = w.product(w.node("Relu", w.product(part(w, tokens, 1, 5, 1), width, width)), width, 32)
    return shaped(w, w.node("MatMul", masks, shaped(w, x, 1, 32, 4096)), 1, 4, 64, 64)


def anomalies(w):
    """MLPerf Tiny's autoencoder."""
    x, depth = "x", 640
    for columns in (128, 128, 128, 8, 128, 128, 128):
        x, depth = w.node("Relu", w.product(x, depth, columns)), columns
    return w.product(x, 128, 640)


def enlarged(w):
    """FSRCNN: a transposed convolution of 9 by 9 makes the image three times as large."""
    x = prelu(w, convolution(w, "x", 1, 56, 5, act=None), 56)
    x = prelu(w, convolution(w, x, 56, 12, act=None), 12)
    for _ in range(4):
        x = prelu(w, convolution(w, x, 12, 12, 3, act=None), 12)
    x = prelu(w, convolution(w, x, 12, 56, act=None), 56)
    return w.node("ConvTranspose", x, w.constant(56, 1, 9, 9), w.constant(1), kernel_shape=[9, 9], strides=[3, 3], pads=[3] * 4, output_padding=[0, 0])


def pico(w):
    """PicoDet and NanoDet: a neck and heads of 5 by 5 depthwise convolutions."""
    def separable(x, channels, made, stride=1):
        return convolution(w, convolution(w, x, channels, channels, 5, stride, channels, "HardSwish"), channels, made, act="HardSwish")

    x = pooled(w, convolution(w, "x", 3, 24, 3, 2, act="HardSwish"), 3, 2, 1)
    fine = separable(x, 24, 96, 2)
    coarse = separable(fine, 96, 96, 2)
    y = separable(w.node("Concat", resized(w, coarse), fine, axis=1), 192, 96)
    z = separable(w.node("Concat", separable(y, 96, 96, 2), coarse, axis=1), 192, 96)
    made = [turned(w, shaped(w, convolution(w, separable(each, 96, 96), 96, 112, act="Sigmoid"), 1, 112, count), 0, 2, 1)
            for each, count in ((y, 400), (z, 100))]
    return w.node("Concat", *made, axis=1)


def thumbnails(w):
    """MLPerf Tiny's ResNet-8."""
    x, channels = convolution(w, "x", 3, 16, 3), 16
    for made, stride in ((16, 1), (32, 2), (64, 2)):
        y = convolution(w, convolution(w, x, channels, made, 3, stride), made, made, 3, act=None)
        x = w.node("Relu", w.node("Add", y, x if stride == 1 else convolution(w, x, channels, made, 1, stride, act=None)))
        channels = made
    x = w.node("Flatten", w.node("AveragePool", x, kernel_shape=[8, 8], strides=[8, 8]))
    return w.node("Softmax", w.node("Gemm", x, w.constant(10, 64), w.constant(10), transB=1))


def universal(w):
    """MobileNetV4: depthwise convolutions before and in the middle of blocks."""
    x, channels = convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 48, 3, 2), 48
    for first, wide, middle, made, stride in ((5, 192, 5, 64, 2), (0, 256, 3, 64, 1), (3, 256, 0, 64, 1), (3, 384, 3, 96, 2), (0, 384, 3, 96, 1)):
        y = convolution(w, x, channels, channels, first, stride if not middle else 1, channels, None) if first else x
        y = convolution(w, y, channels, wide)
        y = convolution(w, y, wide, wide, middle, stride, wide) if middle else y
        y = convolution(w, y, wide, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and made == channels else y, made
    return classified(w, convolution(w, x, channels, 480), 480)


def persons(w):
    """MLPerf Tiny's visual wake words: a quarter of MobileNet."""
    x, channels = convolution(w, "x", 3, 8, 3, 2), 8
    for made, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (256, 2), (256, 1)):
        x = convolution(w, convolution(w, x, channels, channels, 3, stride, channels), channels, made)
        channels = made
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    return w.node("Softmax", w.node("Gemm", x, w.constant(2, 256), w.constant(2), transB=1))


def lines(w):
    """CRNN with its recurrent layer."""
    x, channels = "x", 1
    for made, pool in ((32, (2, 2)), (64, (2, 2)), (128, (2, 1)), (128, (4, 1))):
        x, channels = convolution(w, x, channels, made, 3), made
        x = w.node("MaxPool", x, kernel_shape=list(pool), strides=list(pool))
    x = turned(w, shaped(w, x, 1, 128, 32), 2, 0, 1)
    return w.node("Softmax", w.product(recurrent(w, "LSTM", x, 128, 64, 4), 64, 40), axis=-1)


PREDICTIONS = {"nested": (nested, [1, 3, 96, 96]), "portrait": (portrait, [1, 3, 128, 128]), "joiner": (joiner, [1, 48, 256]),
               "dense_depth": (dense_depth, [1, 3, 168, 168]), "two_ways": (two_ways, [1, 256, 16, 16]), "anomalies": (anomalies, [1, 640]),
               "enlarged": (enlarged, [1, 1, 72, 72]), "pico": (pico, [1, 3, 160, 160]), "thumbnails": (thumbnails, [1, 3, 32, 32]),
               "universal": (universal, [1, 3, 160, 160]), "persons": (persons, [1, 3, 96, 96]), "lines": (lines, [1, 1, 32, 128])}
