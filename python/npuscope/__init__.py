"""npuscope: the inference profiler for NPUs, from Python.

>>> import npuscope
>>> profile = npuscope.open("examples/qnn_htp")       # any format; several files are one profile
>>> ops = profile.ops(by="kind")                      # a table: print it, or
>>> frame = ops.to_pandas()                           # a data frame, or
>>> work = ops["work"].to_numpy()                     # a view of numpy, or Arrow: pyarrow.table(ops)
>>> path = profile.path(faster={"n2$": 2})            # a page of several tables and facts
>>> path.what_if.facts["gain"]
15412.0

===================================  ==================================================
open, open_all                       files and folders of any format
Profile.ops, .units, .path,          what the commands of the program answer, with the
.memory, .diagnose, .show            numbers that they print with --json
Profile.query, query                 SQL
Profile.table                        spans, ops, units, ... as they are in the profile
Profile.select                       a window, units, ops, a core, an inference
diff                                 two profiles or sets of runs, with gates
Fleet                                a store of thousands of runs, and questions about them
generate_model, compile, run         the reference NPU: a profile without hardware
===================================  ==================================================

Errors are :class:`Error`: one sentence that says what, where, and what to do.
"""

from ._npuscope import version as __version__
from .comparisons import Comparison, diff
from .errors import (
    DamagedProfileWarning,
    Error,
    GateFailed,
    InputError,
    OutputError,
    UsageError,
)
from .fleet import (
    ChangePointsPage,
    Fleet,
    FleetAddedPage,
    FleetChangesPage,
    FleetFindingsPage,
    FleetLatencyPage,
    FleetOpsPage,
    FleetOutliersPage,
    FleetPage,
    FleetRunsPage,
)
from .pages import DiagnosePage, MemoryPage, Page, PathPage, ShowPage, UnitsPage
from .profiles import Profile, open, open_all, query
from .reference import Program, Run, compile, generate_model, run
from .tables import Column, Facts, Table

__all__ = [
    "ChangePointsPage",
    "Column",
    "Comparison",
    "DamagedProfileWarning",
    "DiagnosePage",
    "Error",
    "Facts",
    "Fleet",
    "FleetAddedPage",
    "FleetChangesPage",
    "FleetFindingsPage",
    "FleetLatencyPage",
    "FleetOpsPage",
    "FleetOutliersPage",
    "FleetPage",
    "FleetRunsPage",
    "GateFailed",
    "InputError",
    "MemoryPage",
    "OutputError",
    "Page",
    "PathPage",
    "Profile",
    "Program",
    "Run",
    "ShowPage",
    "Table",
    "UnitsPage",
    "UsageError",
    "__version__",
    "compile",
    "diff",
    "generate_model",
    "open",
    "open_all",
    "query",
    "run",
]
