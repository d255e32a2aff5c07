#!/usr/bin/env python3
"""The reference NPU against vendors' own compilers and estimators, as a section of docs/validation.md.

    scripts/conformance/run.py NPUSCOPE FOLDER [--write DOCUMENT]

Each vendor is a module with TITLE and section(npuscope, folder), which returns lines of Markdown, or raises
SystemExit with the sentence of why it cannot be tried here; then its section of the document stays as it is.
FOLDER keeps what is made. ./dev conformance calls it.
"""

import re
import sys
from pathlib import Path

import qnn
import torq

VENDORS = [qnn, torq]
HEADING = "# The reference NPU against vendors' compilers"


def sections_of(text):
    """The vendors' parts of the document, by title."""
    _, _, ours = text.partition("\n" + HEADING + "\n")
    parts = re.split(r"^## (.*)$", ours, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def main(npuscope, folder, document=None):
    Path(folder).mkdir(parents=True, exist_ok=True)
    text = Path(document).read_text() if document else ""
    parts = sections_of(text)
    for vendor in VENDORS:
        try:
            lines = vendor.section(Path(npuscope).resolve(), Path(folder).resolve())
        except SystemExit as why:
            print(f"{vendor.TITLE}: not tried: {why}")
            continue
        print(f"## {vendor.TITLE}", "", *lines, sep="\n")
        parts[vendor.TITLE] = "\n\n" + "\n".join(lines) + "\n\n"
    if document:
        before = text.partition("\n" + HEADING + "\n")[0].rstrip("\n")
        ours = "".join(f"## {title}{part}" for title, part in parts.items()).rstrip("\n")
        Path(document).write_text(f"{before}\n\n{HEADING}\n\nWritten by `./dev conformance write`.\n\n{ours}\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0], given[1], given[3] if given[2:3] == ["--write"] else None)
