#!/usr/bin/env bash
# mlcommons-loadgen 6.0.17: mlperf_log_trace.json is no JSON: LoadGen quotes a text among the arguments of its events twice.
#
# With LogSettings.enable_trace LoadGen writes a Chrome trace of its own threads and of each sample. Every line that it also writes to
# its detailed log or its summary is an event (LogDetail, LogSummary) with the line's key or text as an argument, and that stands as
# ""key"". A parser of JSON refuses the file as a whole at the first of them; the samples, whose arguments are numbers, are sound, so
# that a reader that goes on with the next event loses nothing of the run. Without enable_trace the file is there too, and empty,
# and mlperf_log_accuracy.json of a performance run is an empty list, which readers of Chrome traces take for a trace without events.
# Seen: refused as a whole; each broken event is of such a line; as many samples begin and end as queries were completed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q mlcommons-loadgen==6.0.17 2>/dev/null

cat >record.py <<'EOF'
import json
import sys
from pathlib import Path

import mlperf_loadgen as lg

completed = 0


def answer(samples):
    global completed
    completed += len(samples)
    lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, 0, 0) for sample in samples])


def record(folder, with_trace):
    Path(folder).mkdir()
    settings = lg.TestSettings()
    settings.scenario = lg.TestScenario.SingleStream
    settings.mode = lg.TestMode.PerformanceOnly
    settings.min_duration_ms = 0
    settings.max_query_count = settings.min_query_count = 100
    output = lg.LogOutputSettings()
    output.outdir = folder
    output.copy_summary_to_stdout = False
    log = lg.LogSettings()
    log.log_output = output
    log.enable_trace = with_trace
    library = lg.ConstructQSL(8, 8, lambda samples: None, lambda samples: None)
    lg.StartTestWithLogSettings(lg.ConstructSUT(answer, lambda: None), library, settings, log)
    return (Path(folder) / "mlperf_log_trace.json").read_text()


def is_json(text):
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


trace = record("with", True)
lines = [line.rstrip(",") for line in trace.split('"traceEvents":[\n')[1].split("\n],")[0].splitlines()]
broken = [line for line in lines if not is_json(line)]
begun, ended = (sum('"ph":"%s"' % phase in line and '"name":"Sample"' in line for line in lines) for phase in "be")
is_empty = record("without", False) == "" and json.loads(Path("without/mlperf_log_accuracy.json").read_text()) == []
print(f"{len(lines)} events, {len(broken)} broken; samples {begun} begun, {ended} ended; as JSON:", is_json(trace))
as_described = (not is_json(trace) and broken and all('"name":"Log' in line and '""' in line for line in broken)
                and begun == ended == 100 and is_empty)
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python record.py
