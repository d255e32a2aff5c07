"""examples/llm_statistics.ipynb runs from its first cell to its last, and shows what it shows."""

import os
import unittest
from unittest import mock

from support import SOURCE

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError:
    nbclient = None


def texts_of(notebook):
    """What each cell prints and gives, as text."""
    return [
        [output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue")
         for output in cell.outputs if output.get("name") != "stderr"]
        for cell in notebook.cells if cell.cell_type == "code"
    ]


@unittest.skipIf(nbclient is None, "nbclient or ipykernel is not installed")
class Notebook(unittest.TestCase):
    maxDiff = None

    def test_runs_and_shows_the_same(self):
        notebook = nbformat.read(SOURCE / "examples/llm_statistics.ipynb", as_version=4)
        nbformat.validate(notebook)
        shown = texts_of(notebook)
        quiet = {"COLUMNS": "100", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        with mock.patch.dict(os.environ, quiet):
            nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
        self.assertEqual(texts_of(notebook), shown)
        self.assertEqual(sum(cell.cell_type == "code" for cell in notebook.cells), 10)


if __name__ == "__main__":
    unittest.main()
