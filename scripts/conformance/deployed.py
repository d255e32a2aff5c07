"""Networks like those that people deploy, small: one or two blocks of each kind, with random weights."""

import numpy

from models import classified, gelu


def convolution(w, x, channels, made, kernel=1, stride=1, group=1, act="Relu", dilation=1):
    x = w.node("Conv", x, w.constant(made, channels // group, kernel, kernel), w.constant(made, scale=0.1),
               kernel_shape=[kernel] * 2, pads=[dilation * (kernel // 2)] * 4, strides=[stride] * 2, group=group, dilations=[dilation] * 2)
    return activated(w, x, act)


def activated(w, x, act):
    if act == "silu":
        return w.node("Mul", x, w.node("Sigmoid", x))
    return gelu(w, x) if act == "gelu" else w.node(act, x) if act else x


def along(w, x, channels, made, kernel=1, group=1, dilation=1):
    """A convolution along one axis."""
    return w.node("Conv", x, w.constant(made, channels // group, kernel), w.constant(made, scale=0.1), kernel_shape=[kernel],
                  pads=[dilation * (kernel // 2)] * 2, group=group, dilations=[dilation])


def integers(w, *values):
    return w.given(numpy.array(values, numpy.int64))


def shaped(w, x, *shape):
    return w.node("Reshape", x, integers(w, *shape))


def turned(w, x, *order):
    return w.node("Transpose", x, perm=list(order))


def part(w, x, begin, end, axis):
    return w.node("Slice", x, integers(w, begin), integers(w, end), integers(w, axis))


def resized(w, x, scale=2, mode="nearest"):
    how = dict(coordinate_transformation_mode="asymmetric", nearest_mode="floor") if mode == "nearest" else {}
    return w.node("Resize", x, "", w.given(numpy.array([1, 1, scale, scale], numpy.float32)), mode=mode, **how)


def pooled(w, x, kernel, stride, pad):
    return w.node("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)


def excited(w, x, channels, ratio=4, inner="Relu", gate="Sigmoid"):
    y = convolution(w, w.node("GlobalAveragePool", x), channels, channels // ratio, act=inner)
    return w.node("Mul", x, convolution(w, y, channels // ratio, channels, act=gate))


def attended(w, x, rows, width, heads, batch=1):
    depth = width // heads
    q, k, v = (shaped(w, w.product(x, width, width), batch, rows, heads, depth) for _ in range(3))
    q, v = turned(w, q, 0, 2, 1, 3), turned(w, v, 0, 2, 1, 3)
    scores = w.node("Mul", w.node("MatMul", q, turned(w, k, 0, 2, 3, 1)), w.given(numpy.float32(depth**-0.5)))
    y = turned(w, w.node("MatMul", w.node("Softmax", scores, axis=-1), v), 0, 2, 1, 3)
    return w.product(shaped(w, y, batch, rows, width), width, width)


def inverted_blocks(w, x, channels, blocks, gate="Sigmoid"):
    """Of (kernel, wide, made, stride, excited, act)."""
    for kernel, wide, made, stride, gated, each in blocks:
        y = convolution(w, convolution(w, x, channels, wide, act=each), wide, wide, kernel, stride, wide, each)
        y = excited(w, y, wide, gate=gate) if gated else y
        y = convolution(w, y, wide, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and channels == made else y, made
    return x, channels


# Those that the target's figures were taken from.
def mobile_v3(w):
    x = convolution(w, "x", 3, 16, 3, 2, act="HardSwish")
    x, channels = inverted_blocks(w, x, 16, [(3, 16, 16, 2, True, "Relu"), (3, 72, 24, 2, False, "Relu"), (3, 88, 24, 1, False, "Relu"),
                                             (5, 96, 40, 2, True, "HardSwish"), (5, 240, 40, 1, True, "HardSwish")], gate="HardSigmoid")
    return classified(w, convolution(w, x, channels, 240, act="HardSwish"), 240)


def separable(w):
    x = convolution(w, "x", 3, 64, 3, 2)
    for _ in range(4):
        x = w.node("Add", convolution(w, convolution(w, x, 64, 64, 5, group=64), 64, 64, act=None), x)
    x = convolution(w, convolution(w, x, 64, 64, 3, 2, 64), 64, 128)
    for _ in range(3):
        x = w.node("Add", convolution(w, convolution(w, x, 128, 128, 3, group=128), 128, 128, act=None), x)
    return x


def neck(w):
    def split(x, channels, made):
        y, half = convolution(w, x, channels, made, act="silu"), made // 2
        a, b = part(w, y, 0, half, 1), part(w, y, half, made, 1)
        z = convolution(w, convolution(w, b, half, half, 3, act="silu"), half, half, 3, act="silu")
        return convolution(w, w.node("Concat", a, b, z, axis=1), 3 * half, made, act="silu")

    x = convolution(w, convolution(w, "x", 3, 16, 3, 2, act="silu"), 16, 32, 3, 2, act="silu")
    fine = split(convolution(w, x, 32, 64, 3, 2, act="silu"), 64, 64)
    coarse = split(convolution(w, fine, 64, 128, 3, 2, act="silu"), 128, 128)
    up = split(w.node("Concat", resized(w, coarse), fine, axis=1), 192, 64)
    down = split(w.node("Concat", convolution(w, up, 64, 64, 3, 2, act="silu"), coarse, axis=1), 192, 128)
    heads = [shaped(w, convolution(w, up, 64, 84, act=None), 1, 84, 1024), shaped(w, convolution(w, down, 128, 84, act=None), 1, 84, 256)]
    return w.node("Sigmoid", w.node("Concat", *heads, axis=2))


def dilated(w):
    x = convolution(w, convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3, 2), 64, 128, 3, 2)
    parts = [convolution(w, x, 128, 64)] + [convolution(w, x, 128, 64, 3, dilation=d) for d in (6, 12, 18)]
    x = convolution(w, w.node("Concat", *parts, axis=1), 256, 64)
    return resized(w, convolution(w, x, 64, 21, act=None), 4, "linear")


def grouped(w):
    x, channels = pooled(w, convolution(w, "x", 3, 64, 7, 2), 3, 2, 1), 64
    for made, stride in [(128, 1), (128, 1), (256, 2)]:
        y = convolution(w, convolution(w, convolution(w, x, channels, made), made, made, 3, stride, made // 16), made, made, act=None)
        skip = x if channels == made and stride == 1 else convolution(w, x, channels, made, 1, stride, act=None)
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    return classified(w, x, channels)


def conformer(w, count=128, width=144):
    x = "x"
    for _ in range(2):
        y = activated(w, w.product(w.normalized(x, width), width, 4 * width), "silu")
        x = w.node("Add", x, w.node("Mul", w.product(y, 4 * width, width), w.given(numpy.float32(0.5))))
        x = w.node("Add", x, attended(w, w.normalized(x, width), count, width, 4))
        y = along(w, turned(w, w.normalized(x, width), 0, 2, 1), width, 2 * width)
        y = w.node("Mul", part(w, y, 0, width, 1), w.node("Sigmoid", part(w, y, width, 2 * width, 1)))
        y = along(w, activated(w, along(w, y, width, width, 15, width), "silu"), width, width)
        x = w.node("Add", x, turned(w, y, 0, 2, 1))
    return w.normalized(x, width)


def temporal(w):
    x = along(w, "x", 40, 64)
    for dilation in (1, 2, 4, 8):
        y = along(w, w.node("Relu", along(w, x, 64, 128)), 128, 128, 3, 128, dilation)
        x = w.node("Add", x, along(w, w.node("Relu", y), 128, 64))
    return w.node("Sigmoid", along(w, x, 64, 40))


def crossed(w):
    x = convolution(w, convolution(w, "x", 3, 32, 3, 2, act="silu"), 32, 64, 3, 2, act="silu")
    for width in (64, 128):
        half = width // 2
        a, b = convolution(w, x, width, half, act="silu"), convolution(w, x, width, half, act="silu")
        for _ in range(2):
            b = w.node("Add", b, convolution(w, convolution(w, b, half, half, act="silu"), half, half, 3, act="silu"))
        x = convolution(w, w.node("Concat", a, b, axis=1), width, width, act="silu")
        x = convolution(w, x, 64, 128, 3, 2, act="silu") if width == 64 else x
    parts = [x] + [pooled(w, x, kernel, 1, kernel // 2) for kernel in (5, 9, 13)]
    return convolution(w, w.node("Concat", *parts, axis=1), 512, 128, act="silu")


def sharpened(w):
    x = first = convolution(w, "x", 3, 64, 3, act=None)
    for _ in range(3):
        x = w.node("Add", convolution(w, convolution(w, x, 64, 64, 3), 64, 64, 3, act=None), x)
    x = w.node("Add", convolution(w, x, 64, 64, 3, act=None), first)
    x = w.node("DepthToSpace", convolution(w, x, 64, 256, 3, act=None), blocksize=2, mode="CRD")
    return convolution(w, x, 64, 3, 3, act=None)


# Those that were opened for the first time when the figures had been taken.
def mnas(w):
    x = convolution(w, "x", 3, 32, 3, 2)
    x = convolution(w, convolution(w, x, 32, 32, 3, group=32), 32, 16, act=None)
    blocks = [(3, 48, 24, 2, False), (3, 72, 24, 1, False), (5, 72, 40, 2, True), (5, 120, 40, 1, True), (3, 240, 80, 2, False),
              (3, 480, 80, 1, False)]
    x, channels = inverted_blocks(w, x, 16, [(*each, "Relu") for each in blocks])
    return classified(w, convolution(w, x, channels, 320), 320)


def lite_segments(w):
    x = convolution(w, "x", 3, 16, 3, 2, act="HardSwish")
    low, channels = inverted_blocks(w, x, 16, [(3, 64, 24, 2, False, "HardSwish"), (3, 72, 24, 1, False, "HardSwish")])
    x, channels = inverted_blocks(w, low, channels, [(5, 120, 48, 2, False, "HardSwish")])
    gate = convolution(w, w.node("GlobalAveragePool", x), 48, 64, act="Sigmoid")
    x = resized(w, w.node("Mul", convolution(w, x, 48, 64), gate), 2, "linear")
    return w.node("Add", convolution(w, x, 64, 19, act=None), convolution(w, low, 24, 19, act=None))


def tiny_detector(w):
    x, channels = "x", 3
    for made in (16, 32, 64, 128):
        x, channels = pooled(w, convolution(w, x, channels, made, 3, act="LeakyRelu"), 2, 2, 0), made
    deep = convolution(w, convolution(w, x, 128, 256, 3, act="LeakyRelu"), 256, 128, act="LeakyRelu")
    up = convolution(w, deep, 128, 64, act="LeakyRelu")
    y = convolution(w, w.node("Concat", up, x, axis=1), 192, 128, 3, act="LeakyRelu")
    y = turned(w, shaped(w, convolution(w, y, 128, 255, act=None), 1, 3, 85, 169), 0, 1, 3, 2)
    return shaped(w, y, 1, 507, 85)


def distilled(w, rows=96, width=384):
    x = "x"
    for _ in range(2):
        x = w.normalized(w.node("Add", x, attended(w, x, rows, width, 12)), width)
        x = w.normalized(w.node("Add", x, w.product(gelu(w, w.product(x, width, 1536)), 1536, width)), width)
    first = w.node("Gather", x, w.given(numpy.array(0, numpy.int64)), axis=1)
    return w.node("Gemm", first, w.constant(2, width), w.constant(2, scale=0.1), transB=1)


def hourglass(w):
    def level(x, depth):
        up = convolution(w, x, 64, 64, 3)
        low = convolution(w, pooled(w, x, 2, 2, 0), 64, 64, 3)
        low = level(low, depth - 1) if depth > 1 else convolution(w, low, 64, 64, 3)
        return w.node("Add", up, resized(w, convolution(w, low, 64, 64, 3)))

    x = convolution(w, convolution(w, "x", 3, 32, 3, 2), 32, 64, 3, 2)
    return convolution(w, level(x, 3), 64, 17, act=None)


def squeezed(w):
    x, channels = pooled(w, convolution(w, "x", 3, 64, 7, 2), 3, 2, 1), 64
    for made, stride in [(128, 1), (128, 1), (256, 2), (256, 1)]:
        y = convolution(w, convolution(w, x, channels, made // 2), made // 2, made // 2, 3, stride)
        y = excited(w, convolution(w, y, made // 2, made, act=None), made, 16)
        skip = x if channels == made and stride == 1 else convolution(w, x, channels, made, 1, stride, act=None)
        x, channels = w.node("Relu", w.node("Add", y, skip)), made
    return classified(w, x, channels)


def poses(w):
    x, channels = "x", 3
    for made in (32, 64, 128, 192):
        x, channels = convolution(w, x, channels, made, 3, 2), made
    for made in (128, 64):
        x = w.node("Relu", w.node("ConvTranspose", x, w.constant(channels, made, 4, 4), w.constant(made, scale=0.1),
                                  kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4))
        channels = made
    return convolution(w, x, 64, 17, act=None)


def speech(w, count=96, width=192):
    x = turned(w, w.node("Relu", along(w, "x", 80, width, 3)), 0, 2, 1)
    for _ in range(2):
        x = w.normalized(w.node("Add", x, attended(w, x, count, width, 4)), width)
        x = w.normalized(w.node("Add", x, w.product(activated(w, w.product(x, width, 3 * width), "silu"), 3 * width, width)), width)
    return w.node("Softmax", w.product(x, width, 128), axis=-1)


def queried(w, rows=32, count=192, width=192, heads=6):
    y, depth = w.normalized("x", width), width // heads
    q = turned(w, shaped(w, w.product(w.constant(1, rows, width, scale=0.5), width, width), 1, rows, heads, depth), 0, 2, 1, 3)
    k = turned(w, shaped(w, w.product(y, width, width), 1, count, heads, depth), 0, 2, 3, 1)
    v = turned(w, shaped(w, w.product(y, width, width), 1, count, heads, depth), 0, 2, 1, 3)
    scores = w.node("Softmax", w.node("Mul", w.node("MatMul", q, k), w.given(numpy.float32(depth**-0.5))), axis=-1)
    z = w.product(shaped(w, turned(w, w.node("MatMul", scores, v), 0, 2, 1, 3), 1, rows, width), width, width)
    return w.product(w.node("Relu", w.product(w.normalized(z, width), width, 768)), 768, width)


def ghost(w):
    x, channels = convolution(w, "x", 3, 32, 3, 2), 32
    for made, stride in [(64, 2), (64, 1), (96, 2), (96, 1)]:
        a = convolution(w, x, channels, made)
        y = w.node("Concat", a, convolution(w, a, made, made, 3, 1, made), axis=1)
        y = convolution(w, y, 2 * made, 2 * made, 3, stride, 2 * made, None) if stride == 2 else y
        y = convolution(w, y, 2 * made, made, act=None)
        x, channels = w.node("Add", x, y) if stride == 1 and channels == made else y, made
    return classified(w, x, channels)


def linear_unet(w):
    x, skips, channels = "x", [], 3
    for made in (24, 48, 96):
        x = convolution(w, convolution(w, x, channels, made, 3, 1 if made == 24 else 2), made, made, 3)
        channels = made
        skips.append(x)
    for skip, made in ((skips[1], 48), (skips[0], 24)):
        x = convolution(w, w.node("Concat", resized(w, x, 2, "linear"), skip, axis=1), channels + made, made, 3)
        channels = made
    return convolution(w, x, 24, 1, act="Sigmoid")


def head(w):
    x, channels = "x", 3
    for made in (24, 48, 96):
        x, channels = convolution(w, x, channels, made, 3, 2, act="silu"), made
    first = pooled(w, x, 5, 1, 2)
    x = convolution(w, w.node("Concat", x, first, pooled(w, first, 5, 1, 2), axis=1), 288, 96, act="silu")
    boxes = convolution(w, convolution(w, x, 96, 64, 3, act="silu"), 64, 64, act=None)
    classes = convolution(w, convolution(w, x, 96, 96, 3, act="silu"), 96, 40, act="Sigmoid")
    return w.node("Concat", shaped(w, boxes, 1, 64, 784), shaped(w, classes, 1, 40, 784), axis=1)


def mixer(w, count=196, width=128):
    x = w.node("Conv", "x", w.constant(width, 3, 16, 16), w.constant(width, scale=0.1), kernel_shape=[16, 16], strides=[16, 16])
    x = turned(w, shaped(w, x, 1, width, count), 0, 2, 1)
    y = turned(w, w.normalized(x, width), 0, 2, 1)
    x = w.node("Add", x, turned(w, w.product(gelu(w, w.product(y, count, 256)), 256, count), 0, 2, 1))
    return w.node("Add", x, w.product(gelu(w, w.product(w.normalized(x, width), width, 512)), 512, width))


FITS = {"mobile_v3": (mobile_v3, [1, 3, 192, 192]), "separable": (separable, [1, 3, 128, 128]), "neck": (neck, [1, 3, 256, 256]),
        "dilated": (dilated, [1, 3, 256, 256]), "grouped": (grouped, [1, 3, 160, 160]), "conformer": (conformer, [1, 128, 144]),
        "temporal": (temporal, [1, 40, 512]), "crossed": (crossed, [1, 3, 192, 192]), "sharpened": (sharpened, [1, 3, 64, 64])}
PREDICTIONS = {"mnas": (mnas, [1, 3, 176, 176]), "lite_segments": (lite_segments, [1, 3, 192, 192]),
               "tiny_detector": (tiny_detector, [1, 3, 208, 208]), "distilled": (distilled, [1, 96, 384]),
               "hourglass": (hourglass, [1, 3, 192, 192]),
               "squeezed": (squeezed, [1, 3, 160, 160]), "poses": (poses, [1, 3, 192, 160]), "speech": (speech, [1, 80, 96]),
               "queried": (queried, [1, 192, 192]), "ghost": (ghost, [1, 3, 160, 160]), "linear_unet": (linear_unet, [1, 3, 96, 128]),
               "head": (head, [1, 3, 224, 224]), "mixer": (mixer, [1, 3, 224, 224])}
