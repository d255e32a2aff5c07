#!/usr/bin/env python3
"""The reference NPU against vendors' own compilers and estimators: entries of docs/validation.toml, and the section
of docs/validation.md that is made of them.

    scripts/conformance/run.py NPUSCOPE FOLDER [--write DOCUMENTS]

Each vendor is a module with TITLE, TARGETS, runs(npuscope, folder), which gives entries, and section(entries), which
gives lines of Markdown. runs raises SystemExit with the sentence of why it cannot be tried here; then its entries
stay as they are. FOLDER keeps what is made. ./dev conformance calls it.
"""

import json
import sys
import tomllib
from pathlib import Path

import aic100
import qnn
import torq

VENDORS = [qnn, aic100, torq]
HEADING = "# The reference NPU against vendors' compilers"
USUAL = {"judge": "estimate", "figure": "cycles", "family": "other", "fitted": False}  # what an entry that says nothing is
MARK = "  # Vendors' estimates, written by ./dev conformance write."  # before it: the validation test's


def line_of(entry):
    told = {key: value for key, value in entry.items() if USUAL.get(key) != value}
    return "  {" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in told.items()) + "},"


def document_of(text, entries):
    before = text.partition("\n" + HEADING + "\n")[0].rstrip("\n")
    sections = [f"## {vendor.TITLE}\n\n" + "\n".join(vendor.section(entries)) for vendor in VENDORS]
    return "\n\n".join([before, HEADING, "Written by `./dev conformance write` of [validation.toml](validation.toml).", *sections]) + "\n"


def main(npuscope, folder, documents=None):
    Path(folder).mkdir(parents=True, exist_ok=True)
    documents = Path(documents or Path(__file__).resolve().parents[2] / "docs")
    text = (documents / "validation.toml").read_text()
    known = [each for each in (USUAL | each for each in tomllib.loads(text)["runs"]) if each["judge"] == "estimate"]
    entries = []
    for vendor in VENDORS:
        try:
            made = list(vendor.runs(Path(npuscope).resolve(), Path(folder).resolve()))
        except SystemExit as why:
            print(f"{vendor.TITLE}: not tried: {why}")
            made = [each for each in known if each["target"] in vendor.TARGETS]
        else:
            print(f"## {vendor.TITLE}", "", *vendor.section(made), sep="\n")
        entries += made
    return text, documents, entries


def write(text, documents, entries):
    before = text.partition(MARK)[0]
    (documents / "validation.toml").write_text("\n".join([before + MARK, *map(line_of, entries), "]\n"]))
    document = documents / "validation.md"
    document.write_text(document_of(document.read_text(), entries))


if __name__ == "__main__":
    given = sys.argv[1:]
    found = main(given[0], given[1], given[3] if given[2:3] == ["--write"] else None)
    if given[2:3] == ["--write"]:
        write(*found)
