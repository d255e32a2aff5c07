#!/usr/bin/env bash
# qai-hub 0.56.0: execution_detail of download_profile() has for each layer the shortest time that it took in any inference, and no id.
#
# The interface of the service calls a layer's time "the minimum execution time for this layer" (cycles alike), the file only "execution_time":
# the sum of a file's layers is below every one of its inferences. The service also sends each layer's id, segment, delegate and
# the runtime's own operators behind it; the client drops all four, so two layers of one name are two equal rows, and a delegate's
# fused layer cannot be traced to what it is made of. A layer that was not timed has no "execution_time"; one that took less than a
# microsecond has 0. Before version 1.2 of the service's answer there are no single times of inferences at all.
# Seen: of a layer with id, segment, delegate and operators the keys name, type, compute_unit and execution_time remain.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q qai-hub==0.56.0 2>/dev/null

cat >compare.py <<'EOF'
import pathlib
import sys

import qai_hub
from qai_hub import public_api_pb2 as api
from qai_hub.client import _profile_pb_to_python_dict

npu = api.ComputeUnit.Value("COMPUTE_UNIT_NPU")
answer = api.ProfileDetail(major_version=1, minor_version=7, execution_time=90, all_execution_times=[400, 90])
for number, time in enumerate([50, 0, None]):
    layer = api.LayerDetail(name="conv", layer_type_name="Conv", compute_unit=npu, id=f"id {number}", segment_id="s",
                            delegate_name="QNN", delegate_reported_ops=["Conv", "Relu"])
    if time is not None:
        layer.execution_time = time
    answer.layer_details.append(layer)
layers = _profile_pb_to_python_dict(answer)["execution_detail"]
old = _profile_pb_to_python_dict(api.ProfileDetail(major_version=1, minor_version=1, execution_time=90))
words = pathlib.Path(qai_hub.__file__).with_name("public_api_pb2.pyi").read_text()
is_minimum = "the minimum execution time for this layer" in words and "the minimum execution cycles for this layer" in words
print([sorted(layer) for layer in layers], "single times before 1.2:", "all_inference_times" in old["execution_summary"])
plain = ["compute_unit", "name", "type"]
as_described = (is_minimum and [sorted(layer) for layer in layers] == [sorted([*plain, "execution_time"])] * 2 + [plain]
                and layers[1]["execution_time"] == 0 and "all_inference_times" not in old["execution_summary"])
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python compare.py
