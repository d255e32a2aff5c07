"""A fleet's questions from Python are those of npuscope fleet: the same pages, row by row."""

import tempfile
import threading
import unittest
from pathlib import Path

import npuscope
from numbers_test import rows_and_facts
from support import run_program, simulated


class Questions(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="npuscope-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.store = str(Path(folder.name) / "fleet.db")
        cls.fleet = npuscope.Fleet(cls.store)
        buffers = sorted(simulated().glob("*.bin"))
        [program] = [file for file in buffers if file.name == "programqpc.bin"]
        buffers.remove(program)
        for build, file in enumerate(buffers):
            tags = {"build": build, "device": f"board-{build % 2}"}
            added = cls.fleet.add(file, with_=[program], tags=tags)
            assert added.added["runs"] == 1, added
        cls.runs = len(buffers)

    def expect_same(self, page, subcommand, *flags):
        program = run_program("fleet", subcommand, self.store, *flags, "--json")
        self.assertEqual(program.status, 0, program.error)
        said = program.json
        for head in ("schema_version", "npuscope", "command"):
            del said[head]
        self.assertEqual(page.to_dict(), said)
        for key, part in page.items():
            self.assertEqual(rows_and_facts(part), said[key], key)

    def test_runs(self):
        page = self.fleet.runs()
        self.expect_same(page, "ls", "--top", "0")
        self.assertEqual(page.fleet["runs"], self.runs)
        self.expect_same(self.fleet.runs(by=["device"], top=1), "ls", "--by", "device", "--top", "1")
        self.expect_same(self.fleet.runs(where="build > 1"), "ls", "--where", "build > 1", "--top", "0")

    def test_latency(self):
        self.expect_same(self.fleet.latency(), "latency")
        page = self.fleet.latency(by="device", measure="wall")
        self.expect_same(page, "latency", "--by", "device", "--measure", "wall")
        self.assertEqual(len(page.latency.to_pandas()), 2)

    def test_ops(self):
        self.expect_same(self.fleet.ops(), "ops", "--top", "0")
        self.expect_same(
            self.fleet.ops(measure="active", by=["device"], top=5),
            *("ops", "--measure", "active", "--by", "device", "--top", "5"),
        )

    def test_findings(self):
        self.expect_same(self.fleet.findings(), "findings")

    def test_changes(self):
        sides = ("build < 2", "build >= 2")
        self.expect_same(
            self.fleet.diff(*sides, min_change=0.02, max_q=0.1),
            *("diff", "--where-a", sides[0], "--where-b", sides[1], "--min-change", "2", "--max-q", "0.1"),
        )
        self.expect_same(self.fleet.change_points("build"), "diff", "--along", "build")

    def test_outliers(self):
        self.expect_same(self.fleet.outliers(by="device"), "outliers", "--by", "device")

    def test_query(self):
        rows = self.fleet.query("SELECT count(*) AS runs FROM runs").rows()
        self.assertEqual(rows, [{"runs": self.runs}])
        with self.assertWarnsRegex(UserWarning, "the first 1 rows"):
            self.assertEqual(len(self.fleet.query("SELECT * FROM runs", max_rows=1)), 1)
        for sql in ("SELECT * FROM nothing", "DELETE FROM runs", ""):
            with self.assertRaises(npuscope.UsageError):
                self.fleet.query(sql)

    def test_adding_again_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            fleet = npuscope.Fleet(Path(folder) / "fleet.db")
            self.assertEqual(fleet.add("examples/qnn_htp").added["runs"], 1)
            again = fleet.add("examples/qnn_htp").added
            self.assertEqual((again["runs"], again["known"]), (0, 1))
            with self.assertRaisesRegex(npuscope.InputError, "^missing.json: "):
                fleet.add("examples/qnn_htp", "missing.json")
            fleet.add("examples/qnn_htp", "missing.json", keep_going=True)

    def test_errors_are_sentences(self):
        for call, kind, said in (
            (lambda: npuscope.Fleet("missing.db").runs(), npuscope.InputError, "missing.db"),
            (lambda: self.fleet.runs(where="nothing = 1"), npuscope.UsageError, "nothing"),
            (lambda: self.fleet.ops(measure="x"), npuscope.UsageError, "x"),
            (lambda: self.fleet.latency(by="nothing"), npuscope.UsageError, "^by"),
            (lambda: self.fleet.add("examples/qnn_htp", tags={"a b": 1}), npuscope.UsageError, "^tag"),
        ):
            with self.assertRaisesRegex(kind, said) as raised:
                call()
            self.assertNotRegex(str(raised.exception), r"(^|[ ('\"])--?[a-z]{2}")

    def test_from_several_threads(self):
        expected = self.fleet.ops().to_dict()
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(self.fleet.ops().to_dict())) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 4)


if __name__ == "__main__":
    unittest.main()
