"""The module's numbers are those of the program: every command, on every sort of recording, row by
row through the columns and whole through to_dict()."""

import tempfile
import unittest
from pathlib import Path

import npuscope
from errors_test import with_arguments
from support import NAMES, files_of, run_program, simulated


def rows_and_facts(part):
    """A section as --json has it, made of columns and facts."""
    if isinstance(part, list):
        return [rows_and_facts(each) for each in part]
    if isinstance(part, npuscope.Facts):
        made = dict(part)
    else:
        made = dict(part.facts)
        made["row_count"] = part.row_count
        made["rows"] = part.rows()
    if part.remarks:
        made["remarks"] = part.remarks
    for key, section in part.sections.items():
        made[key] = rows_and_facts(section)
    return made


class Numbers(unittest.TestCase):
    maxDiff = 2000

    def expect_same(self, name, command, answer, *flags):
        """`answer` of the profile against the command's --json, or both refuse with one sentence."""
        with self.subTest(recording=name, command=command, flags=flags):
            files = files_of(name)
            program = run_program(command, *files, "--json", *flags)
            profile = npuscope.open(files)
            try:
                page = answer(profile)
            except npuscope.Error as error:
                self.assertEqual(with_arguments(program.error.splitlines()[-1]), f"npuscope: {error}")
                self.assertIn(program.status, (2, 3))
                return
            self.assertEqual(program.status, 0, program.error)
            (said,) = program.json["profiles"]
            if isinstance(page, npuscope.Table):
                page = {page.name: page}
            else:
                self.assertEqual(page.to_dict(), said)
            for key, part in page.items():
                if key != "notes":  # where a page has them for text, JSON has those of the reader
                    self.assertEqual(rows_and_facts(part), said[key], key)
            heads = {"files", "format", "clock", "partial", "structure_only", "scope", "selection"}
            self.assertEqual(set(said) - heads - {"notes"}, set(page) - {"notes"})

    def test_ops(self):
        for name in NAMES:
            for by in ("op", "kind", "unit", "rule"):
                self.expect_same(name, "ops", lambda profile: profile.ops(by=by), "--by", by)

    def test_ops_with_flags(self):
        for name in ("qnn", "aic100"):
            self.expect_same(name, "ops", lambda p: p.ops(sort="start"), "--sort", "start")
            self.expect_same(
                name,
                "ops",
                lambda p: p.ops(by="kind", columns=["work", "runs"], top=3, min_share=0.01),
                *("--by", "kind", "--columns", "work,runs", "--top", "3", "--min-share", "1%"),
            )
            self.expect_same(
                name, "ops", lambda p: p.ops(rules="kernels"), "--rules", "kernels"
            )
            self.expect_same(name, "ops", lambda p: p.ops(sort="nonsense"), "--sort", "nonsense")

    def test_units(self):
        for name in NAMES:
            for by in ("unit", "core", "engine", "device"):
                self.expect_same(name, "units", lambda p: p.units(by=by), "--by", by)

    def test_path(self):
        for name in NAMES:
            self.expect_same(name, "path", lambda profile: profile.path())
            self.expect_same(
                name,
                "path",
                lambda profile: profile.path(faster={"(?i)conv|n2$": 2}, slower={"unit:.*": "150%"}),
                *("--faster", "(?i)conv|n2$=2.0x", "--slower", "unit:.*=150%"),
            )
        self.expect_same("qnn", "path", lambda p: p.path(vendor=True), "--vendor")
        self.expect_same("aic100", "path", lambda p: p.path(inference=2), "--inference", "2")

    def test_memory(self):
        for name in NAMES:
            self.expect_same(name, "memory", lambda profile: profile.memory())
            self.expect_same(
                name,
                "memory",
                lambda p: p.memory(by="kind", ddr_peak=137e9, mac_peak="8.2TMAC/s", buckets=7),
                *("--by", "kind", "--ddr-peak", "137GB/s"),
                *("--mac-peak", "8.2TMAC/s", "--buckets", "7"),
            )
        self.expect_same(
            "qnn",
            "memory",
            lambda p: p.memory(target="htp-v75", clock=1.8e9),
            *("--target", "htp-v75", "--clock", "1.8GHz"),
        )

    def test_diagnose(self):
        for name in NAMES:
            self.expect_same(name, "diagnose", lambda profile: profile.diagnose())
            self.expect_same(name, "diagnose", lambda profile: profile.diagnose(all=True), "--all")

    def test_show(self):
        for name in NAMES:
            self.expect_same(name, "show", lambda profile: profile.show())

    def test_selections(self):
        for name in ("qnn", "aic100"):
            for flags, selection in (
                (("--unit", "HMX"), {"unit": "HMX"}),
                (("--core", "0"), {"core": 0}),
                (("--inference", "1"), {"inference": 1}),
                (("--op", "(?i)conv"), {"op": "(?i)conv"}),
            ):
                for command in ("ops", "units", "memory", "diagnose", "show"):
                    self.expect_same(
                        name,
                        command,
                        lambda profile: getattr(profile.select(**selection), command)(),
                        *flags,
                    )

    def test_roles(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, roles = f"{folder}/trace.json", f"{folder}/roles.toml"
            Path(trace).write_text(
                '[{"ph":"X","pid":1,"tid":1,"name":"a","cat":"mine","ts":0,"dur":5},'
                '{"ph":"X","pid":1,"tid":1,"name":"b","cat":"theirs","ts":7,"dur":3}]'
            )
            Path(roles).write_text('[[rule]]\ncategory = "^mine$"\nrole = "annotation"\n')
            said = run_program("ops", trace, "--roles", roles, "--by", "name", "--json")
            self.assertEqual(said.status, 0, said.error)
            rows = npuscope.open(trace, roles=roles).ops(by="name").rows()
            self.assertEqual(rows, said.json["profiles"][0]["ops"]["rows"])
            self.assertEqual([row["name"] for row in rows], ["b"])

    def test_windows(self):
        self.expect_same(
            "qnn",
            "units",
            lambda profile: profile.select(from_="1000cyc", until="90000cyc").units(),
            *("--from", "1000cyc", "--to", "90000cyc"),
        )

    def test_queries(self):
        for name in NAMES:
            for sql in (
                "SELECT * FROM spans ORDER BY id LIMIT 200",
                "SELECT * FROM ops",
                "SELECT kind, count(*) AS n, sum(duration) FROM spans GROUP BY kind",
                "SELECT 1 AS a, 2 AS a, NULL, x'00ff', 'text' UNION ALL SELECT 'b', 2.5, 1, 2, 3",
                "SELECT * FROM spans WHERE 0",
                "SELECT nonsense",
            ):
                with self.subTest(recording=name, sql=sql):
                    program = run_program("query", *files_of(name), "--sql", sql, "--json")
                    try:
                        table = npuscope.open(files_of(name)).query(sql)
                    except npuscope.UsageError as error:
                        self.assertEqual(with_arguments(program.error.splitlines()[-1]), f"npuscope: {error}")
                        continue
                    self.assertEqual(table.columns, program.json["columns"])
                    self.assertEqual(table.rows(), program.json["rows"])

    def test_diff(self):
        runs = sorted(str(file) for file in simulated().glob("*.bin"))
        program_file = next(file for file in runs if file.endswith("programqpc.bin"))
        runs.remove(program_file)
        for a, b in (
            (["examples/qnn_htp"], ["examples/qnn_htp"]),
            ([*runs[:2], program_file], [*runs[2:], program_file]),
        ):
            for by in ("op", "kind"):
                program = run_program(
                    *("diff", "--a", *a, "--b", *b, "--json", "--by", by),
                    *("--fail-if", "wall > +1000%", "--require", "findings(high) < 99"),
                )
                comparison = npuscope.diff(
                    a, b, by=by, fail_if="wall > +1000%", require=["findings(high) < 99"]
                )
                said = {key: value for key, value in program.json.items()}
                for head in ("schema_version", "npuscope", "command"):
                    del said[head]
                self.assertEqual(comparison.to_dict(), said)
                self.assertEqual(comparison.passed, program.status == 0)
                for key, part in comparison.items():
                    self.assertEqual(rows_and_facts(part), said[key], key)

    def test_tables_of_the_profile(self):
        """Each cell as the query has it, which reads the profile by other code."""
        for name in NAMES:
            profile = npuscope.open(files_of(name))
            for table_name in profile.table_names:
                with self.subTest(recording=name, table=table_name):
                    table = profile.table(table_name)
                    columns = [
                        column for column in table.columns if table[column].meaning
                    ]  # others are numbers of spans
                    if not columns:
                        continue
                    listed = ", ".join(f'"{column}"' for column in columns)
                    order = "id" if "id" in columns else "rowid"
                    rows = profile.query(f"SELECT {listed} FROM {table_name} ORDER BY {order}")
                    self.assertEqual(len(rows), len(table))
                    for column in columns:
                        theirs = [int(v) if isinstance(v, bool) else v for v in table[column]]
                        self.assertEqual(theirs, rows[column].to_list(), column)


if __name__ == "__main__":
    unittest.main()
