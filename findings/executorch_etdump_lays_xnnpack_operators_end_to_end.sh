#!/usr/bin/env bash
# executorch 1.5.1 (Python, CPU): what an ETDump says of XNNPACK's operators are durations; where they lie is made up.
#
# Each event of a delegate has a start and an end in nanoseconds, as kernels of the host have. XNNPACK's are laid end to end from where its
# run began: each begins in the nanosecond in which the one before ended, and each lasts whole microseconds, rounded down, so that
# short operators have length 0. Time between operators is in none of them; it collects after the last, where only DELEGATE_CALL
# covers it. A timeline shows a delegate without a gap that ends too early, and an operator of 0.9 us as free. Seen: all events of two
# models, of which 6 of 28 and 15 of 32 have length 0, while kernels of the host in the same file have single nanoseconds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q executorch==1.5.1 torch==2.15.0 torchao==0.18.0 2>/dev/null

cat >run.py <<'EOF'
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.etdump.serialize import deserialize_from_etdump_flatcc
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch

calls = 4


class Images(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(8, 16, 3, padding=1)
        self.second = torch.nn.Conv2d(16, 16, 3, padding=1)
        self.last = torch.nn.Linear(16 * 256, 10)

    def forward(self, x):  # flip and topk are no part of the delegate
        x = torch.flip(torch.relu(self.second(torch.relu(self.first(x)))), [2])
        return torch.softmax(torch.topk(self.last(x.flatten(1)), 5)[0], -1)


class Rows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return torch.flip(x, [0])


def recorded(model, example):
    program = to_edge_transform_and_lower(torch.export.export(model.eval(), example), partitioner=[XnnpackPartitioner()])
    with open("model.pte", "wb") as file:
        file.write(program.to_executorch().buffer)
    module = _load_for_executorch("model.pte", enable_etdump=True)
    for _ in range(calls):
        module.forward(example)
    module.write_etdump_result_to_file("model.etdp", "")
    return deserialize_from_etdump_flatcc(open("model.etdp", "rb").read()).run_data


def as_described(name, runs):
    executes = [[event.profile_event for event in run.events if event.profile_event] for run in runs if run.name == "Execute"]
    joined = pairs = parts = whole = short = native = 0
    for events in executes:
        for call in (event for event in events if event.name == "DELEGATE_CALL"):
            inside = [event for event in events if event.instruction_id == call.instruction_id and event is not call
                      and event.chain_index == call.chain_index]
            pairs += len(inside) - 1
            joined += sum(before.end_time == after.start_time for before, after in zip(inside, inside[1:]))
            parts += len(inside)
            whole += sum((event.end_time - event.start_time) % 1000 == 0 for event in inside)
            short += sum(event.end_time == event.start_time for event in inside)
        native += sum((event.end_time - event.start_time) % 1000 != 0 for event in events if "native_call" in (event.name or ""))
    print(f"{name}: {len(executes)} calls, events of the delegate {parts}, in whole microseconds {whole}, of length 0 {short}; "
          f"beginning where the one before ended {joined} of {pairs}; kernels of the host not in whole microseconds {native}")
    return len(executes) == calls and parts == whole > 0 and joined == pairs > 0 and native > 0


images = as_described("images", recorded(Images(), (torch.randn(1, 8, 16, 16),)))
rows = as_described("rows", recorded(Rows(), (torch.randn(4, 64),)))
sys.exit(0 if images and rows else "not as described")
EOF
venv/bin/python run.py 2>/dev/null
