#!/usr/bin/env bash
# iree-base-compiler 3.13.0 (Python, llvm-cpu): the name of a dispatch does not tell a pool from a depthwise convolution, nor a batch from channels.
#
# conv_32x32x16x3x3_f32 is "conv" and the extents of the loops, whatever the body does: average pool, max pool and depthwise convolution of a
# 3x3 window get the same name, to the letter, and a pool of four images has as many extents as a whole convolution of one. Extents of 1
# are left out. Profiles, traces and benchmarks know a dispatch by that name alone; the product of its extents is its MACs for the convolutions, and
# for the pools the sizes of windows that nothing is multiplied in. Seen: names as said; the average pool's batch of 4 makes
# conv_4x32x32x16x3x3_f32, a convolution of 16 to 24 channels conv_32x32x24x3x3x16_f32; attention of 4 heads, 64 tokens and 32 values
# attention_4x64x32x32x64, whose product is 16,777,216, not its 1,048,576 MACs.
# What a dispatch computes stands in the compiler's sources (--iree-hal-dump-executable-sources-to).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q iree-base-compiler==3.13.0 2>/dev/null

cat >make.py <<'EOF'
def window(name, batch, operation, window_type, begin, result_channels=16):
    x, y = f"tensor<{batch}x34x34x16xf32>", f"tensor<{batch}x32x32x{result_channels}xf32>"
    weights = f"tensor<{window_type}xf32>"
    return f"""
func.func @{name}(%x: {x}, %w: {weights}) -> {y} {{
  %begin = arith.constant {begin} : f32
  %empty = tensor.empty() : {y}
  %filled = linalg.fill ins(%begin : f32) outs(%empty : {y}) -> {y}
  %y = linalg.{operation} {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%x, %w : {x}, {weights}) outs(%filled : {y}) -> {y}
  return %y : {y}
}}"""


heads = "tensor<4x64x32xf32>"
maps = ", ".join(f"affine_map<(b, m, n, k1, k2) -> ({result})>" for result in ("b, m, k1", "b, k2, k1", "b, k2, n", "", "b, m, n"))
attention = f"""
func.func @attention(%q: {heads}, %k: {heads}, %v: {heads}) -> {heads} {{
  %scale = arith.constant 0.17 : f32
  %empty = tensor.empty() : {heads}
  %y = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}> ins(%q, %k, %v, %scale : {heads}, {heads}, {heads}, f32)
      outs(%empty : {heads}) {{
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  }} -> {heads}
  return %y : {heads}
}}"""
print(window("averagepool", 1, "pooling_nhwc_sum", "3x3", "0.0"), window("maxpool", 1, "pooling_nhwc_max", "3x3", "-1.0e30"),
      window("averagepools", 4, "pooling_nhwc_sum", "3x3", "0.0"), window("depthwise", 1, "depthwise_conv_2d_nhwc_hwc", "3x3x16", "0.0"),
      window("convolution", 1, "conv_2d_nhwc_hwcf", "3x3x16x24", "0.0", 24), attention)
EOF
cat >compare.py <<'EOF'
import re
import sys

names = dict(re.findall(r"flow\.executable\.export public @([a-z]+)_dispatch_0_([a-z0-9_]+)", open("flow.mlir").read()))
print(names)
same = "conv_32x32x16x3x3_f32"
as_described = names == {"averagepool": same, "maxpool": same, "depthwise": same, "averagepools": "conv_4x32x32x16x3x3_f32",
                         "convolution": "conv_32x32x24x3x3x16_f32", "attention": "attention_4x64x32x32x64"}
sys.exit(0 if as_described else "not as described")
EOF
python3 make.py >model.mlir
venv/bin/iree-compile model.mlir --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --compile-to=flow -o flow.mlir
python3 compare.py
