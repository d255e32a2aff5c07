"""Fleets: a store of thousands of runs, and questions about them (npuscope fleet).

>>> import npuscope
>>> fleet = npuscope.Fleet("fleet.db")
>>> fleet.add("examples/qnn_htp", tags={"build": 16}).added["runs"]
1
>>> fleet.ops(top=2).ops["name"].to_list()
['n2', 'n10']
>>> fleet.query("SELECT format, inferences FROM runs").rows()
[{'format': 'QNN HTP optrace set', 'inferences': 3}]
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from . import _npuscope
from .pages import Page
from .profiles import file_names
from .tables import Facts, Table

if TYPE_CHECKING:
    from .profiles import FileName


class FleetPage(Page):
    """Of a question about a fleet: which store, which of its runs, how many."""

    fleet: Facts


class FleetRunsPage(FleetPage):
    """Of ``Fleet.runs()``."""

    contents: Facts
    tags: Table
    newest: Table  # without by
    groups: Table  # with it


class FleetLatencyPage(FleetPage):
    """Of ``Fleet.latency()``."""

    latency: Table


class FleetOpsPage(FleetPage):
    """Of ``Fleet.ops()``."""

    ops: Table


class FleetFindingsPage(FleetPage):
    """Of ``Fleet.findings()``."""

    findings: Table
    losses: Table
    messages: Table


class FleetChangesPage(FleetPage):
    """Of ``Fleet.diff()``."""

    changes: Table


class ChangePointsPage(FleetPage):
    """Of ``Fleet.change_points()``."""

    change_points: Table


class FleetOutliersPage(FleetPage):
    """Of ``Fleet.outliers()``."""

    groups: Table
    outlying_runs: Table


class FleetAddedPage(Page):
    """Of ``Fleet.add()``."""

    added: Facts


class Fleet:
    """A store of many runs, and the questions of ``npuscope fleet``.

    The store is opened by each question and closed after it; adding makes it where there is none.
    Damaged runs are left out of what is measured, and counted.

    Args:
        store: a file, a folder that holds fleet.db, or "clickhouse://host/database".
    """

    def __init__(self, store: FileName) -> None:
        self.store: str = os.fspath(store)

    def __repr__(self) -> str:
        return f"<Fleet {self.store}>"

    def add(
        self,
        *files: FileName | Iterable[FileName],
        tags: Mapping[str, object] | None = None,
        with_: Iterable[FileName] = (),
        spans: bool = False,
        keep_going: bool = False,
        max_memory: int = 0,
    ) -> FleetAddedPage:
        """Adds the runs of files and folders (npuscope fleet add); those that are there stay.

        Args:
            files: files and folders of any format; a folder of folders is opened one by one.
            tags: of all these runs; device, soc, sdk, model and time set the columns of runs.
            with_: files that belong to each of them: a program, a model.
            spans: also keep every span: large.
            keep_going: files that cannot be opened are left out, not an error.
            max_memory: bytes at which reading stops; 0: a third of the machine's memory.
        """
        return FleetAddedPage(
            _npuscope.add_to_fleet(
                store=self.store,
                files=file_names(files),
                with_=file_names(with_),
                tags=[f"{key}={value}" for key, value in (tags or {}).items()],
                spans=spans,
                keep_going=keep_going,
                max_memory=max_memory,
            )
        )

    def runs(self, *, where: str = "", by: str | Iterable[str] = (), top: int = 0) -> FleetRunsPage:
        """What the store holds: runs, or groups of them (npuscope fleet ls).

        Args:
            where: only these runs, as SQL: "soc = 'SM8650' AND build >= 120".
            by: a row for each value of these columns of runs or tags.
            top: rows; 0: all.
        """
        return FleetRunsPage(self._asked(where, by).runs(top))

    def latency(
        self, *, where: str = "", by: str | Iterable[str] = (), measure: str = ""
    ) -> FleetLatencyPage:
        """How latency is spread, warm and cold, and which run is the median (npuscope fleet latency).

        Args:
            where, by: as in :meth:`runs`.
            measure: column of inferences, as "wall_seconds"; "": that of most runs.
        """
        return FleetLatencyPage(self._asked(where, by).latency(measure))

    def ops(
        self, *, where: str = "", by: str | Iterable[str] = (), measure: str = "work", top: int = 0
    ) -> FleetOpsPage:
        """What each op costs over all runs (npuscope fleet ops).

        Args:
            where, by, top: as in :meth:`runs`.
            measure: column of op_runs: "work", "active", ...
        """
        return FleetOpsPage(self._asked(where, by).ops(measure, top))

    def findings(self, *, where: str = "", by: str | Iterable[str] = ()) -> FleetFindingsPage:
        """In what share of the runs each rule speaks, and how many lost data (npuscope fleet findings)."""
        return FleetFindingsPage(self._asked(where, by).findings())

    def diff(
        self,
        where_a: str,
        where_b: str,
        *,
        where: str = "",
        measure: str = "work",
        max_q: float = 0.05,
        min_change: float = 0.01,
    ) -> FleetChangesPage:
        """Which ops became slower between two choices of runs (npuscope fleet diff).

        Args:
            where_a, where_b: the runs before and after, as SQL: "build = 16", "build = 17".
            where: only runs of these.
            measure: column of op_runs.
            max_q: rate of false discoveries among the changes that are named.
            min_change: changes of less are the same; 0.01 is 1 %.
        """
        request = _npuscope.ChangeRequest(measure, max_q, min_change)
        return FleetChangesPage(self._asked(where, ()).diff(where_a, where_b, request))

    def change_points(
        self,
        along: str,
        *,
        where: str = "",
        measure: str = "work",
        max_q: float = 0.05,
        min_change: float = 0.01,
    ) -> ChangePointsPage:
        """Where along all builds each op changed (npuscope fleet diff --along).

        Args:
            along: a column of runs or a tag: "build".
            where, measure, max_q, min_change: as in :meth:`diff`.
        """
        request = _npuscope.ChangeRequest(measure, max_q, min_change)
        return ChangePointsPage(self._asked(where, ()).change_points(along, request))

    def outliers(
        self,
        *,
        where: str = "",
        by: str | Iterable[str] = (),
        measure: str = "",
        within: str | Iterable[str] = (),
    ) -> FleetOutliersPage:
        """Which devices are slow and why, and which runs are unlike the others (npuscope fleet outliers).

        Args:
            where, by, measure: as in :meth:`latency`.
            within: compare runs only with those of the same value of these columns or tags.
        """
        return FleetOutliersPage(self._asked(where, by).outliers(measure, _words(within)))

    def query(self, sql: str, *, timeout: float = 60, max_rows: int = 0) -> Table:
        """Rows of an SQL query over the store (npuscope fleet sql); docs/fleet.md has its tables.

        Args:
            timeout: seconds after which the query ends with an error.
            max_rows: 0: all.
        """
        rows, has_more = _npuscope.query_fleet(self.store, sql, timeout, max_rows)
        if has_more:
            warnings.warn(
                f"these are the first {len(rows)} rows, there are more; max_rows sets how many",
                stacklevel=2,
            )
        return Table(rows)

    def _asked(self, where: str, by: str | Iterable[str]) -> _npuscope.Fleet:
        return _npuscope.Fleet(self.store, where, _words(by))


def _words(words: str | Iterable[str]) -> list[str]:
    return [words] if isinstance(words, str) else list(words)
