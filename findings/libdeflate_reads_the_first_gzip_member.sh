#!/usr/bin/env bash
# deflate 0.9.0 (Python, libdeflate): of a gzip file with several members libdeflate decompresses the first and reports success.
#
# A file that was opened for appending (gzip.open(path, "at"), logs, traces by rank joined with cat) has a member for each time; gunzip, zlib's
# gzread and Python's gzip read all of them as one text. libdeflate's gzip call reads one member, and in C only the variant with
# the input's consumed length shows that bytes are left. The last four bytes of the file, by which its caller sizes the output, are the length
# of the last member. A profile of one JSON object a line stays well-formed: it is shorter. Seen: of 3 appends of 10, 11 and 12
# events Python's gzip has 33 events, 429 bytes, libdeflate 10, 130 bytes; the file's last four bytes say 156.
# A reader on libdeflate has to go on after each member.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q deflate==0.9.0 2>/dev/null

cat >run.py <<'EOF'
import gzip
import json
import struct
import sys

import deflate

appends = (10, 11, 12)
for rank, events in enumerate(appends):
    with gzip.open("trace.jsonl.gz", "at") as file:
        for _ in range(events):
            file.write(json.dumps({"event": rank}) + "\n")
written = open("trace.jsonl.gz", "rb").read()
whole, first = gzip.decompress(written), deflate.gzip_decompress(written)
events = [json.loads(line) for line in first.splitlines()]
stated = struct.unpack("<I", written[-4:])[0]
line = len(json.dumps({"event": 0})) + 1
print("gzip", len(whole), "bytes,", whole.count(b"\n"), "events; libdeflate", len(first), "bytes,", len(events),
      "events; the file's last four bytes say", stated)
as_described = len(whole) == sum(appends) * line and len(first) == appends[0] * line == len(events) * line and stated == appends[-1] * line
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py
