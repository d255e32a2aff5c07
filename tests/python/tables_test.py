"""Columns and tables: views that copy nothing and outlive what they are of, unknown values, texts of
every sort."""

import gc
import json
import os
import pickle
import tempfile
import unittest
import weakref
from pathlib import Path

import numpy

import npuscope
from support import SOURCE, run_program, simulated

try:
    import pandas
except ImportError:
    pandas = None


def trace(events):
    """A profile of a trace made by hand."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        file.write_text(json.dumps({"traceEvents": events}))
        return npuscope.open(file)


def slice_of(name, start, duration, **more):
    return {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": start, "dur": duration, **more}


class EveryRow(unittest.TestCase):
    """With the strides that another NumPy's layout gave, every row was the first."""

    def test_columns_have_the_values_of_their_rows(self):
        events = [slice_of(f"op {i}", 10 * i, 1 + i) for i in range(50)]
        spans = trace(events).table("spans")
        self.assertEqual(spans["start"].to_numpy().tolist(), [10_000 * i for i in range(50)])
        for name in spans.columns:
            column = spans[name]
            values = column.to_numpy()
            if values.dtype == object:
                continue
            with self.subTest(name):
                self.assertEqual(values.strides, (values.dtype.itemsize,))
                self.assertEqual(len(values), len(column))
                for seen, meant in zip(values.tolist(), column.to_list()):
                    if meant is not None:
                        self.assertEqual(seen, meant)


class Views(unittest.TestCase):
    def setUp(self):
        self.profile = npuscope.open(SOURCE / "examples/qnn_htp")

    def test_numbers_are_seen_where_they_lie(self):
        spans = self.profile.table("spans")
        for name in ("start", "duration", "unit", "dominant_path"):
            first, second = spans[name].to_numpy(), self.profile.table("spans")[name].to_numpy()
            self.assertTrue(numpy.shares_memory(first, second), name)
        ops = self.profile.ops(by="kind")
        self.assertTrue(numpy.shares_memory(ops["runs"].to_numpy(), ops["runs"].to_numpy()))
        self.assertTrue(
            numpy.shares_memory(numpy.asarray(ops["runs"]), ops["runs"].to_numpy())
        )

    def test_views_cannot_be_written_to(self):
        for column in (self.profile.table("spans")["start"], self.profile.ops()["runs"]):
            values = column.to_numpy()
            with self.assertRaises(ValueError):
                values[0] = 1
            with self.assertRaises(ValueError):
                values.flags.writeable = True

    def test_a_view_keeps_the_profile(self):
        values = self.profile.table("spans")["duration"].to_numpy()
        expected = int(values.sum())
        of_ops = self.profile.ops()["work"].to_numpy()
        masked = self.profile.table("ops")["output_bytes"].to_numpy()
        sums = expected, int(of_ops.sum()), int(masked.sum())
        for name in list(vars(self)):
            if name == "profile":
                del self.profile
        gc.collect()
        others = [npuscope.open(SOURCE / "examples/kineto") for _ in range(3)]  # takes its memory
        self.assertEqual((int(values.sum()), int(of_ops.sum()), int(masked.sum())), sums)
        del others

    def test_a_profile_goes_with_its_last_view(self):
        alive = weakref.ref(self.profile)
        page = self.profile.path()
        del self.profile
        gc.collect()
        self.assertIsNone(alive())
        self.assertIn("CRITICAL PATH", str(page))  # which holds what it needs

    def test_memory_is_given_back(self):
        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1])

        def use():
            profile = npuscope.open(SOURCE / "examples/qnn_htp")
            profile.ops().to_dict()
            profile.table("spans").__arrow_c_stream__()
            numpy.asarray(profile.units().units["busy"])

        for _ in range(20):
            use()
        gc.collect()
        before = resident()
        for _ in range(60):
            use()
        gc.collect()
        profile_pages = 40  # of 4 KiB; each leaked profile would be about a thousand
        self.assertLess(resident() - before, 60 * profile_pages)

    def test_columns_say_what_they_are(self):
        ops = self.profile.ops(by="kind")
        work = ops["work"]
        self.assertEqual(
            (work.unit, work.kind, work.origin, work.quantity),
            ("cycles", "work", "measured", "time"),
        )
        self.assertEqual(ops["ddr_read_bytes"].unit, "bytes")
        self.assertEqual(ops["dominant_path_share_of_run"].quantity, "share")
        units = self.profile.units()
        self.assertEqual(units.units["busy"].kind, "unit_busy")
        self.assertEqual(units.engines["domain"].kind, "domain")
        self.assertEqual(units.wall.kinds["wall"], "wall")
        spans = self.profile.table("spans")
        self.assertEqual(spans["dominant_path"].kind, "dominant_path")
        self.assertIn("when it begins", spans["start"].meaning)
        simulation = npuscope.open(simulated())
        self.assertEqual(simulation.memory().inferences["wall"].kind, "wall")


