"""Profiles: files of any format in, answers out.

>>> import npuscope
>>> profile = npuscope.open("examples/qnn_htp")
>>> profile
<Profile examples/qnn_htp: QNN HTP optrace set · QAicGraph · 3 inferences, the first cold>
>>> profile.clock["unit"], profile.clock["hertz"]
('cycles', None)
"""

from __future__ import annotations

import html
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _npuscope
from .errors import DamagedProfileWarning, InputError, UsageError
from .pages import DiagnosePage, MemoryPage, Page, PathPage, ShowPage, UnitsPage
from .tables import Table, text_width

if TYPE_CHECKING:
    FileName = Union[str, os.PathLike[str]]


class _Origin(NamedTuple):
    """How to have a profile again: what was opened, which profile of it, and what was cut out."""

    folder: str  # that relative names are of
    names: tuple[bytes, ...]
    roles: tuple[bytes, ...]
    keep_going: bool
    max_memory: int
    place: int
    stamps: tuple[tuple[str, int, int], ...]  # file, bytes, time of its last change
    selections: tuple[tuple[Any, ...], ...] = ()


class Profile:
    """One profile: what was recorded, and the questions that can be asked of it.

    Every question has its command of the program, and gives the numbers that it prints with
    ``--json``. Answers with one table are a :class:`Table`, others a :class:`Page` of several.
    ``print(profile)`` shows the first page, as ``npuscope show``; in a notebook a profile as the
    last value of a cell is the interactive report. A profile that is pickled, as for another process,
    is opened again there from its files, which must be the same.
    """

    def __init__(self, native: _npuscope.Profile, origin: _Origin | None = None) -> None:
        self._native = native
        self._origin = origin
        about = native.about()
        self.name: str = about["name"]
        """Its file, or the folder that its files share."""
        self.files: list[str] = about["files"]
        self.format: str | None = about["format"]
        self.version: str | None = about["version"]
        """Of the format, or of the tool that wrote it."""
        self.device: str | None = about["device"]
        self.graph: str | None = about["graph"]
        """Name of the compiled graph."""
        self.instrumentation: str | None = about["instrumentation"]
        self.inferences: int | None = about["inferences"]
        """How many; None: unknown."""
        self.clock: dict[str, Any] = about["clock"]
        """The base clock, which all times count: name, kind, unit, hertz (None: unknown)."""
        self.selection: str | None = about["selection"]
        """What the profile was cut down to, in words; None: it is whole."""
        self.notes: list[str] = about["notes"]
        """What the readers could not take, or repaired."""
        self.is_damaged: bool = about["is_damaged"]
        """Whether records of a file are missing."""
        self.is_structure_only: bool = about["is_structure_only"]
        """One cold, instrumented inference: read order and overlap from its ops, not latency."""
        self.is_snapshot: bool = about["is_snapshot"]
        """Numbers without spans, by npuscope snapshot: for ``diff`` and ``show``."""
        self._what: str = about["what"]
        self._damage: str | None = about["damage"]

    # What part -----------------------------------------------------------------------------------

    def select(
        self,
        *,
        from_: str = "",
        until: str = "",
        unit: str = "",
        op: str = "",
        core: int | None = None,
        inference: int | None = None,
    ) -> Profile:
        """A part of it, as a profile.

        Args:
            from_: start of the window, relative to the first event: "12.5ms", "300us", "1000cyc"; "@" in
                front of it: as the files count.
            until: its end.
            unit: only units whose name matches this regular expression.
            op: only ops whose name, kind or node matches this regular expression.
            core: only this core.
            inference: only this inference.

        >>> npuscope.open("examples/qnn_htp").select(unit="HMX").units().units.to_dict()["busy"]
        [95841]
        """
        wanted = (from_, until, unit, op, core, inference)
        selected = self._native.select(_npuscope.Selection(*wanted))
        origin = self._origin
        if origin is not None:
            origin = origin._replace(selections=(*origin.selections, wanted))
        return Profile(selected, origin)

    # Questions -----------------------------------------------------------------------------------

    def ops(
        self,
        by: str = "op",
        *,
        top: int = 0,
        sort: str = "",
        columns: Iterable[str] = (),
        min_share: float = 0,
        rules: str = "",
        fold_bookkeeping: bool = False,
        owners_as_written: bool = False,
        target: FileName = "",
    ) -> Table:
        """What each operator, kernel, layer, core or rule costs (npuscope ops).

        Args:
            by: what a row is of: "op", "part", "kind", "name", "node", "layer", "memory", "rule",
                "core", "device", "unit".
            top: rows; 0: all.
            sort: the column to sort by; "start": in order of execution; "": what decides most.
            columns: only these, in this order.
            min_share: only rows with at least this share of the column sorted by; 0.005 is 0.5 %.
            rules: group by rules: a .toml file, or "transformer", "operators", "kernels",
                "bookkeeping".
            fold_bookkeeping: ops that only route, describe or keep step as one row.
            owners_as_written: leave HMX ops with the reshape that the files give them to.
            target: hardware description for peak rates: "aic100", "htp-v75", a .toml file, ...

        >>> ops = npuscope.open("examples/qnn_htp").ops(by="kind", top=3)
        >>> ops.to_dict()["dominant_path"]
        [87414, 68222, 51591]
        >>> print(ops.facts["work_total"], ops.facts.units["work_total"])
        828582.0 cycles
        """
        if not 0 <= min_share <= 1:
            raise UsageError(f"min_share: {min_share} is not a part of one, such as 0.005")
        if rules:
            if by not in ("op", "rule"):
                raise UsageError("rules group ops by rules; leave out by")
            by = "rule"
        if sort == "start" and by == "op":
            by = "node"  # layers that are one row have no place in the order of execution
        page = Page(
            self._native.ops(
                by, top, min_share, sort, list(columns), fold_bookkeeping, owners_as_written,
                rules, os.fspath(target),
            )
        )
        return page.tables["ops"]

    def units(self, by: str = "unit", *, top: int = 0) -> UnitsPage:
        """How busy the hardware was, what it waited for, overlap and imbalance (npuscope units).

        Args:
            by: rows of the table of units: "unit", "core", "engine", "device".
            top: rows of each table; 0: all.

        >>> print(npuscope.open("examples/qnn_htp").units().engines["busiest_unit"][0])
        core 0 > HVX 514
        """
        return UnitsPage(self._native.units(by, top))

    def path(
        self,
        *,
        faster: Mapping[str, float | str] | None = None,
        slower: Mapping[str, float | str] | None = None,
        inference: int | None = None,
        by: str = "op",
        vendor: bool = False,
    ) -> PathPage:
        """The critical path: what decided how long it took, slack, and what-if (npuscope path).

        Args:
            faster: what if, by pattern of ops, or "unit:" and a pattern of units: 2 is twice as
                fast, "50%" half of the time, ``math.inf`` or "0" no time at all.
            slower: the same, times as slow: 2 or "200%".
            inference: which one; None: the one nearest the median.
            by: what a row is of: "op", "part", "kind".
            vendor: also the vendor's dominant path (QNN), segment by segment.

        >>> path = npuscope.open("examples/qnn_htp").path(faster={"n2$": 2})
        >>> path.what_if.facts["wall_before"], path.what_if.facts["wall_after"]
        (258523.0, 243111.0)
        """
        if slower is not None and math.inf in slower.values():
            raise UsageError("slower: inf is not a factor; write 2, or a part of the time: '200%'")
        return PathPage(self._native.path(_rules(faster), _rules(slower), inference, by, vendor))

    def memory(
        self,
        *,
        by: str = "op",
        target: FileName = "",
        ddr_peak: float | str = "",
        vtcm_peak: float | str = "",
        mac_peak: float | str = "",
        clock: float | str = "",
        model: FileName = "",
        symbols: Mapping[str, int] | None = None,
        buckets: int = 0,
        top: int = 0,
    ) -> MemoryPage:
        """DDR and VTCM traffic by op and over time, roofline verdict, spill (npuscope memory).

        Args:
            by: what a row is of: "op", "node", "kind".
            target: hardware description for peak rates: "aic100", "htp-v75", a .toml file, ...
            ddr_peak: of the device: "137GB/s", or a number of bytes a second.
            vtcm_peak: of one core.
            mac_peak: of the device: "8.2TMAC/s", "16.4TOPS", or a number of MACs a second.
            clock: rate of a clock of cycles that the profile does not tell: "1.8GHz", or in Hz.
            model: ONNX file: MACs of ops by their name.
            symbols: values of symbolic dimensions of the model.
            buckets: of time; 0: as many as fit a page.
            top: rows of each table; 0: all.

        >>> memory = npuscope.open("examples/qnn_htp").memory()
        >>> memory.traffic["route"].to_list(), memory.traffic["bytes"].to_list()[0]
        (['DDR read', 'DDR write', 'VTCM read', 'VTCM write'], 2772048)
        """
        peaks = _npuscope.Peaks(
            target=os.fspath(target),
            ddr=_amount(ddr_peak, "B/s"),
            vtcm=_amount(vtcm_peak, "B/s"),
            macs=_amount(mac_peak, "MAC/s"),
            clock=_amount(clock, "Hz"),
        )
        words = [f"{name},{value}" for name, value in (symbols or {}).items()]
        return MemoryPage(self._native.memory(by, peaks, os.fspath(model), words, buckets, top))

    def diagnose(
        self,
        *,
        rule: str = "",
        all: bool = False,
        target: FileName = "",
        ddr_peak: float | str = "",
        mac_peak: float | str = "",
        clock: float | str = "",
    ) -> DiagnosePage:
        """Ranked findings: what costs time, what misleads, the evidence and the advice.

        Of files of one inference each, it looks at the one nearest their median, as npuscope
        diagnose does.

        Args:
            rule: try this rule alone.
            all: also the rules that found nothing, and what others lack.
            target, ddr_peak, mac_peak, clock: as in :meth:`memory`.

        >>> findings = npuscope.open("examples/qnn_htp").diagnose()
        >>> findings.ranking["rule"][:2]
        ['host-overhead', 'boundary-tax']
        >>> findings.findings[1].facts["title"]
        'Format conversion takes 52.1 % of the wall'
        """
        peaks = _npuscope.Peaks(
            target=os.fspath(target),
            ddr=_amount(ddr_peak, "B/s"),
            macs=_amount(mac_peak, "MAC/s"),
            clock=_amount(clock, "Hz"),
        )
        return DiagnosePage(self._native.diagnose(rule, all, peaks))

    def show(self, *sections: str, top: int = 0, target: FileName = "") -> ShowPage:
        """The full page (npuscope show --full), or sections of it.

        >>> list(npuscope.open("examples/qnn_htp").show("traffic", "phases"))
        ['phases', 'traffic']
        """
        return ShowPage(self._native.show(list(sections), top, os.fspath(target)))

    def query(self, sql: str, *, timeout: float = 60, max_rows: int = 0) -> Table:
        """Rows of an SQL query; ``npuscope query --schema`` lists tables and columns.

        Args:
            timeout: seconds after which the query ends with an error.
            max_rows: 0: all.

        >>> npuscope.open("examples/qnn_htp").query(
        ...     "SELECT kind, count(*) AS spans FROM spans GROUP BY kind ORDER BY spans DESC LIMIT 2")
        kind      spans
        op          264
        dma_wait     29
        """
        return query(sql, timeout=timeout, max_rows=max_rows, a=self)

    def table(self, name: str) -> Table:
        """A table of the profile itself: "spans", "ops", "units", "measures", ...

        :attr:`table_names` has all of them; docs/formats/exports.md says what the columns are.
        Numbers of spans are looked at where they lie, without a copy.

        >>> spans = npuscope.open("examples/qnn_htp").table("spans")
        >>> int(spans["duration"].to_numpy().max()), spans["duration"].unit
        (30824, 'cycles')
        """
        return Table(self._native.table(name))

    table_names: list[str] = _npuscope.table_names()
    """What :meth:`table` takes."""

    def report(self, file: FileName | None = None, *, max_spans: int = 100_000, top: int = 2000) -> str:
        """The interactive report, an HTML page of its own (npuscope report), as text.

        Args:
            file: also write it there.
            max_spans: spans of the timeline; of more, short ones are merged.
            top: rows of each table; 0: all.
        """
        page = self._native.report_html(max_spans, top)
        if file is not None:
            _npuscope.write_file(os.fspath(file), page)
        return page

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise TypeError(f"{self!r} was not opened from files, so it cannot be pickled")
        return _open_again, (self._origin,)

    def __str__(self) -> str:
        return Page(self._native.first_page(text_width())).to_text().rstrip("\n")

    def __repr__(self) -> str:
        part = f", {self.selection}" if self.selection else ""
        return f"<Profile {self.name}: {self._what}{part}>"

    def _repr_html_(self) -> str:
        if self.is_snapshot:
            return self.show()._repr_html_()
        page = html.escape(self.report(max_spans=20_000, top=200))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:700px;border:1px solid #8888"></iframe>'
        )


