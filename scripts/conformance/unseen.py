"""More networks like those that people deploy, which were recorded before the tiles of HVX and HMX were taken anew, and looked at
only when that was done."""

import numpy

from deployed import attended, convolution, inverted_blocks, part, pooled, resized, shaped, turned
from models import classified, gelu


def bottlenecks(w, x, channels, made, count):
    """Halves that go through residual blocks, all joined again (C2f)."""
    half = made // 2
    y = convolution(w, x, channels, made, act="silu")
    parts = [part(w, y, 0, half, 1), part(w, y, half, made, 1)]
    for _ in range(count):
        z = convolution(w, convolution(w, parts[-1], half, half, 3, act="silu"), half, half, 3, act="silu")
        parts.append(w.node("Add", parts[-1], z))
    return convolution(w, w.node("Concat", *parts, axis=1), (2 + count) * half, made, act="silu")


def pooled_pyramid(w, x, channels):
    """Windows of windows, joined (SPPF)."""
    parts = [convolution(w, x, channels, channels // 2, act="silu")]
    for _ in range(3):
        parts.append(pooled(w, parts[-1], 5, 1, 2))
    return convolution(w, w.node("Concat", *parts, axis=1), 2 * channels, channels, act="silu")


def yolo(w):
    x = convolution(w, convolution(w, "x", 3, 16, 3, 2, act="silu"), 16, 32, 3, 2, act="silu")
    x = bottlenecks(w, x, 32, 32, 1)
    fine = bottlenecks(w, convolution(w, x, 32, 64, 3, 2, act="silu"), 64, 64, 2)
    deep = pooled_pyramid(w, bottlenecks(w, convolution(w, fine, 64, 128, 3, 2, act="silu"), 128, 128, 1), 128)
    x = bottlenecks(w, w.node("Concat", resized(w, deep), fine, axis=1), 192, 64, 1)
    boxes = convolution(w, convolution(w, x, 64, 64, 3, act="silu"), 64, 64, act=None)
    classes = convolution(w, convolution(w, x, 64, 64, 3, act="silu"), 64, 80, act="Sigmoid")
    return w.node("Concat", boxes, classes, axis=1)


def efficient(w):
    x = convolution(w, "x", 3, 32, 3, 2, act="silu")
    x, channels = inverted_blocks(w, x, 32, [(3, 32, 16, 1, True, "silu"), (3, 96, 24, 2, True, "silu"), (3, 144, 24, 1, True, "silu"),
                                             (5, 144, 40, 2, True, "silu"), (5, 240, 40, 1, True, "silu"), (3, 240, 80, 2, True, "silu")])
    return classified(w, convolution(w, x, channels, 320, act="silu"), 320)


def cardinal(w):
    x, channels = pooled(w, convolution(w, "x", 3, 64, 7, 2), 3, 2, 1), 64
    for made, stride in [(256, 1), (256, 1), (512, 2), (512, 1)]:
        y = convolution(w, convolution(w, x, channels, made // 2), made // 2, made // 2, 3, stride, 32)
        y = convolution(w, y, made // 2, made, act=None)
        skip = x if channels == made and stride == 1 else convolution(w, x, channels, made, 1, stride, act=None)
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    return classified(w, x, channels)


def next_convolutions(w):
    def norm(x, channels):
        return turned(w, w.normalized(turned(w, x, 0, 2, 3, 1), channels), 0, 3, 1, 2)

    x = norm(w.node("Conv", "x", w.constant(64, 3, 4, 4), w.constant(64, scale=0.1), kernel_shape=[4, 4], strides=[4, 4]), 64)
    for channels in (64, 128):
        for _ in range(2):
            y = w.normalized(turned(w, convolution(w, x, channels, channels, 7, 1, channels, None), 0, 2, 3, 1), channels)
            y = w.product(gelu(w, w.product(y, channels, 4 * channels)), 4 * channels, channels)
            x = w.node("Add", x, turned(w, y, 0, 3, 1, 2))
        if channels == 64:
            x = w.node("Conv", norm(x, 64), w.constant(128, 64, 2, 2), w.constant(128, scale=0.1), kernel_shape=[2, 2], strides=[2, 2])
    return classified(w, x, 128)


def fused_heads(w, x, rows, width, heads, batch=1):
    """Queries, keys and values of one product."""
    depth = width // heads
    y = turned(w, shaped(w, w.product(x, width, 3 * width), batch, rows, 3, heads, depth), 2, 0, 3, 1, 4)
    q, k, v = (w.node("Gather", y, w.given(numpy.array(i, numpy.int64)), axis=0) for i in range(3))
    scores = w.node("MatMul", w.node("Mul", q, w.given(numpy.float32(depth**-0.5))), turned(w, k, 0, 1, 3, 2))
    y = turned(w, w.node("MatMul", w.node("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
    return w.product(shaped(w, y, batch, rows, width), width, width)


def vision(w, width=192, heads=3):
    x = w.node("Conv", "x", w.constant(width, 3, 16, 16), w.constant(width, scale=0.1), kernel_shape=[16, 16], strides=[16, 16])
    x = turned(w, shaped(w, x, 1, width, 196), 0, 2, 1)
    x = w.node("Add", w.node("Concat", w.constant(1, 1, width, scale=0.1), x, axis=1), w.constant(1, 197, width, scale=0.1))
    for _ in range(2):
        x = w.node("Add", x, fused_heads(w, w.normalized(x, width), 197, width, heads))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    x = w.node("Gather", w.normalized(x, width), w.given(numpy.array(0, numpy.int64)), axis=1)
    return w.node("Gemm", x, w.constant(1000, width), w.constant(1000, scale=0.1), transB=1)


def windowed(w, side=28, width=96, heads=3, window=7):
    x, count = "x", side // window
    for _ in range(2):
        y = shaped(w, w.normalized(x, width), 1, count, window, count, window, width)
        y = shaped(w, turned(w, y, 0, 1, 3, 2, 4, 5), count * count, window * window, width)
        y = attended(w, y, window * window, width, heads, count * count)
        y = turned(w, shaped(w, y, 1, count, count, window, window, width), 0, 1, 3, 2, 4, 5)
        x = w.node("Add", x, shaped(w, y, 1, side * side, width))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    return w.normalized(x, width)


def whisper(w, width=256, heads=4):
    x = gelu(w, along(w, "x", 80, width))
    x = gelu(w, along(w, x, width, width, 2))
    x = w.node("Add", turned(w, x, 0, 2, 1), w.constant(1, 128, width, scale=0.1))
    for _ in range(2):
        x = w.node("Add", x, attended(w, w.normalized(x, width), 128, width, heads))
        x = w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 4 * width)), 4 * width, width))
    return w.normalized(x, width)


def along(w, x, channels, made, stride=1):
    return w.node("Conv", x, w.constant(made, channels, 3), w.constant(made, scale=0.1), kernel_shape=[3], pads=[1, 1], strides=[stride])


def bert(w, rows=128, width=312, heads=12):
    x = w.normalized(w.node("Add", "x", w.constant(1, rows, width, scale=0.1)), width)
    for _ in range(2):
        x = w.normalized(w.node("Add", attended(w, x, rows, width, heads), x), width)
        x = w.normalized(w.node("Add", w.product(gelu(w, w.product(x, width, 1200)), 1200, width), x), width)
    return w.product(x, width, 2)


def pyramid_segments(w):
    x = convolution(w, "x", 3, 32, 3, 2, act="Relu")
    low, channels = inverted_blocks(w, x, 32, [(3, 32, 16, 1, False, "Relu"), (3, 96, 24, 2, False, "Relu"), (3, 144, 24, 1, False, "Relu")])
    x, channels = inverted_blocks(w, low, channels, [(3, 144, 48, 2, False, "Relu"), (3, 288, 48, 1, False, "Relu")])
    whole = w.node("Resize", convolution(w, w.node("GlobalAveragePool", x), 48, 64), "", w.given(numpy.array([1, 1, 24, 24], numpy.float32)),
                   mode="linear")
    x = w.node("Concat", convolution(w, x, 48, 64), *(convolution(w, x, 48, 64, 3, dilation=d) for d in (3, 6)), whole, axis=1)
    x = resized(w, convolution(w, x, 256, 64), 2, "linear")
    x = convolution(w, w.node("Concat", x, convolution(w, low, 24, 32), axis=1), 96, 64, 3)
    return resized(w, convolution(w, x, 64, 21, act=None), 4, "linear")


def depth(w):
    x, channels, skips = "x", 3, []
    for made in (32, 64, 96, 128):
        x, channels = convolution(w, x, channels, made, 3, 2), made
        x = w.node("Relu", w.node("Add", x, convolution(w, convolution(w, x, made, made, 3), made, made, 3, act=None)))
        skips.append(x)
    for skip, made in zip(skips[-2::-1], (96, 64, 32)):
        x = w.node("Relu", w.node("ConvTranspose", x, w.constant(channels, made, 4, 4), w.constant(made, scale=0.1), kernel_shape=[4, 4],
                                  strides=[2, 2], pads=[1] * 4))
        x, channels = convolution(w, w.node("Add", x, skip), made, made, 3), made
    return convolution(w, x, 32, 1, 3, act="Sigmoid")


PREDICTIONS = {"yolo": (yolo, [1, 3, 192, 256]), "efficient": (efficient, [1, 3, 192, 192]), "cardinal": (cardinal, [1, 3, 128, 128]),
               "next_convolutions": (next_convolutions, [1, 3, 128, 128]), "vision": (vision, [1, 3, 224, 224]),
               "windowed": (windowed, [1, 784, 96]), "whisper": (whisper, [1, 80, 256]), "bert": (bert, [1, 128, 312]),
               "pyramid_segments": (pyramid_segments, [1, 3, 192, 192]), "depth": (depth, [1, 3, 128, 160])}
