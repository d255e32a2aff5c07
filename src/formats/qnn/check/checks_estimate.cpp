// The identities of the compiler's estimate on the host, found on files of onnxruntime-qnn 2.7.0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {

void Checker::check_estimated_cycles() {
  if (estimate_ == nullptr || rows_ == nullptr) return;
  const std::int64_t span = saturating_subtract(estimate_->last, estimate_->first);
  add("estimate: cycles of the csv = first start to last end + 6",
      rows_->cycles == saturating_add(span, cycles_around_estimate),
      fmt::format("{} = {} + {} cycles", signed_thousands(rows_->cycles), signed_thousands(span),
                  cycles_around_estimate));
  if (rows_->microseconds == missing || !(estimate_->core_megahertz > 0)) return;
  const double microseconds = std::floor(double(rows_->cycles) / estimate_->core_megahertz);
  add("estimate: microseconds of the csv = cycles by the core's clock, rounded down",
      double(rows_->microseconds) == microseconds,
      fmt::format("{} us = {} cycles / {} MHz", rows_->microseconds,
                  signed_thousands(rows_->cycles), estimate_->core_megahertz));
}

void Checker::check_estimated_traffic() {
  if (estimate_ == nullptr) return;
  std::int64_t read = 0, fetched = 0;  // fetched: by DMA; vector kernels read a little themselves
  std::unordered_map<std::uint64_t, std::int64_t> read_of;
  for (const EstimateOp& op : estimate_->ops) {
    const std::int64_t bytes = op.traffic.bytes[0];
    if (!op.works || bytes == missing) continue;
    read = saturating_add(read, bytes);
    if (op.engine == Engine::dma) fetched = saturating_add(fetched, bytes);
    read_of[op.id] = bytes;
  }
  if (schematic_ != nullptr) {
    std::int64_t planned = 0;
    for (const GraphNode& node : schematic_->graph.nodes) {
      if (node.traffic.bytes[0] != missing && read_of.contains(node.id)) {
        planned = saturating_add(planned, node.traffic.bytes[0]);
      }
    }
    add("estimate: bytes read from DDR, of the trace = of the schematic", read == planned,
        fmt::format("{} = {} bytes", signed_thousands(read), signed_thousands(planned)));
  }
  const bool spills = rows_ != nullptr && (rows_->fill > 0 || rows_->spill > 0);
  if (rows_ == nullptr || rows_->input_fill == missing || spills) return;
  add("estimate: bytes read from DDR by DMA, of the trace = Input Fill of the csv",
      fetched == rows_->input_fill,
      fmt::format("{} = {} bytes", signed_thousands(fetched), signed_thousands(rows_->input_fill)));
}

void Checker::check_estimated_ids() {
  if (estimate_ == nullptr || schematic_ == nullptr) return;
  std::unordered_set<std::uint64_t> known;
  for (const GraphNode& node : schematic_->graph.nodes) known.insert(node.id);
  std::uint64_t working = 0, found = 0;
  for (const EstimateOp& op : estimate_->ops) {
    if (!op.works) continue;
    ++working;
    found += known.contains(op.id);
  }
  add("estimate: every op that works is in the schematic", found == working,
      fmt::format("{} of {} ops", found, working));
}

}  // namespace npuscope::qnn
