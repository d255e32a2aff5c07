#!/usr/bin/env bash
# torch 2.15.0 (CPU): FlopCounterMode counts a Transformer layer in training, and 0 as soon as it is run as for inference.
#
# nn.TransformerEncoderLayer and nn.MultiheadAttention in eval() without gradients are one fused operator, for which the counter has no formula;
# what has none counts as 0 and nothing says so. An LSTM is one in every mode, a linear layer quantised to int8 too. Utilisation
# of a measured inference is then that of the rest of the model, or 0. Seen, of a layer of 256 values, 4 heads, 1,024 within and 2 times
# 64 tokens: 209,715,200 in train() and in eval() with gradients, 0 in eval() under no_grad(); attention alone 75,497,472 and 0; an LSTM 0, a
# GRU of the same size 983,040; an int8 linear layer 0.
# Count with gradients on; measure without.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q torch==2.15.0 numpy==2.2.6 2>/dev/null

cat >run.py <<'EOF'
import sys
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

warnings.filterwarnings("ignore")
width, heads, within, batch, tokens = 256, 4, 1024, 2, 64


def flops(module, *inputs, gradients=False):
    with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as counter:
        module(*inputs)
    return counter.get_total_flops()


layer = torch.nn.TransformerEncoderLayer(width, heads, within, batch_first=True)
attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)
x = torch.randn(batch, tokens, width)
seen = {"train": (flops(layer.train(), x), flops(attention.train(), x, x, x)),
        "eval, gradients": (flops(layer.eval(), x, gradients=True), flops(attention.eval(), x, x, x, gradients=True)),
        "eval, no gradients": (flops(layer, x), flops(attention, x, x, x))}
steps = torch.randn(10, 2, 64)
lstm, gru = (flops(module(64, 64), steps) for module in (torch.nn.LSTM, torch.nn.GRU))
linear = torch.nn.Sequential(torch.nn.Linear(width, width)).eval()
quantised = flops(torch.ao.quantization.quantize_dynamic(linear, {torch.nn.Linear}), x)
print("layer, attention", seen, "LSTM", lstm, "GRU", gru, "linear", flops(linear, x), "int8", quantised)
products = 2 * batch * tokens * 4 * width * width + 2 * 2 * batch * tokens * tokens * width
whole = (products + 2 * 2 * batch * tokens * width * within, products)
as_described = (seen["train"] == seen["eval, gradients"] == whole and seen["eval, no gradients"] == (0, 0) and lstm == quantised == 0
                and gru == 2 * 2 * 3 * 10 * 2 * 64 * 64 and flops(linear, x) == 2 * batch * tokens * width * width)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py 2>/dev/null
