#!/usr/bin/env bash
# torchinfo 1.8.0 with torch 2.15.0 (CPU): total_mult_adds of a linear layer is parameters times batch, however many tokens it is applied to.
#
# Convolutions are multiplied by their positions, all else by the first extent of the output. So a sequence of 512 tokens has
# the mult-adds of one token, and a Transformer those of its weights used once; biases count as multiplications. Of attention nothing is there:
# its projections are used without their module's forward, and scores have no parameters. The table looks whole, since every layer has a number.
# Seen, of 256 to 256 values: 131,584 for 2 times 1 token and for 2 times 64; a Transformer layer 1,053,184 of 104,857,600 multiplications.
# An intensity or a latency from this number is too small by the length of the sequence.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q torchinfo==1.8.0 torch==2.15.0 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import sys

import torch
import torchinfo

width, heads, within, batch, tokens = 256, 4, 1024, 2, 64


def counted(module, *shape):
    return torchinfo.summary(module, input_size=shape, verbose=0).total_mult_adds


linear = torch.nn.Linear(width, width)
layer = torch.nn.TransformerEncoderLayer(width, heads, within, batch_first=True)
one, many, of_layer = counted(linear, batch, 1, width), counted(linear, batch, tokens, width), counted(layer, batch, tokens, width)
image = counted(torch.nn.Conv2d(16, 32, 3, padding=1, bias=False), batch, 16, 8, 8)
products = batch * tokens * (4 * width * width + 2 * width * within) + 2 * batch * tokens * tokens * width
print("linear, 1 token", one, "64 tokens", many, "of", batch * tokens * width * width, "layer", of_layer, "of", products, "convolution", image)
as_described = (one == many == batch * (width * width + width) and of_layer < products / 64 and image == batch * 8 * 8 * 32 * 16 * 9)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py 2>/dev/null
