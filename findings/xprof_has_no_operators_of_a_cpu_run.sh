#!/usr/bin/env bash
# xprof 2.24.2 with jax and jaxlib 0.10.2 (CPU): of a run on a CPU every table of operators is empty, and the advice is drawn from that.
#
# The XSpace has each HLO op, on threads of the host; op tables look for a device's plane. framework_op_stats has one row, IDLE, hlo_stats none,
# device time is 0, and duty cycle and idle time are both 0 %. Seen, of 10 steps that do nothing but products: ops are nearly all of the
# steps' time in the XSpace, none of it in a table. (The overview gives the steps to the host or to "All others", by the thread that ran the
# product, and leaves the first and the last out; how much of each is another in each run, so that is not checked here.)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q xprof==2.24.2 jax==0.10.2 jaxlib==0.10.2 2>/dev/null

cat >run.py <<'EOF'
import collections
import glob
import json
import sys

import jax
import jax.numpy as jnp
from xprof.convert.raw_to_tool_data import xspace_to_tool_data

steps, size = 10, 1024
function = jax.jit(lambda x: jnp.tanh(x @ x) @ x)
x = jnp.ones((size, size))
function(x).block_until_ready()
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0
jax.profiler.start_trace("out", profiler_options=options)
for step in range(steps):
    with jax.profiler.StepTraceAnnotation("train", step_num=step):
        function(x).block_until_ready()
jax.profiler.stop_trace()

files = glob.glob("out/**/*.xplane.pb", recursive=True)
time = collections.Counter()
for plane in jax.profiler.ProfileData.from_file(files[0]).planes:
    for line in plane.lines:
        for event in line.events:
            kind = "ops" if "hlo_op" in dict(event.stats) else "steps" if event.name == "train" else "other"
            time[kind] += event.duration_ns / 1e6


def tables(tool):
    read = json.loads(xspace_to_tool_data(files, tool, {})[0])
    for table in read if isinstance(read, list) else [read]:
        if "cols" in table:
            heads = [column["id"] for column in table["cols"]]
            yield [dict(zip(heads, (cell.get("v") for cell in row["c"]))) for row in table.get("rows", [])], table.get("p", {})


operators = [row["operation"] for rows, _ in tables("framework_op_stats") for row in rows]
hlo = [row for rows, _ in tables("hlo_stats") for row in rows]
overview = list(tables("overview_page"))
shown = [row for rows, _ in overview for row in rows if "stepTimeMs" in row]
facts = {key: value for _, properties in overview for key, value in properties.items()}
print(f"XSpace: ops {time['ops']:.1f} ms of {time['steps']:.1f} ms of steps")
print("framework_op_stats", operators, "rows of hlo_stats", len(hlo), "duty cycle", facts["device_duty_cycle_percent"],
      "idle", facts["device_idle_time_percent"])
print("steps", [row["stepnum"] for row in shown], *(f"{name} {sum(row[name] for row in shown):.1f}" for name in
                                                    ("stepTimeMs", "deviceComputeTimeMs", "hostComputeTimeMs", "otherTimeMs")))
print(facts.get("statement"))
as_described = (time["ops"] > 0.8 * time["steps"] and set(operators) == {"IDLE"} and not hlo and len(shown) == steps - 2
                and {row["deviceComputeTimeMs"] for row in shown} == {0}
                and facts["device_duty_cycle_percent"] == facts["device_idle_time_percent"] == "0.0%")
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python run.py 2>/dev/null
