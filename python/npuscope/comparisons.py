"""Comparisons of two profiles, or of two sets of runs, with gates for tests.

>>> import npuscope
>>> before = npuscope.open("examples/qnn_htp")
>>> comparison = npuscope.diff(before, before, fail_if=["findings(high) > +0"])
>>> comparison.passed, comparison.verdict[:31]
(True, 'the gate passed; latency is the')
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, List, Union

from . import _npuscope
from .errors import GateFailed
from .pages import Page
from .profiles import Profile, file_names
from .tables import Facts, Table

if TYPE_CHECKING:
    Side = Union[str, os.PathLike[str], Profile, Iterable[Union[str, os.PathLike[str], Profile]]]


class Comparison(Page):
    """What changed between two sides: ``numbers``, ``ops``, ``gates`` and more, as a page."""

    sides: Facts
    gates: Table
    cautions: Facts
    call: List[Table]  # one for each unit, as numbers
    numbers: List[Table]
    ops: Table

    def __init__(self, native: _npuscope.Comparison) -> None:
        super().__init__(native.page)
        self.passed: bool = not native.failed
        """Whether no gate failed; an inconclusive one fails unless asked otherwise."""
        self.sentences: list[str] = native.sentences
        """Of each gate that did not pass, why."""
        self._markdown: str = native.markdown

    @property
    def verdict(self) -> str:
        """In a sentence."""
        return str(self.sides["verdict"])

    def check(self) -> None:
        """Raises GateFailed where a gate failed, for tests."""
        if not self.passed:
            raise GateFailed("; ".join(self.sentences))

    def to_markdown(self) -> str:
        """A comment for a pull request."""
        return self._markdown


def diff(
    a: Side,
    b: Side,
    *,
    fail_if: str | Iterable[str] = (),
    require: str | Iterable[str] = (),
    inconclusive: str = "fail",
    by: str = "op",
    rules: str = "",
    graph: str = "",
    allow_partial: bool = False,
    keep_going: bool = False,
    top: int = 0,
) -> Comparison:
    """What changed from a to b (npuscope diff).

    Args:
        a, b: a file or folder, a profile, or a list: several are samples of one thing. Of files
            those are chosen that can be compared; profiles are taken as they are.
        fail_if: gates that fail where they hold: "latency > +3%", "p95 > 5ms",
            "op('MatMul') > +5%", "findings(high) > 0".
        require: gates that fail unless they hold.
        inconclusive: outcome of a gate with too few samples: "fail", "warn" or "pass".
        by: rows of the table of ops: "op", "part", "node", "layer", "kind", "rule".
        rules: group by rules: a .toml file, or the name of built-in ones.
        graph: compare runs of this graph, where the files are of several.
        allow_partial: judge gates although records of a run's files are missing.
        keep_going: a file that cannot be opened is a note, not an error.
        top: rows of the table of ops; 0: all.

    >>> comparison = npuscope.diff("examples/qnn_htp", "examples/qnn_htp", fail_if="latency > 1ms")
    >>> comparison.passed, comparison.sentences[0][:27]
    (False, "gate 'latency > 1ms' inconc")
    """
    native = _npuscope.diff(
        a=_side(a),
        b=_side(b),
        fail_if=_words(fail_if),
        require=_words(require),
        by="rule" if rules else by,
        rules=rules,
        graph=graph,
        inconclusive=inconclusive,
        allow_partial=allow_partial,
        keep_going=keep_going,
        top=top,
    )
    return Comparison(native)


def _words(words: str | Iterable[str]) -> list[str]:
    return [words] if isinstance(words, str) else list(words)


def _side(side: Side) -> _npuscope.Side:
    each = [side] if isinstance(side, (str, bytes, os.PathLike, Profile)) else list(side)
    profiles = [one for one in each if isinstance(one, Profile)]
    if profiles and len(profiles) < len(each):
        raise TypeError("a side of diff is of files or of profiles, not of both")
    files = [] if profiles else file_names(each)
    return _npuscope.Side(files, [profile._native for profile in profiles])
