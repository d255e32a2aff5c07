"""Tables and their columns: for numpy, pandas, Arrow, and to look at.

>>> import npuscope
>>> ops = npuscope.open("examples/qnn_htp").ops(by="kind")
>>> ops.columns[:4]
['kind', 'on', 'runs', 'instances']
>>> ops["work"]
Column 'work' [cycles, kind work, measured], 13 x int64: 87414, 260028, 202920, ...
"""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, List, Union, overload

if TYPE_CHECKING:
    import numpy
    import pandas

    from . import _npuscope

ROWS_SHOWN = 20
"""Rows of each table in texts and notebooks; the data has all of them."""


def text_width() -> int:
    """Columns that a text may have: the terminal's, from 60 to 200; 100 without one."""
    return min(200, max(60, shutil.get_terminal_size((100, 24)).columns))


class Column:
    """One column: values, and what they are.

    ``numpy.asarray(column)`` and ``to_numpy()`` look at the values where they lie, read-only and
    without a copy, however long the table; the view keeps the profile.

    Attributes of every column: ``name``, ``label`` (its head in texts), ``unit`` ("cycles",
    "bytes", "s"; empty for plain numbers, shares and texts), ``quantity`` ("time", "share", ...),
    ``kind`` ("wall", "work", "active", "unit_busy", "domain", "span", "dominant_path"; empty:
    unknown; numbers of different kinds are not to be subtracted), ``origin`` ("measured",
    "counter", "estimated", "simulated", "derived"; empty: unknown), ``meaning`` (in words) and
    ``type`` ("int64", "float64", "text", ...).
    """

    def __init__(self, native: _npuscope.Column) -> None:
        self._native = native
        self.name: str = native.name
        self.label: str = native.label
        self.unit: str = native.unit
        self.quantity: str = native.quantity
        self.kind: str = native.kind
        self.origin: str = native.origin
        self.meaning: str = native.meaning
        self.type: str = native.type

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, row: int) -> Any: ...
    @overload
    def __getitem__(self, row: slice) -> list[Any]: ...
    def __getitem__(self, row: int | slice) -> Any:
        """The value of a row, None where it is unknown; of a slice a list."""
        if isinstance(row, slice):
            return [self._native.at(i) for i in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a column with {len(self)} rows")
        return self._native.at(row)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def to_list(self) -> list[Any]:
        """All values; None where one is unknown."""
        return self._native.to_list()

    @property
    def mask(self) -> numpy.ndarray | None:
        """True where the value is unknown, without a copy; None where all are known or NaN says it."""
        return self._native.mask()

    def to_numpy(self) -> numpy.ndarray:
        """The values as an array.

        Numbers and truths are a read-only view without a copy. Real numbers are NaN where unknown;
        whole numbers with gaps are a masked array over the view. Texts and lists are objects.
        """
        import numpy

        if self.type == "category":
            # One more place at the end: code -1, unknown.
            texts = numpy.array([*self._native.items.to_list(), None], dtype=object)
            return texts[self._native.values()]
        values = self._native.values()
        if values is None:
            array = numpy.empty(len(self), dtype=object)
            array[:] = self.to_list()
            return array
        if self.mask is not None:
            masked: numpy.ndarray
            masked = numpy.ma.array(values, mask=self.mask)  # type: ignore[no-untyped-call]
            return masked
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        import numpy

        mask, values = self.mask, self._native.values()
        if mask is not None and values is not None:  # an array proper has no mask: NaN
            array = numpy.where(mask, numpy.nan, values)
        else:
            array = self.to_numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def to_pandas(self) -> pandas.Series:
        """A series of its own: nullable integers where some are unknown, categories for texts that
        repeat. ``series.attrs`` has unit, kind, origin and meaning."""
        import pandas

        series = pandas.Series(self._pandas_array(), name=self.name)
        series.attrs = {
            "label": self.label,
            "unit": self.unit,
            "quantity": self.quantity,
            "kind": self.kind,
            "origin": self.origin,
            "meaning": self.meaning,
        }
        return series

    def _pandas_array(self) -> Any:
        import pandas

        values, mask = self._native.values(), self.mask
        if self.type == "category":
            return pandas.Categorical.from_codes(values, categories=self._native.items.to_list())
        if values is None:
            return self.to_numpy()
        if mask is None:
            return values.copy()
        masked = (
            pandas.arrays.BooleanArray if self.type == "bool" else pandas.arrays.IntegerArray
        )
        return masked(values.copy(), mask.copy())

    def __arrow_c_schema__(self) -> object:
        return self._native.arrow_schema()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._native.arrow_array()

    def __repr__(self) -> str:
        about = [self.unit, f"kind {self.kind}" if self.kind else "", self.origin]
        said = ", ".join(word for word in about if word)
        shown = ", ".join(str(value) for value in self[:3])
        more = ", ..." if len(self) > 3 else ""
        return (
            f"Column {self.name!r}{f' [{said}]' if said else ''}, "
            f"{len(self)} x {self.type}{f': {shown}{more}' if shown else ''}"
        )


class Facts(Mapping[str, Any]):
    """Single values by their names, as JSON has them, each with its unit.

    >>> import npuscope
    >>> wall = npuscope.open("examples/qnn_htp").units().wall
    >>> wall["wall"], wall.units["wall"], wall.kinds["wall"]
    (258523, 'cycles', 'wall')
    """

    def __init__(self, section: _npuscope.Section | None) -> None:
        self._section = section
        facts = [] if section is None else section.facts
        self._values = {key: value for key, _, _, _, _, value in facts if key}
        self.units: dict[str, str] = {key: unit for key, _, unit, _, _, _ in facts if key}
        """The unit of each; empty for plain numbers and texts."""
        self.kinds: dict[str, str] = {key: kind for key, _, _, kind, _, _ in facts if key}
        """What sort of number each is; empty: unknown."""
        self.remarks: list[str] = [] if section is None else section.remarks
        self.title: str = "" if section is None else section.title

    @property
    def sections(self) -> dict[str, Section]:
        """What belongs to these facts, by key."""
        return {} if self._section is None else sections_of(self._section.parts)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        if self._section is None:
            return "Facts()"
        return self._section.text(text_width(), ROWS_SHOWN).rstrip("\n")

    def _repr_html_(self) -> str:
        return "" if self._section is None else section_html(self._section)


class Table:
    """Rows and columns, with what belongs to them.

    A row is a dictionary, ``table[0]``; a column is ``table["work"]``. Iterating gives the rows,
    ``in`` looks for a column. ``print(table)`` shows the first rows as the program does.
    """

    def __init__(
        self, native: _npuscope.Table, section: _npuscope.Section | None = None
    ) -> None:
        self._native = native
        self._section = section
        self.name: str = native.name
        self.facts = Facts(section)
        """Single values about the table: totals, what it is sorted by."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns; those of JSON and CSV."""
        return self._native.columns

    @property
    def title(self) -> str:
        return "" if self._section is None else self._section.title

    @property
    def remarks(self) -> list[str]:
        """Sentences on how to read the numbers."""
        return [] if self._section is None else self._section.remarks

    @property
    def sections(self) -> dict[str, Section]:
        """What belongs to the table, by key."""
        return {} if self._section is None else sections_of(self._section.parts)

    @property
    def row_count(self) -> int:
        """Rows that there are; ``len(table)`` is less where ``top`` left some out."""
        return len(self) if self._section is None else self._section.row_count

    def __len__(self) -> int:
        return len(self._native)

    def __contains__(self, column: object) -> bool:
        return column in self._native.columns

    @overload
    def __getitem__(self, which: str) -> Column: ...
    @overload
    def __getitem__(self, which: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, which: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, which: str | int | slice) -> Any:
        if isinstance(which, str):
            return Column(self._native.column(self._place(which)))
        columns = [(name, self[name]) for name in self.columns]
        if isinstance(which, slice):
            rows = range(*which.indices(len(self)))
            return [{name: column[i] for name, column in columns} for i in rows]
        if not -len(self) <= which < len(self):
            raise IndexError(f"row {which} of a table with {len(self)} rows")
        return {name: column[which] for name, column in columns}

    def _place(self, name: str) -> int:
        try:
            return self.columns.index(name)
        except ValueError:
            known = ", ".join(self.columns)
            hint = f"; '{name}' is one of its facts: .facts['{name}']" if name in self.facts else ""
            raise KeyError(
                f"the table '{self.name}' has no column '{name}'{hint}; it has {known}"
            ) from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self.columns
        for values in zip(*(self[name].to_list() for name in names)):
            yield dict(zip(names, values))

    def rows(self) -> list[dict[str, Any]]:
        """All rows as dictionaries, as ``--json`` prints them."""
        return list(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """A list of values for each column."""
        return {name: self[name].to_list() for name in self.columns}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of its own. ``frame.attrs["units"]`` and ``["kinds"]``, ``["origins"]`` say
        of each column what it is."""
        import pandas

        columns = [self[name] for name in self.columns]
        frame = pandas.DataFrame(
            {column.name: column._pandas_array() for column in columns},
            columns=[column.name for column in columns],
            copy=False,
        )
        frame.attrs = {
            "title": self.title,
            "units": {column.name: column.unit for column in columns},
            "kinds": {column.name: column.kind for column in columns},
            "origins": {column.name: column.origin for column in columns},
        }
        return frame

    def __arrow_c_schema__(self) -> object:
        return self._native.arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows as one batch; values are not copied."""
        return self._native.arrow_stream()

    def to_text(self, width: int | None = None, rows: int = 0) -> str:
        """The table as the program prints it: more columns at a greater ``width``; so many
        ``rows``, 0: all."""
        columns = text_width() if width is None else width
        if self._section is not None:
            return self._section.text(columns, rows)
        return self._native.text(columns, rows or len(self))

    def __str__(self) -> str:
        return self.to_text(rows=ROWS_SHOWN).rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self._section is not None:
            return section_html(self._section)
        names = self.columns
        shown = [self[name] for name in names]
        count = min(len(self), ROWS_SHOWN)
        columns = [
            (column.name, column.type in ("text", "category", "list"), [cell(v) for v in column[:count]])
            for column in shown
        ]
        more = f"<p>{count:,} of {len(self):,} rows</p>" if count < len(self) else ""
        return table_html(columns) + more

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns


Section = Union[Facts, Table, List[Union[Facts, Table]]]
"""A section of a page: with rows a table, without them facts; several of one key are a list."""


def sections_of(sections: list[_npuscope.Section]) -> dict[str, Section]:
    """Tables and facts by their keys; several of one key are a list."""
    parts: dict[str, Section] = {}
    for section in sections:
        if not section.key:
            continue
        table = section.table
        part: Union[Facts, Table]
        part = Facts(section) if table is None else Table(table, section)
        if section.in_list:
            several = parts.setdefault(section.key, [])
            assert isinstance(several, list)
            several.append(part)
        else:
            parts[section.key] = part
    return parts


def cell(value: Any) -> str:
    return "" if value is None else str(value)


def table_html(columns: list[tuple[str, bool, list[str]]]) -> str:
    """Columns as (head, whether it stands to the left, texts)."""

    def row(tag: str, cells: list[str]) -> str:
        sides = ["left" if left else "right" for _, left, _ in columns]
        return "".join(
            f'<{tag} style="text-align:{side}">{html.escape(text)}</{tag}>'
            for side, text in zip(sides, cells)
        )

    if not columns:
        return ""
    head = row("th", [label for label, _, _ in columns])
    body = "".join(
        f"<tr>{row('td', list(cells))}</tr>" for cells in zip(*(texts for _, _, texts in columns))
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def section_html(section: _npuscope.Section) -> str:
    """A section of a page with its parts."""
    pieces = []
    if section.title:
        pieces.append(f"<h4>{html.escape(section.title)}</h4>")
    facts = section.shown_facts()
    if facts:
        labels, texts = [label for label, _ in facts], [text for _, text in facts]
        pieces.append(table_html([("", True, labels), ("", False, texts)]))
    shown = section.shown(ROWS_SHOWN)
    pieces.append(table_html(shown))
    if shown and section.row_count > ROWS_SHOWN:
        pieces.append(f"<p>{ROWS_SHOWN} of {section.row_count:,} rows</p>")
    pieces += [f"<p>{html.escape(remark)}</p>" for remark in section.remarks]
    pieces += [section_html(part) for part in section.parts]
    return "".join(pieces)