def open(
    *files: FileName | Iterable[FileName],
    roles: FileName | Iterable[FileName] = (),
    keep_going: bool = False,
    max_memory: int = 0,
) -> Profile:
    """Opens files and folders that are one profile.

    The format is detected from the content; what belongs together becomes one profile, and so do
    files of one inference each of the same program. gzip and zstd files open like plain ones.

    Args:
        files: names, or one list of them.
        roles: .toml files that say by category and name what the slices of a generic trace are
            (docs/formats/roles.md).
        keep_going: a file that cannot be opened is a note, not an error.
        max_memory: reading stops where the process holds so many bytes; 0: a third of the
            machine's.

    >>> npuscope.open("examples/qnn_htp", "examples/kineto")
    Traceback (most recent call last):
    ...
    npuscope.errors.UsageError: the files hold 2 profiles (examples/qnn_htp, \
examples/kineto/trace.json); open them one by one, or with npuscope.open_all()
    >>> npuscope.open("examples/llamacpp")
    Traceback (most recent call last):
    ...
    npuscope.errors.UsageError: examples/llamacpp/run.log.gz holds 2 profiles; open it with \
npuscope.open_all()
    """
    profiles = open_all(*files, roles=roles, keep_going=keep_going, max_memory=max_memory)
    if len(profiles) != 1:
        names = ", ".join(profile.name for profile in profiles[:4])
        more = ", ..." if len(profiles) > 4 else ""
        if len({profile.name for profile in profiles}) == 1:  # phases or graphs of one file
            raise UsageError(
                f"{profiles[0].name} holds {len(profiles)} profiles; open it with "
                "npuscope.open_all()"
            )
        raise UsageError(
            f"the files hold {len(profiles)} profiles ({names}{more}); open them one by one, or "
            "with npuscope.open_all()"
        )
    return profiles[0]


