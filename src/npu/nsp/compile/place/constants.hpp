// Constants of the model: sizes of those in use, and buffers of those that stay in VTCM, which DDR
// is read for once, before the first inference.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "npu/nsp/compile/tasks/compile_context.hpp"
#include "npu/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

class Constants {
 public:
  // The last `bytes` of every core's VTCM are for those that stay. Counts in `metrics`.
  Constants(const CompileContext& context, TaskGraph& tasks, CompileMetrics& metrics,
            std::uint64_t bytes)
      : context_(context),
        tasks_(tasks),
        metrics_(metrics),
        next_address_(context.vtcm_bytes - bytes),
        left_(bytes) {}

  // Adds a constant to the metrics, once.
  void count(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes);
  // A buffer that keeps part `part` of `parts` of a constant from the first inference on; none
  // when those bytes are full.
  BufferId keep(TensorId id, std::uint64_t part, std::uint64_t parts, const CoreBytes& core_bytes);

 private:
  const CompileContext& context_;
  TaskGraph& tasks_;
  CompileMetrics& metrics_;
  std::set<TensorId> counted_;
  std::uint64_t next_address_;
  std::uint64_t left_;  // bytes
  struct Kept {
    CoreBytes core_bytes;
    BufferId buffer = BufferId::none;
  };
  std::map<std::tuple<TensorId, std::uint64_t, std::uint64_t>, Kept> kept_;
};

}  // namespace npuscope::npu::nsp
