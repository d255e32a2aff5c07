"""Errors: the program's sentence, a class for each of its exit statuses; and long calls that let
other threads run."""

import math
import os
import pickle
import re
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import npuscope
from support import SOURCE, files_of, run_program

STATUS = {npuscope.UsageError: 2, npuscope.InputError: 3, npuscope.OutputError: 4}


COMMAND = r"(npuscope [a-z-]+ [^;]*)"
FLAG = r"(?:(?<=[ ('\"])|^)--?([a-z][a-z0-9-]+)"


def with_arguments(sentence):
    """The program's sentence as Python says it: arguments where it has flags."""
    names = {"from": "from_", "to": "until", "section": "sections"}
    parts = re.split(COMMAND, sentence)  # which is typed with its flags
    parts[::2] = [
        re.sub(FLAG, lambda found: names.get(found[1], found[1].replace("-", "_")), part)
        for part in parts[::2]
    ]
    return "".join(parts)


class Sentences(unittest.TestCase):
    def expect(self, kind, call, *command):
        """`call` fails as the command does: with its sentence, and the class of its status."""
        with self.assertRaises(kind) as raised:
            call()
        program = run_program(*command)
        said = str(raised.exception)
        self.assertEqual(with_arguments(program.error.splitlines()[-1]), f"npuscope: {said}")
        self.assertNotRegex(re.sub(COMMAND, "", said), FLAG)
        self.assertEqual(program.status, STATUS[type(raised.exception)])
        self.assertIsInstance(raised.exception, npuscope.Error)

    def test_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            noise = Path(folder) / "noise.json"
            noise.write_bytes(bytes(range(256)) * 20)
            empty = Path(folder) / "empty"
            empty.write_bytes(b"")
            for file in ("missing.json", noise, empty, folder):
                self.expect(
                    npuscope.InputError, lambda: npuscope.open(file), "ops", str(file)
                )

    def test_of_questions(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        here = "examples/qnn_htp"
        for call, command in (
            (lambda: profile.ops(sort="wrok"), ("ops", here, "--sort", "wrok", "--json")),
            (lambda: profile.ops(columns=["wrok"]), ("ops", here, "--columns", "wrok")),
            (lambda: profile.ops(rules="nonsense"), ("ops", here, "--rules", "nonsense")),
            (lambda: profile.ops(target="nonsense"), ("ops", here, "--target", "nonsense")),
            (lambda: profile.path(faster={"nothing": 2}), ("path", here, "--faster", "nothing=2.0x")),
            (lambda: profile.path(faster={"n2": "x"}), ("path", here, "--faster", "n2=x")),
            (lambda: profile.path(faster={"(": 2}), ("path", here, "--faster", "(=2.0x")),
            (lambda: profile.path(inference=99), ("path", here, "--inference", "99")),
            (lambda: profile.memory(ddr_peak="fast"), ("memory", here, "--ddr-peak", "fast")),
            (lambda: profile.diagnose(rule="x"), ("diagnose", here, "--rule", "x")),
            (lambda: profile.show("x"), ("show", here, "--section", "x")),
            (lambda: profile.select(unit="nothing"), ("ops", here, "--unit", "nothing")),
            (lambda: profile.select(op="*"), ("ops", here, "--op", "*")),
            (lambda: profile.select(from_="soon"), ("ops", here, "--from", "soon")),
            (lambda: profile.select(core=99), ("ops", here, "--core", "99")),
            (lambda: profile.query("SELECT * FROM nothing"), ("query", here, "SELECT * FROM nothing")),
            (lambda: profile.query("DELETE FROM spans"), ("query", here, "--sql", "DELETE FROM spans")),
            (lambda: profile.query(""), ("query", here, "--sql", " ")),
            (
                lambda: npuscope.diff(profile, profile, fail_if="wall >"),
                ("diff", here, here, "--fail-if", "wall >"),
            ),
            (
                lambda: npuscope.diff(profile, profile, fail_if="nothing > 3%"),
                ("diff", here, here, "--fail-if", "nothing > 3%"),
            ),
        ):
            with self.subTest(command=command):
                self.expect(npuscope.UsageError, call, *command)

    def test_of_compiling_and_running(self):
        self.expect(
            npuscope.InputError,
            lambda: npuscope.compile("missing.onnx"),
            *("compile", "-m=missing.onnx", f"-aic-binary-dir={tempfile.gettempdir()}"),
        )
        self.expect(
            npuscope.InputError, lambda: npuscope.run("missing.bin"), "run", "missing.bin"
        )

    def test_choices_are_listed(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        for call, said in (
            (lambda: profile.ops(by="shape"), "by: 'shape' is not one of op, part, kind, name"),
            (lambda: profile.units(by="x"), "by: 'x' is not one of unit, core, engine, device"),
            (lambda: profile.table("x"), "table 'x': a profile has no such table; it has spans"),
            (lambda: npuscope.open(), "no file is named; name files or folders"),
            (lambda: npuscope.open([]), "no file is named; name files or folders"),
            (lambda: profile.query("SELECT 1", timeout=0), "timeout 0: must be above 0"),
            (lambda: npuscope.query("SELECT 1"), "no profile is named"),
            (lambda: npuscope.query("SELECT 1", main=profile), "main"),
            (lambda: npuscope.run(SOURCE, inferences=0), "inferences: 0 run nothing"),
            (lambda: profile.path(faster=["MatMul=2x"]), "faster and slower are by pattern"),
            (lambda: profile.path(slower={"n2": math.inf}), "slower: inf is not a factor"),
            (lambda: profile.ops(min_share=math.nan), "min_share: nan is not a part of one"),
            (lambda: profile.memory(buckets=10**15), "buckets: 1000000000000000 is more than"),
            (lambda: npuscope.run(SOURCE, types=["x"]), "types: 'x' is not one of stats, trace"),
        ):
            with self.assertRaises(npuscope.UsageError) as raised:
                call()
            self.assertIn(said, str(raised.exception))

    def test_wrong_types_are_python_errors(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        for call in (
            lambda: npuscope.open(3),
            lambda: profile.ops(by=3),
            lambda: profile.ops(top=-1),
            lambda: profile.path(inference=-1),
            lambda: profile.memory(buckets="many"),
            lambda: npuscope.diff(profile, ["examples/qnn_htp", profile]),
        ):
            with self.assertRaises(TypeError):
                call()

    def test_errors_can_be_told_apart_and_sent_elsewhere(self):
        for kind, other in (
            (npuscope.UsageError, ValueError),
            (npuscope.OutputError, OSError),
            (npuscope.GateFailed, npuscope.Error),
        ):
            self.assertTrue(issubclass(kind, other))
            error = pickle.loads(pickle.dumps(kind("a sentence")))
            self.assertEqual((type(error), str(error)), (kind, "a sentence"))

    def test_a_file_beside_good_ones(self):
        files = ["examples/qnn_htp", "missing.json"]
        with self.assertRaisesRegex(npuscope.InputError, "^missing.json: "):
            npuscope.open(files)
        profile = npuscope.open(files, keep_going=True)
        self.assertIn("missing.json", " ".join(profile.notes))

    def test_names_that_are_no_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(os.fsencode(folder), b"a\xff.json")
            with open(name, "wb") as file:
                file.write((SOURCE / "tests/data/chrome/mtia.json").read_bytes())
            profile = npuscope.open(os.fsdecode(name))
            self.assertEqual(npuscope.open(name).ops().rows(), profile.ops().rows())
            self.assertTrue(profile.name.endswith("a\ufffd.json"))
            with self.assertRaisesRegex(npuscope.InputError, "a\ufffd: no such file"):
                npuscope.open(os.fsdecode(name[:-5]))
        with self.assertRaisesRegex(npuscope.UsageError, "zero byte"):
            npuscope.open("a\0b")

    def test_a_damaged_file_is_a_warning(self):
        whole = (SOURCE / "tests/data/chrome/mtia.json").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cut.json"
            file.write_bytes(whole[: len(whole) // 2])
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                profile = npuscope.open(file)
            self.assertTrue(profile.is_damaged)
            [warning] = caught
            self.assertIs(warning.category, npuscope.DamagedProfileWarning)
            self.assertEqual(warning.filename, __file__)
            said = run_program("ops", str(file)).error.splitlines()[0]
            self.assertEqual(f"npuscope: {warning.message}", said)
            with self.assertRaisesRegex(npuscope.InputError, "no gate is passed on a damaged"):
                npuscope.diff(profile, profile, fail_if="findings > 99")
            kept = npuscope.diff(profile, profile, fail_if="findings > 99", allow_partial=True)
            self.assertTrue(kept.passed)

    def test_a_snapshot_is_for_diff_and_show(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "baseline.npu"
            run_program("snapshot", "examples/qnn_htp", "-o", str(file))
            snapshot = npuscope.open(file)
            self.assertTrue(snapshot.is_snapshot)
            for call in (
                snapshot.ops,
                snapshot.units,
                snapshot.path,
                snapshot.memory,
                snapshot.diagnose,
                snapshot.report,
                lambda: snapshot.select(core=0),
                lambda: snapshot.query("SELECT 1"),
            ):
                with self.assertRaisesRegex(npuscope.UsageError, "a snapshot, which has the numbers"):
                    call()
            self.assertIn("numbers", " ".join(snapshot.show()))
            self.assertTrue(str(snapshot))
            self.assertTrue(snapshot._repr_html_())
            self.assertIn("same", npuscope.diff(file, "examples/qnn_htp").verdict)
            self.assertIn("same", npuscope.diff(snapshot, npuscope.open(SOURCE / "examples/qnn_htp")).verdict)


class Gates(unittest.TestCase):
    def test_a_gate_that_fails(self):
        comparison = npuscope.diff(
            "examples/kineto", "examples/kineto", fail_if=["wall > 1ns", "findings > +99"], inconclusive="pass"
        )
        program = run_program(
            *("diff", "examples/kineto", "examples/kineto", "--inconclusive", "pass"),
            *("--fail-if", "wall > 1ns", "--fail-if", "findings > +99"),
        )
        self.assertEqual(comparison.passed, program.status == 0)

    def test_check_raises_what_the_program_says(self):
        arguments = ("examples/qnn_htp", "examples/qnn_htp")
        comparison = npuscope.diff(*arguments, fail_if="latency > 1ms")
        program = run_program("diff", *arguments, "--fail-if", "latency > 1ms")
        self.assertEqual((comparison.passed, program.status), (False, 1))
        with self.assertRaises(npuscope.GateFailed) as raised:
            comparison.check()
        self.assertEqual(with_arguments(program.error), f"npuscope: {raised.exception}\n")
        npuscope.diff(*arguments, fail_if="findings(high) > +0").check()


class Threads(unittest.TestCase):
    def test_long_calls_let_other_threads_run(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        sql = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) "
            "SELECT count(*) FROM n"
        )
        steps, is_over = [], threading.Event()

        def count():
            while not is_over.is_set():
                steps.append(None)
                time.sleep(0.001)

        other = threading.Thread(target=count)
        other.start()
        before = len(steps)
        profile.query(sql)
        during = len(steps) - before
        is_over.set()
        other.join()
        self.assertGreater(during, 5)  # none at all where the call holds the lock

    def test_one_profile_from_many_threads(self):
        profile = npuscope.open(files_of("aic100"))
        expected = [profile.ops().rows(), profile.path().to_dict(), profile.diagnose().to_dict()]
        fresh = npuscope.open(files_of("aic100"))
        found, failures = [], []

        def ask():
            try:
                found.append([fresh.ops().rows(), fresh.path().to_dict(), fresh.diagnose().to_dict()])
                fresh.table("spans").to_dict()
            except Exception as error:  # a thread's own would be lost
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(found, [expected] * 8)

    def test_sqlite_keeps_its_own_limit(self):
        import sqlite3

        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        connection = sqlite3.connect(":memory:")
        before = connection.execute("PRAGMA hard_heap_limit").fetchone()
        profile.query("SELECT 1")
        self.assertEqual(connection.execute("PRAGMA hard_heap_limit").fetchone(), before)

    def test_a_query_ends_in_time(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        with self.assertRaisesRegex(npuscope.UsageError, "0.2|200|time"):
            profile.query(forever, timeout=0.2)


if __name__ == "__main__":
    os.chdir(SOURCE)
    unittest.main()
