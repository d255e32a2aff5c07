"""The reference NPU from Python writes what the programs write, byte for byte."""

import gc
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import npuscope
from support import PROGRAM, SOURCE, run_program

MODEL = "models/light_squeezenet.onnx"


class Reference(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_programs_are_those_of_the_program(self):
        program = npuscope.compile(MODEL, cores=2, fp16=True, output=self.folder / "python")
        said = run_program(
            *("compile", f"-m={MODEL}", f"-aic-binary-dir={self.folder}/program", "-stats-level=70"),
            *("-aic-num-cores=2", "-convert-to-fp16", "--json"),
        )
        self.assertEqual(
            program.file.read_bytes(), (self.folder / "program/programqpc.bin").read_bytes()
        )
        self.assertEqual(program.metrics, said.json["networks"])
        self.assertEqual(program.warnings, said.json["warnings"])

    def test_runs_are_those_of_the_program(self):
        program = npuscope.compile(MODEL, cores=2)
        run = npuscope.run(
            program, inferences=4, types=["latency", "stats"], output=self.folder / "python"
        )
        (self.folder / "program").mkdir()
        said = run_program(
            *("run", str(program.file), "--num-iter=4", "--aic-profiling-start-iter=1", "--json"),
            *("--aic-profiling-num-samples=3", f"--aic-profiling-out-dir={self.folder}/program"),
            *("--aic-profiling-type=raw_device_stats", "--aic-profiling-type=latency"),
            "--aic-profiling-type=stats",
        )
        self.assertEqual(said.status, 0, said.error)
        self.assertEqual(run.outcome["programs"], said.json["programs"])
        theirs = sorted(file.name for file in (self.folder / "program").iterdir())
        self.assertEqual(sorted(file.name for file in (self.folder / "python").iterdir()), theirs)
        self.assertEqual(sorted(Path(file).name for file in run.written), theirs)
        for name in theirs:
            self.assertEqual(
                (self.folder / "python" / name).read_bytes(),
                (self.folder / "program" / name).read_bytes(),
                name,
            )
        self.assertEqual(run.inferences, 3)

    def test_generated_models_are_those_of_the_program(self):
        file = npuscope.generate_model("amber-7b", self.folder / "a.onnx", layers=2, sequence=1)
        run_program_model(self.folder / "b.onnx", "amber-7b", "--layers", "2", "--seq", "1")
        self.assertEqual(file.read_bytes(), (self.folder / "b.onnx").read_bytes())

    def test_a_temporary_program_goes_with_its_object(self):
        program = npuscope.compile(MODEL, cores=1)
        file = program.file
        run = npuscope.run(program, inferences=1)
        self.assertTrue(file.exists())
        del program
        gc.collect()
        self.assertFalse(file.parent.exists())
        self.assertEqual(run.inferences, 1)
        self.assertGreater(len(run.ops()), 0)  # which needs no file any more

    def test_a_compilation_that_fails_leaves_nothing(self):
        with mock.patch.object(tempfile, "tempdir", str(self.folder)):
            with self.assertRaises(npuscope.UsageError):
                npuscope.compile(MODEL, cores=10**6)
            with self.assertRaises(npuscope.InputError):
                npuscope.compile(SOURCE / "README.md")
        self.assertEqual(list(self.folder.iterdir()), [])


def run_program_model(file, *arguments):
    subprocess.run(
        [PROGRAM + "-model", *arguments, "-o", str(file)], check=True, capture_output=True
    )


if __name__ == "__main__":
    unittest.main()
