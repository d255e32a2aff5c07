"""What the tests of the module share: the real program next to it, and recordings of several sorts."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import npuscope

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["NPUSCOPE_PROGRAM"]
SHARED = SOURCE.parent / "shared"  # data without a licence, where it is there


class Outcome:
    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.status = done.returncode
        self.text = done.stdout
        self.error = done.stderr

    @property
    def json(self) -> dict:
        return json.loads(self.text)


def run_program(*arguments: str) -> Outcome:
    """As somebody types it, in the source folder."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return Outcome(
        subprocess.run(
            [PROGRAM, *arguments],
            cwd=SOURCE,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    )


KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until the tests end


@functools.cache
def simulated() -> Path:
    """A folder with a program and raw buffers of five inferences, one of them cold."""
    folder = tempfile.TemporaryDirectory(prefix="npuscope-test-")
    program = npuscope.compile(
        SOURCE / "models/light_resnet50.onnx", cores=2, fp16=True, output=folder.name
    )
    npuscope.run(program, inferences=5, first_sample=0, output=folder.name)
    KEPT.append(folder)
    return Path(folder.name)


FILES = {
    "qnn": ["examples/qnn_htp"],
    "kineto": ["examples/kineto/trace.json"],
    "mtia": ["tests/data/chrome/mtia.json"],
    "torq": ["examples/torq/conv2d_f4_s4_64x64x16_i16.csv"],
    "ipu": ["examples/sigmastar"],
    "perfetto": ["tests/data/perfetto_cases/DynamicTables_descendant_slice_boundary_instant-f286881745.pb"],
}


def files_of(name: str) -> list[str]:
    return [str(simulated())] if name == "aic100" else FILES[name]


NAMES = [*FILES, "aic100"]
