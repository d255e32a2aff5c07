#!/usr/bin/env bash
# jax and jaxlib 0.10.2 (CPU): the FLOPs of XLA's cost model are neither those of a convolution's shapes nor those of a run.
#
# cost_analysis() of a compiled function counts of a convolution the products whose input is there, so that padding lowers them;
# ONNX, PyTorch and a card's data sheet count every position of the kernel. It counts the body of a loop once, however often it is
# known to run: a scan over 100 layers has the FLOPs of one. Utilisation that divides these FLOPs by a measured time is too low, and
# two networks of the same shapes compare wrongly. Seen: 8x8, 3x3 kernel, "SAME": 3,964,928 of 4,718,592, which is (22/24)^2; 7x7 with a
# kernel of 7x7: 2,803,712 of 4,917,248, (37/49)^2; the same input already padded: all. A scan of 1 step 524,288, of 100 steps 524,290,
# of 10 steps unrolled 5,242,880.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q jax==0.10.2 jaxlib==0.10.2 2>/dev/null

cat >run.py <<'EOF'
import sys

import jax
import jax.numpy as jnp


def flops(function, *inputs):
    return int(jax.jit(function).lower(*inputs).compile().cost_analysis()["flops"])


def convolution(side, kernel, channels):
    def convolve(padding):
        return lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    weights = jnp.ones((kernel, kernel, channels, channels))
    half = kernel // 2
    inside = side * kernel - half * (half + 1)
    return {"by shapes": 2 * (side * kernel * channels) ** 2, "of products with data": 2 * (inside * channels) ** 2,
            "SAME": flops(convolve("SAME"), jnp.ones((1, side, side, channels)), weights),
            "padded before": flops(convolve("VALID"), jnp.ones((1, side + 2 * half, side + 2 * half, channels)), weights)}


def scan(steps, unroll=False):
    square = jnp.ones((64, 64))
    return flops(lambda x: jax.lax.scan(lambda state, _: (jnp.sin(state @ x), None), x, None, length=steps, unroll=unroll)[0], square)


small, wide = convolution(8, 3, 64), convolution(7, 7, 32)
one, hundred, unrolled = scan(1), scan(100), scan(10, unroll=True)
print(small, wide, "scan of 1", one, "of 100", hundred, "of 10, unrolled", unrolled)
as_described = (all(c["SAME"] == c["of products with data"] < c["by shapes"] == c["padded before"] for c in (small, wide))
                and one == 2 * 64**3 and hundred < 1.001 * one and unrolled == 10 * one)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
