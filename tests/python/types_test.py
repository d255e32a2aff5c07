"""The types: the package obeys its own under mypy --strict, and the stub of the extension says what
the extension has."""

import ast
import contextlib
import inspect
import os
import shutil
import subprocess
import tempfile
import typing
import unittest
import warnings
from pathlib import Path

import npuscope
from npuscope import _npuscope
from support import SOURCE

PACKAGE = SOURCE / "python/npuscope"


class Types(unittest.TestCase):
    def test_the_stub_names_what_the_extension_has(self):
        stub = ast.parse((PACKAGE / "_npuscope.pyi").read_text())

        def named(body):
            names = {}
            for node in body:
                if isinstance(node, ast.ClassDef):
                    names[node.name] = named(node.body)
                elif isinstance(node, ast.FunctionDef):
                    names[node.name] = None
                elif isinstance(node, ast.AnnAssign):
                    names[node.target.id] = None
            return names

        def held(thing):
            names = {}
            for name, value in vars(thing).items():
                if name.startswith("__") and name not in ("__init__", "__len__"):
                    continue
                if name.startswith("_pybind11"):
                    continue
                names[name] = held(value) if inspect.isclass(value) else None
            return names

        declared, real = named(stub.body), held(_npuscope)
        for name, members in real.items():
            if members is not None and "__init__" not in declared.get(name, {}):
                members.pop("__init__", None)  # pybind11's own, which refuses
        self.assertEqual(declared, real)

    def test_arguments_of_the_stub(self):
        stub = ast.parse((PACKAGE / "_npuscope.pyi").read_text())
        for node in ast.walk(stub):
            if not isinstance(node, ast.ClassDef) or not hasattr(_npuscope, node.name):
                continue
            for method in node.body:
                if not isinstance(method, ast.FunctionDef) or method.decorator_list:
                    continue
                said = getattr(getattr(_npuscope, node.name), method.name).__doc__ or ""
                arguments = method.args.args + method.args.kwonlyargs
                signature = said.split("->")[0]
                if method.name != "__len__":
                    self.assertEqual(
                        signature.count(": "), len(arguments), f"{node.name}.{method.name}: {said}"
                    )

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_the_package_and_its_users_obey_the_types(self):
        use = """\
import math
import npuscope

profile: npuscope.Profile = npuscope.open("a", "b")
ops: npuscope.Table = profile.ops(by="kind", columns=["work"])
column: npuscope.Column = ops["work"]
row: dict[str, object] = ops[0]
page: npuscope.Page = profile.path(faster={"MatMul": 2, "Softmax": math.inf, "Add": "50%"})
engines: npuscope.Table = profile.units().engines
busy: npuscope.Column = profile.units().units["busy"]
verdict: str = npuscope.diff(profile, profile).verdict
total: int = int(column.to_numpy().sum())
comparison: npuscope.Comparison = npuscope.diff(profile, ["a", "b"], fail_if="wall > 3%")
passed: bool = comparison.passed
fleet: npuscope.Fleet = npuscope.Fleet("fleet.db")
slow: npuscope.Table = fleet.latency(by="device").latency
changes: npuscope.Table = fleet.diff("build = 1", "build = 2").changes
program: npuscope.Program = npuscope.compile("m.onnx", symbols={"seq_len": 32})
"""
        wrong = (
            'import npuscope\nnpuscope.open("a").ops(by=3)\nnpuscope.open("a").opps()\n'
            'npuscope.open("a").units().wall.to_pandas()\n'
        )
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PACKAGE, Path(folder) / "npuscope")
            for name, text in (("use.py", use), ("wrong.py", wrong)):
                (Path(folder) / name).write_text(text)

            def mypy(*files):
                return subprocess.run(
                    ["/usr/bin/mypy", "--strict", "--allow-any-generics", "--ignore-missing-imports",
                     "--cache-dir", f"{folder}/cache", *files],
                    cwd=folder, capture_output=True, text=True, check=False,
                    env={**os.environ, "MYPYPATH": "", "PYTHONPATH": ""},
                )

            right = mypy("use.py", "npuscope")
            self.assertEqual((right.returncode, right.stdout.strip()[:8]), (0, "Success:"), right.stdout)
            caught = mypy("wrong.py").stdout
            self.assertIn('wrong.py:2: error: Argument "by"', caught)
            self.assertIn('wrong.py:3: error: "Profile" has no attribute "opps"', caught)
            self.assertIn('wrong.py:4: error: "Facts" has no attribute "to_pandas"', caught)

    def test_sections_are_of_the_types_that_pages_declare(self):
        for folder in sorted((SOURCE / "examples").iterdir()):
            if not folder.is_dir():
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    profiles = npuscope.open_all(folder, keep_going=True)
                except npuscope.InputError:  # scripts alone
                    continue
            for profile in profiles:
                pages = [profile.show()]
                for question in (profile.units, profile.path, profile.memory, profile.diagnose):
                    with contextlib.suppress(npuscope.Error):
                        pages.append(question())
                for page in pages:
                    declared = typing.get_type_hints(type(page), vars(npuscope.pages))
                    for key, section in page.items():
                        wanted = declared[key]
                        kind = typing.get_origin(wanted) or wanted
                        self.assertIsInstance(section, kind, f"{folder}: {type(page).__name__}.{key}")


if __name__ == "__main__":
    unittest.main()
