"""The reference NPU: a model compiled, run and profiled without hardware.

>>> import npuscope
>>> program = npuscope.compile("models/light_resnet50.onnx", cores=4, fp16=True)
>>> profile = npuscope.run(program, inferences=3)
>>> profile.device, profile.ops(by="kind", top=1)["kind"][0]
('Cloud AI 100', 'aiccopytovtcm')
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _npuscope
from .errors import OutputError, UsageError
from .profiles import Profile, file_names

if TYPE_CHECKING:
    FileName = Union[str, os.PathLike[str]]


class Program:
    """A compiled program (QPC): a file, and what the compiler says of it."""

    def __init__(self, file: FileName) -> None:
        self.file = Path(file)
        self.warnings: list[str] = []
        self.metrics: list[dict[str, Any]] = []
        """What -aic-perf-metrics prints, of each specialisation: MACs, constants, VTCM, DDR."""

    def __repr__(self) -> str:
        return f"<Program {self.file}>"


class Run(Profile):
    """The profile of a run on the reference NPU, and what the runner says of it."""

    def __init__(self, native: _npuscope.Profile) -> None:
        super().__init__(native)
        self.written: list[str] = []
        """Files that the run wrote; gone where no output was named."""
        self.warnings: list[str] = []
        self.outcome: dict[str, Any] = {}
        """What ``npuscope run --json`` prints: of each program execution times and throughput."""


def generate_model(
    base: str,
    file: FileName,
    *,
    layers: int | None = None,
    hidden_size: int | None = None,
    heads: int | None = None,
    key_value_heads: int | None = None,
    head_size: int | None = None,
    feed_forward_size: int | None = None,
    vocabulary_size: int | None = None,
    batch: int = 1,
    sequence: int | None = None,
    context: int | None = None,
    symbolic: bool = False,
    float16: bool = False,
) -> Path:
    """Writes a transformer model as ONNX without weight data (npuscope-model); returns the file.

    Args:
        base: "amber-7b", "qwen3-0.6b", "bert-base"; or "decoder", "encoder": an architecture of
            your own, whose sizes follow.
        sequence: tokens that go in; None: 32, of encoders 128.
        context: of a decoder: tokens that the retained state holds; None: 128.
        symbolic: leave batch_size, seq_len and ctx_len open.
    """
    changes = _npuscope.ArchitectureChanges()
    changes.layers = layers
    changes.hidden_size = hidden_size
    changes.heads = heads
    changes.key_value_heads = key_value_heads
    changes.head_size = head_size
    changes.feed_forward_size = feed_forward_size
    changes.vocabulary_size = vocabulary_size
    name = os.fspath(file)
    _npuscope.generate(base, name, changes, batch, sequence, context, symbolic, float16)
    return Path(name)


def compile(
    model: FileName,
    *,
    output: FileName | None = None,
    target: str = "aic100",
    cores: int = 0,
    stats_level: int = 70,
    fp16: bool = False,
    batch: int = 0,
    symbols: Mapping[str, int] | None = None,
    specializations: FileName = "",
    retained_state: bool = False,
    ddr_stats: bool = False,
    allow_unknown: bool = False,
) -> Program:
    """Compiles an ONNX model for an NPU with HMX and HVX cores (npuscope compile).

    Args:
        output: folder of programqpc.bin; None: a temporary one that goes with the program.
        target: "aic100" or another with cores, or the path of a .toml file.
        cores: 0: all of the target's.
        stats_level: what a run records of itself, 0 to 100; from 70 on every operator.
        fp16: float32 and float64 tensors become float16.
        batch: of a model that leaves it open; 0: as it is.
        symbols: values of other symbolic dimensions.
        specializations: a JSON file of them.
        retained_state: X and X_RetainedState share device memory.
        ddr_stats: record DDR traffic.
        allow_unknown: treat unsupported operators as elementwise instead of failing.
    """
    request = _npuscope.BuildRequest()
    request.target = target
    request.specializations = os.fspath(specializations)
    request.set_options(cores, stats_level, fp16, retained_state, ddr_stats, allow_unknown)
    request.set_batch(batch)
    request.set_symbols(dict(symbols or {}))
    folder = _made(output) if output is not None else tempfile.mkdtemp(prefix="npuscope-")
    try:
        file, warnings, networks = _npuscope.compile(os.fspath(model), folder, request)
        program = Program(file)
        program.warnings = warnings
        program.metrics = json.loads(networks)
    except BaseException:
        if output is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if output is None:
        weakref.finalize(program, shutil.rmtree, folder, ignore_errors=True)
    return program


def run(
    program: Program | FileName,
    *,
    inferences: int = 10,
    samples: int = 0,
    first_sample: int | None = None,
    output: FileName | None = None,
    types: Iterable[str] = (),
    seed: int = 1,
) -> Run:
    """Runs a program on the reference NPU and opens what the device recorded (npuscope run).

    Args:
        program: what compile() gave, or a programqpc.bin, or its folder.
        inferences: how many.
        samples: how many of them are recorded; 0: all from the first sample on.
        first_sample: the first that is recorded, from 0; None: 1, because the first inference is
            cold, or 0 where there is one alone.
        output: folder of the files that are written; None: a temporary one.
        types: what else is written next to the raw buffers: "stats", "trace", "latency".
        seed: of what varies from run to run.
    """
    qpc = program.file if isinstance(program, Program) else Path(program)
    if inferences < 1:
        raise UsageError(f"inferences: {inferences} run nothing; must be an integer >= 1")
    first = min(1, inferences - 1) if first_sample is None else first_sample
    if not 0 <= first < inferences:
        raise UsageError(f"first_sample: {first} is not one of {inferences} inferences, from 0")
    kinds = ["raw_device_stats", *types]
    with tempfile.TemporaryDirectory(prefix="npuscope-") as temporary:
        folder = temporary if output is None else _made(output)
        request = _npuscope.RunRequest(
            os.fspath(qpc), folder, inferences, first, samples or inferences - first, seed, kinds
        )
        files, warned, outcome = _npuscope.run(request)
        buffers = [file for file in files if file.endswith("-aiccyclecounts.bin")]
        profiles = _npuscope.open(file_names([*buffers, qpc]), False, 0, [])
    if len(profiles) != 1:  # of several programs
        raise UsageError(
            f"the run recorded {len(profiles)} profiles; name an output, and open its files with "
            "npuscope.open_all()"
        )
    made = Run(profiles[0])
    made.written, made.warnings, made.outcome = files, warned, json.loads(outcome)
    return made


def _made(folder: FileName) -> str:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{os.fspath(folder)}: cannot create the folder: {error.strerror}; choose another"
        ) from None
    return os.fspath(folder)
