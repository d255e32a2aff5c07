"""Every example in the package's help and in docs/python.md runs and prints what it shows."""

import doctest
import importlib
import os
import pkgutil
import tempfile
import unittest

import npuscope
from support import SOURCE

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["npuscope"] + [
    f"npuscope.{module.name}"
    for module in pkgutil.iter_modules(npuscope.__path__)
    if not module.name.startswith("_")
]


class Examples(unittest.TestCase):
    def expect_all_pass(self, results, name):
        self.assertGreater(results.attempted, 0, name)
        self.assertEqual(results.failed, 0, name)

    def setUp(self):
        """In a folder with the examples, where they write what they write."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for each in ("examples", "models"):
            os.symlink(SOURCE / each, f"{folder.name}/{each}")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_of_the_package(self):
        for name in MODULES:
            module = importlib.import_module(name)
            results = doctest.testmod(module, extraglobs={"npuscope": npuscope}, optionflags=FLAGS)
            self.expect_all_pass(results, name)

    def test_of_the_documentation(self):
        results = doctest.testfile(
            str(SOURCE / "docs/python.md"), module_relative=False, optionflags=FLAGS
        )
        self.expect_all_pass(results, "docs/python.md")

    def test_everything_public_has_help(self):
        for name in npuscope.__all__:
            thing = getattr(npuscope, name)
            self.assertTrue(getattr(thing, "__doc__", None), name)
            if not isinstance(thing, type):
                continue
            for member, value in vars(thing).items():
                if member.startswith("_") or not callable(value):
                    continue
                self.assertTrue(value.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
