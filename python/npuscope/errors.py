"""What goes wrong, each with one sentence: what, where, and what to do.

>>> import npuscope
>>> try:
...     npuscope.open("missing.json")
... except npuscope.Error as error:
...     print(error)
missing.json: no such file or folder; check the path
"""


class Error(Exception):
    """Whatever npuscope cannot do; ``str(error)`` is the sentence that the program prints."""


class UsageError(Error, ValueError):
    """An argument makes no sense, or asks for what the profile does not have (exit status 2)."""


class InputError(Error):
    """A file is missing, unreadable, broken or of another kind (exit status 3)."""


class OutputError(Error, OSError):
    """A result could not be written (exit status 4)."""


class GateFailed(Error):
    """A comparison breaks its limits (exit status 1); raised by ``Comparison.check()``."""


class DamagedProfileWarning(UserWarning):
    """Records of a file are missing; all figures are of what could be read."""