def open_all(
    *files: FileName | Iterable[FileName],
    roles: FileName | Iterable[FileName] = (),
    keep_going: bool = False,
    max_memory: int = 0,
) -> list[Profile]:
    """Opens files and folders, however many profiles they are; arguments as of :func:`open`."""
    names = file_names(files)
    if not names:
        raise UsageError("no file is named; name files or folders")
    role_names = tuple(file_names([roles]))
    native = _npuscope.open(names, keep_going, max_memory, list(role_names))
    profiles = []
    for place, each in enumerate(native):
        profile = Profile(each)
        profile._origin = _Origin(
            os.getcwd(), tuple(names), role_names, keep_going, max_memory, place, _stamps(profile.files)
        )
        profiles.append(profile)
    for profile in profiles:
        if profile._damage:
            warnings.warn(profile._damage, DamagedProfileWarning, stacklevel=3)
    return profiles


def _stamps(files: list[str]) -> tuple[tuple[str, int, int], ...]:
    stamps = []
    for file in files:
        try:
            found = os.stat(file)
        except OSError:  # of a pipe, or with a name that the system has otherwise
            continue
        stamps.append((file, found.st_size, found.st_mtime_ns))
    return tuple(stamps)


def _open_again(origin: _Origin) -> Profile:
    """What a pickle holds: the profile, of files that are as they were."""
    folder = "" if os.getcwd() == origin.folder else origin.folder
    for file, size, changed in origin.stamps:
        path = os.path.join(folder, file)
        if (path, size, changed) not in _stamps([path]):
            raise InputError(f"{path}: not the file that the pickled profile is of; open it again")
    profiles = open_all(
        [os.path.join(folder, os.fsdecode(name)) for name in origin.names],
        roles=[os.path.join(folder, os.fsdecode(name)) for name in origin.roles],
        keep_going=origin.keep_going,
        max_memory=origin.max_memory,
    )
    profile = profiles[origin.place]
    for selection in origin.selections:
        from_, until, unit, op, core, inference = selection
        profile = profile.select(
            from_=from_, until=until, unit=unit, op=op, core=core, inference=inference
        )
    return profile


