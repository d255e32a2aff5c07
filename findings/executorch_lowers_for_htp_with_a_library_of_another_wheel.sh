#!/usr/bin/env bash
# ExecuTorch 1.5.1 (Linux x86-64, no device, no SDK): its wheel has the Qualcomm backend but not the HTP compiler, which the
# wheels of onnxruntime-qnn have; of these, one release fits and newer ones do not.
#
# The backend opens libQnnHtp.so by name. With the library of onnxruntime-qnn 2.5.0 and an optrace profile level a model is
# lowered, and METHOD_schematic.bin lies in the working directory, the same Python literals that ONNX Runtime's provider
# writes. With 2.7.0's, which is newer, the device configuration is refused ("unknown custom config socModel 0"), whichever
# chip the compile specification names, so the wrong place to look is the specification. The chip that ONNX Runtime needs for
# an estimate (SA8255) gives none here: the schematic has the graph and its bytes, no cycles. Their sum is what the compiler
# prints as read_total_bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q executorch==1.5.1 torch==2.15.0 torchao==0.18.0 2>/dev/null
for release in 2.5.0 2.7.0; do
  venv/bin/pip install -q --no-deps --target "wheel-$release" "onnxruntime-qnn==$release" 2>/dev/null
  mkdir -p "sdk-$release/lib"
  ln -s "$work/wheel-$release/onnxruntime_qnn" "sdk-$release/lib/x86_64-linux-clang"
done

cat >lower.py <<'EOF'
import torch
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.utils.utils import (generate_htp_compiler_spec,
                                                      generate_qnn_executorch_compiler_spec,
                                                      to_edge_transform_and_lower_to_qnn)

model = torch.nn.Sequential(torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(16 * 64, 10)).eval()
optrace = 3
specification = generate_qnn_executorch_compiler_spec(soc_model=QcomChipset.SA8255, profile_level=optrace,
                                                      backend_options=generate_htp_compiler_spec(use_fp16=True))
to_edge_transform_and_lower_to_qnn(model, (torch.randn(1, 8, 8, 8),), specification)
EOF
lower() {  # RELEASE
  mkdir "run-$1"
  (cd "run-$1" && QNN_SDK_ROOT=$work/sdk-$1 \
    LD_LIBRARY_PATH=$work/sdk-$1/lib/x86_64-linux-clang:$work/wheel-$1/onnxruntime_qnn.libs \
    ../venv/bin/python ../lower.py >log 2>&1)
}
lower 2.5.0
! lower 2.7.0
grep -m1 read_total_bytes run-2.5.0/log
grep -m1 socModel run-2.7.0/log
head -c 200 run-2.5.0/forward_schematic.bin | grep graph_before_optimization
test ! -e run-2.7.0/forward_schematic.bin