class Values(unittest.TestCase):
    def query(self, sql):
        profile = trace([slice_of("a", 0, 1)])
        return profile.query(sql)

    def test_unknown_whole_numbers_are_masked(self):
        column = self.query("SELECT 9007199254740993 AS n UNION ALL SELECT NULL")["n"]
        self.assertEqual((column.type, column.to_list()), ("int64", [9007199254740993, None]))
        array = column.to_numpy()
        self.assertIsInstance(array, numpy.ma.MaskedArray)
        self.assertEqual(int(array.sum()), 9007199254740993)
        self.assertEqual(column.mask.tolist(), [False, True])
        self.assertTrue(numpy.isnan(numpy.asarray(column)[1]))

    def test_unknown_real_numbers_are_nan(self):
        column = self.query("SELECT 0.5 AS x UNION ALL SELECT NULL UNION ALL SELECT 1e999")["x"]
        self.assertEqual(column.to_list(), [0.5, None, None])
        self.assertEqual(numpy.isnan(column.to_numpy()).tolist(), [False, True, True])

    def test_whole_numbers_that_would_change_as_real_ones_stay(self):
        column = self.query("SELECT 9007199254740993 AS n UNION ALL SELECT 0.5")["n"]
        self.assertEqual((column.type, column.to_list()), ("any", [9007199254740993, 0.5]))

    def test_texts_and_numbers_in_one_column_stay_what_they_are(self):
        column = self.query("SELECT 'a' AS v UNION ALL SELECT 2 UNION ALL SELECT NULL")["v"]
        self.assertEqual(column.to_list(), ["a", 2, None])
        self.assertEqual(column.to_numpy().tolist(), ["a", 2, None])

    def test_columns_of_one_name_get_numbers(self):
        self.assertEqual(self.query("SELECT 1 AS a, 2 AS a").columns, ["a", "a_2"])

    def test_rows_columns_and_slices(self):
        table = self.query("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y' UNION ALL SELECT 3, 'z'")
        self.assertEqual(table[0], {"a": 1, "b": "x"})
        self.assertEqual(table[-1], {"a": 3, "b": "z"})
        self.assertEqual(table[1:], [{"a": 2, "b": "y"}, {"a": 3, "b": "z"}])
        self.assertEqual(list(table)[1], {"a": 2, "b": "y"})
        self.assertEqual(table["a"][1:], [2, 3])
        self.assertEqual(table["b"][-1], "z")
        self.assertIn("a", table)
        with self.assertRaises(IndexError):
            table[3]
        with self.assertRaises(IndexError):
            table["a"][-4]
        with self.assertRaisesRegex(KeyError, "no column 'c'; it has a, b"):
            table["c"]

    def test_no_rows(self):
        table = self.query("SELECT 1 AS a, 'x' AS b WHERE 0")
        self.assertEqual((len(table), table.columns, table.rows()), (0, ["a", "b"], []))
        self.assertEqual(table["a"].to_numpy().tolist(), [])
        self.assertIn("a", str(table))

    def test_names_that_are_no_utf8_are_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.json"
            event = json.dumps(slice_of("NAME", 0, 5)).encode().replace(b"NAME", b"a\xff\xfeb")
            file.write_bytes(b"[" + event + b"]")
            profile = npuscope.open(file)
        self.assertEqual(profile.table("ops")["name"].to_list(), ["a\ufffd\ufffdb"])
        self.assertEqual(profile.ops(by="name")["name"].to_list(), ["a\ufffd\ufffdb"])
        self.assertIn("\ufffd", str(profile.table("ops")))

    def test_names_are_no_markup_in_notebooks(self):
        profile = trace([slice_of("<script>alert(1)</script>", 0, 5)])
        for shown in (
            profile.ops(by="name"),
            profile.units(),
            profile.path(),
            profile.query("SELECT name AS '<b>' FROM ops"),
            profile,
        ):
            page = shown._repr_html_()
            self.assertTrue(page)
            self.assertNotIn("<script>alert", page)
            self.assertNotIn("<b>", page)

    def test_long_tables_show_their_first_rows(self):
        table = self.query(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) "
            "SELECT i FROM n"
        )
        self.assertEqual(len(table), 5000)
        self.assertTrue(str(table).endswith("(20 of 5,000 rows)"))
        self.assertIn("20 of 5,000 rows", table._repr_html_())
        ops = npuscope.open(SOURCE / "examples/qnn_htp").ops()
        self.assertIn("(20 of 108)", str(ops))
        self.assertEqual(len(ops), 108)

    def test_top_leaves_rows_out_and_says_so(self):
        ops = npuscope.open(SOURCE / "examples/qnn_htp").ops(top=3)
        self.assertEqual((len(ops), ops.row_count), (3, 108))

    def test_extreme_times_wrap_nowhere(self):
        most = 2**63 - 1
        profile = trace([slice_of("a", 0, 1), slice_of("b", most // 1000, most // 1000)])
        spans = profile.table("spans")
        rows = profile.query('SELECT start, duration, "end" FROM spans ORDER BY id')
        for name in ("start", "duration", "end"):
            self.assertEqual(spans[name].to_list(), rows[name].to_list())


class Pickles(unittest.TestCase):
    """For other processes: a profile is opened again from its files."""

    def test_a_profile_comes_back_whole(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        again = pickle.loads(pickle.dumps(profile))
        self.assertEqual(again.ops().rows(), profile.ops().rows())

    def test_a_selection_comes_back_as_one(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp").select(unit="HMX").select(core=0)
        again = pickle.loads(pickle.dumps(profile))
        self.assertEqual(again.selection, profile.selection)
        self.assertEqual(again.ops().rows(), profile.ops().rows())

    def test_of_several_the_one_that_was_pickled(self):
        second = npuscope.open_all(SOURCE / "examples/llamacpp")[1]
        self.assertEqual(pickle.loads(pickle.dumps(second)).ops().rows(), second.ops().rows())

    def test_from_another_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "trace.json").write_text(json.dumps({"traceEvents": [slice_of("a", 0, 5)]}))
            before = os.getcwd()
            os.chdir(folder)
            try:
                pickled = pickle.dumps(npuscope.open("trace.json"))
            finally:
                os.chdir(before)
            self.assertEqual(len(pickle.loads(pickled).ops()), 1)

    def test_a_file_that_changed_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.json"
            file.write_text(json.dumps({"traceEvents": [slice_of("a", 0, 5)]}))
            pickled = pickle.dumps(npuscope.open(file))
            file.write_text(json.dumps({"traceEvents": [slice_of("another", 0, 5)]}))
            with self.assertRaisesRegex(npuscope.InputError, "not the file that the pickled"):
                pickle.loads(pickled)


class Pages(unittest.TestCase):
    def setUp(self):
        self.page = npuscope.open("examples/qnn_htp").units()

    def test_sections_by_key_and_as_attributes(self):
        self.assertEqual(self.page.engines.rows(), self.page["engines"].rows())
        self.assertIn("engines", dir(self.page))
        self.assertEqual(list(self.page)[0], "wall")
        with self.assertRaisesRegex(KeyError, "no section 'engine'; it has wall, units"):
            self.page["engine"]
        with self.assertRaises(AttributeError):
            self.page.engine

    def test_a_fact_asked_of_a_table_is_pointed_at(self):
        path = npuscope.open(SOURCE / "examples/qnn_htp").path(faster={"n2$": 2})
        with self.assertRaisesRegex(KeyError, "'gain' is one of its facts"):
            path.what_if["gain"]

    def test_texts_are_the_programs(self):
        self.assertEqual(
            self.page.to_text(width=100), run_program("units", "examples/qnn_htp", "--top", "0").text
        )
        program = run_program("ops", "examples/qnn_htp", "--top", "0", "--width", "206")
        self.assertEqual(npuscope.open("examples/qnn_htp").ops().to_text(width=206), program.text)
        program = run_program("query", "examples/qnn_htp", "SELECT * FROM units", "--width", "150")
        units = npuscope.open("examples/qnn_htp").query("SELECT * FROM units")
        self.assertEqual(units.to_text(width=150), program.text)
        self.assertEqual(
            self.page.to_csv("overlap"),
            run_program("units", "examples/qnn_htp", "--csv", "--table", "overlap").text,
        )
        self.assertEqual(
            self.page.to_markdown(),
            run_program("units", "examples/qnn_htp", "--markdown", "--top", "0").text,
        )

    def test_a_notebook_shows_every_section(self):
        page = self.page._repr_html_()
        for title in ("HARDWARE", "OVERLAP", "183,948"):
            self.assertIn(title, page)

    def test_a_profile_is_its_report_in_a_notebook(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        page = profile._repr_html_()
        self.assertTrue(page.startswith('<iframe srcdoc="&lt;!'))
        self.assertEqual(page.count('"'), 6)  # nothing of the report ends an attribute

    def test_the_report_is_written_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            page = npuscope.open(SOURCE / "examples/qnn_htp").report(file)
            self.assertEqual(file.read_text(), page)
            with self.assertRaises(npuscope.OutputError):
                npuscope.open(SOURCE / "examples/qnn_htp").report(Path(folder) / "no/report.html")


@unittest.skipIf(pandas is None, "pandas is not installed")
class DataFrames(unittest.TestCase):
    def test_types(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        frame = profile.ops(by="kind").to_pandas()
        self.assertEqual(str(frame.dtypes["runs"]), "int64")
        self.assertEqual(str(frame.dtypes["work"]), "Int64")  # unknown where an op only waits
        self.assertEqual(str(frame.dtypes["p50"]), "float64")
        spans = profile.table("spans").to_pandas()
        self.assertEqual(str(spans.dtypes["op_name"]), "category")
        self.assertEqual(str(spans.dtypes["start"]), "int64")

    def test_values_are_those_of_the_table(self):
        profile = npuscope.open(SOURCE / "examples/qnn_htp")
        for table in (profile.ops(), profile.table("spans"), profile.table("ops"), profile.table("clocks")):
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), table.columns)
            for name in table.columns:
                theirs = [None if pandas.isna(value) else value for value in frame[name]]
                self.assertEqual(theirs, table[name].to_list(), name)

    def test_frames_are_their_own(self):
        ops = npuscope.open(SOURCE / "examples/qnn_htp").ops()
        frame = ops.to_pandas()
        frame.loc[0, "runs"] = 99
        series = ops["runs"].to_pandas()
        series[0] = 98
        self.assertNotIn(ops["runs"][0], (98, 99))

    def test_units_and_kinds(self):
        frame = npuscope.open(SOURCE / "examples/qnn_htp").ops().to_pandas()
        self.assertEqual(frame.attrs["units"]["work"], "cycles")
        self.assertEqual(frame.attrs["kinds"]["work"], "work")
        series = npuscope.open(SOURCE / "examples/qnn_htp").ops()["work"].to_pandas()
        self.assertEqual(series.attrs["unit"], "cycles")

    def test_work_with_numbers(self):
        frame = npuscope.open(SOURCE / "examples/qnn_htp").ops(by="kind").to_pandas()
        self.assertEqual(int(frame["work"].sum()), 828582)
        self.assertEqual(frame.groupby("on")["runs"].sum()["HMX"], 26)

    def test_pages_give_their_first_table(self):
        page = npuscope.open(SOURCE / "examples/qnn_htp").units()
        self.assertEqual(list(page.to_pandas()["busy"]), page.units["busy"].to_list())
        self.assertEqual(list(page.to_pandas("overlap")["a"]), page.overlap["a"].to_list())
        with self.assertRaisesRegex(KeyError, "no table 'x'; the page has units, engines"):
            page.to_pandas("x")


if __name__ == "__main__":
    unittest.main()
