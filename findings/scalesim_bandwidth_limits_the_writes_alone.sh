#!/usr/bin/env bash
# scalesim 3.0.0 (Python): Bandwidth of [architecture_presets] is that of outputs on their way to DRAM; inputs and weights come at the rates of
# [layout]'s SRAM banks.
#
# With InterfaceBandwidth: USER, IfmapSRAMBankBandwidth and FilterSRAMBankBandwidth are the words a cycle from DRAM, although
# the custom layout to which they belong is off. A sweep over Bandwidth says that a layer of weights needs none. The reads before a
# layer's first cycle and the last writes are in no "Total Cycles" and no "Stall Cycles" either, only in the column with prefetch; the
# console calls the former compute cycles and the latter total cycles. Seen, of a
# matrix of 256x100 (25,600 weights) at 1 and at 10 words a cycle: 5,263 cycles, 0 stalls, weights at 10 words a cycle in BANDWIDTH_REPORT.csv;
# with prefetch 9,730 and 8,290. At 10 and banks of 40: 5,263, weights at 40, with prefetch 6,139.
# To simulate a DRAM's rate, set all three.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q scalesim==3.0.0 numpy==2.2.6 2>/dev/null

cat >topology.csv <<'EOF'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
convolution, 30, 30, 3, 3, 16, 32, 1,
matrix, 1, 1, 1, 1, 256, 100, 1,
EOF
echo "Layer name, IFMAP Height Intraline Factor," >layout.csv
simulate() {  # BANDWIDTH BANKS
  cat >run.cfg <<EOF
[general]
run_name = $1-$2
[architecture_presets]
ArrayHeight: 16
ArrayWidth: 16
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 64
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: ws
Bandwidth: $1
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: $2
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: $2
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: USER
UseRamulatorTrace: False
EOF
  venv/bin/python -m scalesim.scale -c run.cfg -t topology.csv -l layout.csv -p out -i conv -s N >"$1-$2.txt" 2>/dev/null
}
simulate 10 10
simulate 1 10
simulate 10 40

cat >compare.py <<'EOF'
import csv
import re
import sys


def rows(run, report):
    return list(csv.DictReader(open(f"out/{run}/{report}_REPORT.csv"), skipinitialspace=True))


def cycles(run, column):
    return [int(float(row[column])) for row in rows(run, "COMPUTE")]


runs = ("10-10", "1-10", "10-40")
total, stalls, prefetch = ({run: cycles(run, column) for run in runs} for column in ("Total Cycles", "Stall Cycles", "Total Cycles (incl. prefetch)"))
rates = {run: [(float(row["Avg FILTER DRAM BW"]), float(row["Avg OFMAP DRAM BW"])) for row in rows(run, "BANDWIDTH")] for run in runs}
console = {what: [int(n) for n in re.findall(rf"^{what} cycles: (\d+)", open("10-10.txt").read(), re.M)] for what in ("Total", "Compute")}
for run in runs:
    print("bandwidth-banks", run, "total", total[run], "stalls", stalls[run], "with prefetch", prefetch[run],
          "words a cycle of weights, outputs", rates[run])
print("console", console)
as_described = (len({total[run][1] for run in runs}) == 1 and {stalls[run][1] for run in runs} == {0}
                and [rates[run][1] for run in runs] == [(10, 10), (10, 1), (40, 10)] and stalls["1-10"][0] > stalls["10-10"][0] > stalls["10-40"][0]
                and prefetch["10-10"][1] - total["10-10"][1] > 2560 > prefetch["10-40"][1] - total["10-40"][1]
                and console == {"Total": prefetch["10-10"], "Compute": total["10-10"]})
sys.exit(0 if as_described else "not as described")
EOF
venv/bin/python compare.py
