"""The notebooks of examples/ run from their first cell to their last, and show what they show."""

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
try:
    import matplotlib.pyplot  # noqa: F401
    has_matplotlib = True
except ImportError:  # Debian's is for Debian's NumPy
    has_matplotlib = False


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

    def run_notebook(self, name, cells):
        notebook = nbformat.read(SOURCE / "examples" / name, as_version=4)
        nbformat.validate(notebook)
        shown = texts_of(notebook)
        quiet = {"COLUMNS": "100", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        with mock.patch.dict(os.environ, quiet):
            nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
        self.assertEqual(texts_of(notebook), shown)
        self.assertEqual(sum(cell.cell_type == "code" for cell in notebook.cells), cells)
        return notebook

    def test_statistics_of_a_language_model(self):
        self.run_notebook("llm_statistics.ipynb", 10)

    @unittest.skipUnless(has_matplotlib, "matplotlib is not installed for this NumPy")
    def test_plots(self):
        notebook = self.run_notebook("plots.ipynb", 5)
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        self.assertEqual(sum("image/png" in output.get("data", {}) for output in outputs), 4)

    def test_none_is_left_out(self):
        names = {file.name for file in (SOURCE / "examples").glob("*.ipynb")}
        self.assertEqual(names, {"llm_statistics.ipynb", "plots.ipynb"})


if __name__ == "__main__":
    unittest.main()
