"""Pages: what a command of npuscope answers, as tables and facts.

>>> import npuscope
>>> units = npuscope.open("examples/qnn_htp").units()
>>> list(units)
['wall', 'units', 'engines', 'overlap', 'concurrency', 'imbalance', 'stated']
>>> units.engines["domain"].to_list()
[183948, 87414, 8427]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, List

from .tables import (
    ROWS_SHOWN,
    Facts,
    Section,
    Table,
    section_html,
    sections_of,
    text_width,
)

if TYPE_CHECKING:
    import pandas

    from . import _npuscope

class Page(Mapping[str, "Section"]):
    """Tables and facts by their keys, those of ``--json``: ``page.steps`` or ``page["steps"]``.

    A section with rows is a :class:`Table`, one without is :class:`Facts`; several of one key are
    a list. ``print(page)`` shows the first rows of each as the program does.
    """

    def __init__(self, native: _npuscope.Page) -> None:
        self._native = native
        self._sections: dict[str, Section] | None = None

    @property
    def sections(self) -> dict[str, Section]:
        """All sections by their keys, in their order."""
        if self._sections is None:
            self._sections = sections_of(self._native.sections)
        return self._sections

    @property
    def tables(self) -> dict[str, Table]:
        """The sections that are one table."""
        return {key: part for key, part in self.sections.items() if isinstance(part, Table)}

    def __getitem__(self, key: str) -> Section:
        try:
            return self.sections[key]
        except KeyError:
            raise KeyError(
                f"the page of {self._native.command} has no section '{key}'; "
                f"it has {', '.join(self.sections)}"
            ) from None

    def __getattr__(self, key: str) -> Section:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.sections)

    def __len__(self) -> int:
        return len(self.sections)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.sections})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.sections)

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """A table as a data frame; by default the first, as ``--csv`` prints."""
        tables = self.tables
        if table is None:
            if not tables:
                raise KeyError(f"the page of {self._native.command} has no table")
            table = next(iter(tables))
        if table not in tables:
            raise KeyError(f"no table '{table}'; the page has {', '.join(tables)}")
        return tables[table].to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints of the profile."""
        page: dict[str, Any] = json.loads(self._native.json())
        profiles = page.get("profiles")
        is_of_one = isinstance(profiles, list) and len(profiles) == 1 and "side" not in profiles[0]
        return dict(profiles[0]) if is_of_one and profiles else page

    def to_csv(self, table: str = "") -> str:
        """A table as CSV text; by default the first."""
        return self._native.csv(table)

    def to_markdown(self) -> str:
        """The page as Markdown: headings, facts, tables."""
        return self._native.markdown()

    def to_text(self, width: int | None = None, rows: int = 0) -> str:
        """The page as the program prints it; ``rows`` of each table, 0: all."""
        return self._native.text(text_width() if width is None else width, rows)

    def __str__(self) -> str:
        return self._native.text(text_width(), ROWS_SHOWN).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(section_html(section) for section in self._native.sections)


# What the page of each question may have; a profile that says nothing of a section lacks it, and asking for it then is an
# AttributeError that names those that are there.


class UnitsPage(Page):
    """Of ``Profile.units()``."""

    wall: Facts
    units: Table
    engines: Table
    overlap: Table
    concurrency: Table
    imbalance: Table
    stated: Table
    one_core_ops: Table


class PathPage(Page):
    """Of ``Profile.path()``."""

    path: Facts
    parts: Table
    ops: Table
    units: Table
    reasons: Table
    steps: Table
    what_if: Facts


class MemoryPage(Page):
    """Of ``Profile.memory()``."""

    roofline: Facts
    traffic: Table
    inferences: Table
    ops: Table
    over_time: Table
    transfers: Table
    engines: Table
    vtcm: Table
    constants: Table
    spill: Table
    schedule: Facts


class DiagnosePage(Page):
    """Of ``Profile.diagnose()``."""

    summary: Facts
    ranking: Table
    findings: List[Facts]
    call: Table


class ShowPage(Page):
    """Of ``Profile.show()``."""

    about: Facts
    latency: Table
    wall: Table
    findings: Table
    model_parts: Table
    ops: Table
    kinds: Table
    units: Table
    engines: Table
    overlap: Table
    concurrency: Table
    traffic: Table
    notes: Facts
    estimate: Facts
    numbers_of_run: Table
    counters: Table
    checks: Table
    imbalance: Table
    stated: Table
    numbers_of_parts: Table
    call: Table
    phases: Table
    tokens: Facts
    op_windows: Table
    one_core_ops: Table
    unit_numbers: Table
    throughput: Facts
