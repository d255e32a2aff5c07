"""Networks of kinds that the others have none of: recorded first, then the figures were taken from how they are compiled."""

import numpy

from deployed import activated, attended, convolution, excited, inverted_blocks, shaped, turned
from models import classified, gelu


def regular(w):
    """RegNetY: groups of one width, gated."""
    x, channels = convolution(w, "x", 3, 32, 3, 2), 32
    for made, count in ((48, 1), (104, 2), (208, 2)):
        for i in range(count):
            stride = 2 if i == 0 else 1
            y = convolution(w, convolution(w, x, channels, made), made, made, 3, stride, made // 8)
            y = convolution(w, excited(w, y, made), made, made, act=None)
            skip = x if i else convolution(w, x, channels, made, 1, 2, act=None)
            x, channels = w.node("Relu", w.node("Add", y, skip)), made
    return classified(w, x, channels)


def pooled_tokens(w):
    """EfficientFormer: pooling in place of attention, which the last stage has."""
    def narrow_and_wide(x, channels):
        y = convolution(w, convolution(w, x, channels, 4 * channels, act="gelu"), 4 * channels, channels, act=None)
        return w.node("Add", x, y)

    x = convolution(w, convolution(w, "x", 3, 24, 3, 2), 24, 48, 3, 2)
    for channels, made in ((48, 96), (96, 224), (224, 224)):
        for _ in range(2 if channels < 224 else 0):
            y = w.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4, count_include_pad=1)
            x = narrow_and_wide(w.node("Add", x, w.node("Sub", y, x)), channels)
        x = convolution(w, x, channels, made, 3, 2, act=None)
    x = turned(w, shaped(w, x, 1, 224, 49), 0, 2, 1)
    x = w.node("Add", x, attended(w, w.normalized(x, 224), 49, 224, 7))
    x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, 224), 224, 896)), 896, 224))
    x = w.node("ReduceMean", w.normalized(x, 224), axes=[1], keepdims=0)
    return w.node("Gemm", x, w.constant(1000, 224), w.constant(1000, scale=0.1), transB=1)


def crossed_heads(w, x, memory, rows, count, width, heads):
    depth = width // heads
    q = turned(w, shaped(w, w.product(x, width, width), 1, rows, heads, depth), 0, 2, 1, 3)
    k = turned(w, shaped(w, w.product(memory, width, width), 1, count, heads, depth), 0, 2, 3, 1)
    v = turned(w, shaped(w, w.product(memory, width, width), 1, count, heads, depth), 0, 2, 1, 3)
    scores = w.node("Softmax", w.node("Mul", w.node("MatMul", q, k), w.given(numpy.float32(depth**-0.5))), axis=-1)
    return w.product(shaped(w, turned(w, w.node("MatMul", scores, v), 0, 2, 1, 3), 1, rows, width), width, width)