def query(sql: str, *, timeout: float = 60, max_rows: int = 0, **profiles: Profile) -> Table:
    """Rows of an SQL query over several profiles: ``b.spans`` is of the profile given as ``b``.

    Plain names are of the first. At most 10 profiles.

    >>> profile = npuscope.open("examples/qnn_htp")
    >>> npuscope.query("SELECT (SELECT count(*) FROM before.spans) AS before, "
    ...                "(SELECT count(*) FROM after.spans) AS after",
    ...                before=profile, after=profile.select(unit="HMX"))
    before  after
       307    137
    """
    if not profiles:
        raise UsageError("no profile is named; name them: npuscope.query(sql, a=profile)")
    named = [(name, profile._native) for name, profile in profiles.items()]
    rows, has_more = _npuscope.query(named, sql, timeout, max_rows)
    if has_more:
        warnings.warn(
            f"these are the first {len(rows)} rows, there are more; max_rows sets how many",
            stacklevel=2,
        )
    return Table(rows)


def file_names(files: Iterable[Any]) -> list[bytes]:
    """Names as the system has them, of however nested lists."""
    names: list[bytes] = []
    for each in files:
        if not isinstance(each, (str, bytes, os.PathLike)):
            names += file_names(each)
            continue
        name = os.fsencode(each)
        if b"\0" in name:
            raise UsageError(f"{os.fspath(each)!r}: a file name without a zero byte is needed")
        names.append(name)
    return names


def _rules(factors: Mapping[str, float | str] | None) -> list[str]:
    """{"MatMul": 2} as the program takes it: MatMul=2x."""
    if factors is None:
        return []
    if not isinstance(factors, Mapping):
        raise UsageError('faster and slower are by pattern, as in {"MatMul": 2}')
    rules = []
    for pattern, factor in factors.items():
        if isinstance(factor, str):
            rules.append(f"{pattern}={factor}")
        elif math.isinf(factor):
            rules.append(f"{pattern}=0")
        else:
            rules.append(f"{pattern}={float(factor)!r}x")
    return rules


def _amount(value: float | str, unit: str) -> str:
    return value if isinstance(value, str) else f"{float(value)!r}{unit}"
