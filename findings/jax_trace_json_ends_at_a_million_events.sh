#!/usr/bin/env bash
# jax and jaxlib 0.10.2 (Python, CPU): the trace.json.gz of a profile has the first million events in time, whatever ran; the xplane.pb
# next to it, written by the same call, has all of them.
#
# Nothing says so: no warning is printed, the metadata is as always, and the file ends as a whole one does. Averages of an op stay
# plausible, but sums, numbers of steps and the length of the run are those of the beginning. Seen: of 1,050,000 annotations the trace
# has the first 1,000,000, the XSpace 1,050,000. Only an environment variable of the profiled process moves the limit:
# with TF_PROFILER_TRACE_VIEWER_MAX_EVENTS=2000 a trace of 3,000 has the first 2,000.
# A file with exactly a million events is a cut one; what reads the XSpace has the run.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q jax==0.10.2 jaxlib==0.10.2 2>/dev/null

cat >run.py <<'EOF'
import glob
import gzip
import json
import sys

import jax

marks, most = int(sys.argv[1]), int(sys.argv[2])
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0
jax.profiler.start_trace("out", profiler_options=options)
for number in range(marks):
    with jax.profiler.TraceAnnotation("mark", number=number):
        pass
jax.profiler.stop_trace()


def written(end):
    return glob.glob(f"out/**/*.{end}", recursive=True)[0]


trace = json.load(gzip.open(written("trace.json.gz")))
events = [event for event in trace.pop("traceEvents") if event.get("ph") == "X"]
numbers = [int(event["args"]["number"]) for event in events if event["name"] == "mark"]
planes = jax.profiler.ProfileData.from_file(written("xplane.pb")).planes
in_space = sum(event.name == "mark" for plane in planes for line in plane.lines for event in line.events)
print("annotations", marks, "in the trace", len(numbers), "of", len(events), "events, last", max(numbers), "in the XSpace", in_space,
      "members of the trace", trace)
as_described = (len(events) == most and in_space == marks and sorted(numbers) == list(range(len(numbers)))
                and trace == {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}})
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py 1050000 1000000
rm -r out
TF_PROFILER_TRACE_VIEWER_MAX_EVENTS=2000 venv/bin/python run.py 3000 2000