def transformer_detector(w, width=128, heads=4):
    """RT-DETR: attention over the coarsest image, a neck, queries that look at all of it."""
    x = convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3, 2)
    fine = convolution(w, convolution(w, x, 64, 128, 3, 2), 128, width, act=None)
    coarse = turned(w, shaped(w, convolution(w, convolution(w, fine, width, 192, 3, 2), 192, width, act=None), 1, width, 196), 0, 2, 1)
    coarse = w.normalized(w.node("Add", coarse, attended(w, coarse, 196, width, heads)), width)
    y = w.product(gelu(w, w.product(coarse, width, 512)), 512, width)
    coarse = w.normalized(w.node("Add", coarse, y), width)
    up = w.node("Resize", shaped(w, turned(w, coarse, 0, 2, 1), 1, width, 14, 14), "", w.given(numpy.array([1, 1, 2, 2], numpy.float32)),
                mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    fine = convolution(w, convolution(w, w.node("Concat", up, fine, axis=1), 2 * width, width, act="silu"), width, width, 3, act="silu")
    memory = w.node("Concat", coarse, turned(w, shaped(w, fine, 1, width, 784), 0, 2, 1), axis=1)
    queries = w.node("Add", w.constant(1, 100, width, scale=0.5), w.product(w.node("ReduceMean", coarse, axes=[1], keepdims=1), width, width))
    for _ in range(2):
        queries = w.normalized(w.node("Add", queries, attended(w, queries, 100, width, heads)), width)
        queries = w.normalized(w.node("Add", queries, crossed_heads(w, queries, memory, 100, 980, width, heads)), width)
        y = w.product(w.node("Relu", w.product(queries, width, 256)), 256, width)
        queries = w.normalized(w.node("Add", queries, y), width)
    return w.node("Concat", w.product(queries, width, 80), w.node("Sigmoid", w.product(queries, width, 4)), axis=-1)


def upscaled(w):
    """Of a camera's preview, three times as large (XLSR, FSRCNN)."""
    x = first = prelu(w, convolution(w, "x", 3, 32, 3, act=None), 32)
    for _ in range(4):
        x = prelu(w, convolution(w, x, 32, 32, 3, act=None), 32)
    x = convolution(w, w.node("Concat", x, first, axis=1), 64, 32)
    x = convolution(w, x, 32, 27, 3, act=None)
    return w.node("Clip", w.node("DepthToSpace", x, blocksize=3, mode="DCR"), w.given(numpy.float32(0)), w.given(numpy.float32(1)))


def prelu(w, x, channels):
    return w.node("PRelu", x, w.constant(channels, 1, 1, scale=0.25))


def keywords(w):
    """DS-CNN of MLPerf Tiny."""
    x = w.node("Conv", "x", w.constant(64, 1, 10, 4), w.constant(64, scale=0.1), kernel_shape=[10, 4], pads=[4, 1, 5, 1], strides=[2, 2])
    x = w.node("Relu", x)
    for _ in range(4):
        x = convolution(w, convolution(w, x, 64, 64, 3, group=64), 64, 64)
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    return w.node("Softmax", w.node("Gemm", x, w.constant(12, 64), w.constant(12, scale=0.1), transB=1))


def landmarks(w):
    """PFLD and MobileFaceNet: PRelu, depthwise down to one place."""
    x = prelu(w, convolution(w, "x", 3, 64, 3, 2, act=None), 64)
    x, channels = prelu(w, convolution(w, x, 64, 64, 3, group=64, act=None), 64), 64
    for wide, made, stride in ((128, 64, 2), (128, 64, 1), (128, 64, 1), (256, 128, 2), (256, 128, 1), (256, 128, 2)):
        y = prelu(w, convolution(w, x, channels, wide, act=None), wide)
        y = prelu(w, convolution(w, y, wide, wide, 3, stride, wide, None), wide)
        y = convolution(w, y, wide, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and channels == made else y, made
    x = prelu(w, convolution(w, x, 128, 256, act=None), 256)
    x = w.node("Conv", x, w.constant(256, 1, 7, 7), w.constant(256, scale=0.1), kernel_shape=[7, 7], group=256)
    return w.node("Gemm", w.node("Flatten", x), w.constant(212, 256), w.constant(212, scale=0.1), transB=1)


def root_mean(w, x, channels):
    mean = w.node("ReduceMean", w.node("Mul", x, x), axes=[-1], keepdims=1)
    y = w.node("Div", x, w.node("Sqrt", w.node("Add", mean, w.given(numpy.float32(1e-5)))))
    return w.node("Mul", y, w.given(numpy.linspace(0.8, 1.2, channels, dtype=numpy.float32)))


def rotated(w, x, rows, depth):
    angles = numpy.outer(numpy.arange(rows), 10000 ** (-numpy.arange(0, depth, 2) / depth))
    cosine, sine = (w.given(numpy.concatenate([f(angles)] * 2, axis=-1).astype(numpy.float32)) for f in (numpy.cos, numpy.sin))
    halves = [w.node("Slice", x, *(w.given(numpy.array([i], numpy.int64)) for i in (at, at + depth // 2, 3))) for at in (0, depth // 2)]
    turned_half = w.node("Concat", w.node("Neg", halves[1]), halves[0], axis=-1)
    return w.node("Add", w.node("Mul", x, cosine), w.node("Mul", turned_half, sine))


def prompt(w, rows=64, width=384, heads=6):
    """Two layers of Llama over a prompt."""
    x, depth = "x", width // heads
    mask = w.given(numpy.triu(numpy.full((rows, rows), -100, numpy.float32), 1))
    for _ in range(2):
        y = root_mean(w, x, width)
        q, k, v = (turned(w, shaped(w, w.product(y, width, width, False), 1, rows, heads, depth), 0, 2, 1, 3) for _ in range(3))
        k = turned(w, rotated(w, k, rows, depth), 0, 1, 3, 2)
        scores = w.node("Mul", w.node("MatMul", rotated(w, q, rows, depth), k), w.given(numpy.float32(depth**-0.5)))
        y = w.node("MatMul", w.node("Softmax", w.node("Add", scores, mask), axis=-1), v)
        x = w.node("Add", x, w.product(shaped(w, turned(w, y, 0, 2, 1, 3), 1, rows, width), width, width, False))
        y = root_mean(w, x, width)
        gate = activated(w, w.product(y, width, 1024, False), "silu")
        x = w.node("Add", x, w.product(w.node("Mul", gate, w.product(y, width, 1024, False)), 1024, width, False))
    return root_mean(w, x, width)


def long_vision(w, width=128, heads=2, count=400):
    """ViT of 20 by 20 patches and a class token."""
    x = w.node("Conv", "x", w.constant(width, 3, 16, 16), w.constant(width, scale=0.1), kernel_shape=[16, 16], strides=[16, 16])
    x = turned(w, shaped(w, x, 1, width, count), 0, 2, 1)
    x = w.node("Add", w.node("Concat", w.constant(1, 1, width, scale=0.1), x, axis=1), w.constant(1, count + 1, width, scale=0.1))
    for _ in range(2):
        x = w.node("Add", x, attended(w, w.normalized(x, width), count + 1, width, heads))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    x = w.node("Gather", w.normalized(x, width), w.given(numpy.array(0, numpy.int64)), axis=1)
    return w.node("Gemm", x, w.constant(1000, width), w.constant(1000, scale=0.1), transB=1)


def transposed(w, x, channels, scale):
    return w.node("ConvTranspose", x, w.constant(channels, channels, 2 * scale, 2 * scale), kernel_shape=[2 * scale] * 2,
                  strides=[scale] * 2, pads=[scale // 2] * 4)


def fully_convolutional(w):
    """FCN-8s: scores of three depths, added as they grow."""
    x, channels, scores = "x", 3, []
    for made in (32, 64, 96, 128, 192):
        x, channels = convolution(w, x, channels, made, 3), made
        x = w.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        scores.append((x, made))
    y = convolution(w, x, 192, 21, act=None)
    for each, made in (scores[3], scores[2]):
        y = w.node("Add", transposed(w, y, 21, 2), convolution(w, each, made, 21, act=None))
    return transposed(w, y, 21, 8)


def recogniser(w):
    """CRNN without its recurrent layers: a line of text to one of 96 characters for each column."""
    x, channels = "x", 1
    for made, pool in ((32, (2, 2)), (64, (2, 2)), (128, (2, 1)), (192, (2, 1))):
        x, channels = convolution(w, x, channels, made, 3), made
        x = w.node("MaxPool", x, kernel_shape=list(pool), strides=list(pool))
    x = w.node("Relu", w.node("Conv", x, w.constant(256, 192, 2, 1), w.constant(256, scale=0.1), kernel_shape=[2, 1]))
    x = turned(w, shaped(w, x, 1, 256, 64), 0, 2, 1)
    return w.node("Softmax", w.product(w.node("Relu", w.product(x, 256, 256)), 256, 96), axis=-1)


FITS = {"regular": (regular, [1, 3, 192, 192]), "pooled_tokens": (pooled_tokens, [1, 3, 224, 224]),
        "transformer_detector": (transformer_detector, [1, 3, 224, 224]), "upscaled": (upscaled, [1, 3, 96, 128]),
        "keywords": (keywords, [1, 1, 49, 10]), "landmarks": (landmarks, [1, 3, 112, 112]), "prompt": (prompt, [1, 64, 384]),
        "long_vision": (long_vision, [1, 3, 320, 320]), "fully_convolutional": (fully_convolutional, [1, 3, 160, 160]),
        "recogniser": (recogniser, [1, 1, 32, 256])}
