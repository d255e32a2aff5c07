// What bounds each row of a table of ops.
//
//   const auto bounds = op_bounds(analysis, table, Grouping::op, {.peaks = …});
//   bounds[0]    {BoundKind::resource, Resource::ddr}   the verdict of `npuscope memory`
//
// First the resource that the roofline of the row's node or kernel says (analysis/memory.hpp); then
// DMA, where for 65 % of its active time it moves data, or waits for that, and computes nothing;
// then waiting, where the row waits longer than it works; then latency, where no resource is busy
// for 65 % of its time. Where the peaks that would tell are unknown, the engine that does 65 % of
// its work.
#pragma once

#include <string>
#include <vector>

#include "analysis/ops/op_windows.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

enum class BoundKind : std::uint8_t {
  unknown,
  resource,
  movement,
  waiting,
  latency,
  engine,
  window,  // what the engines did in the ops' windows (op_windows.hpp)
};

struct OpBound {
  BoundKind kind = BoundKind::unknown;
  Resource resource = Resource::macs;
  Engine engine = Engine::none;
  WindowBound window = WindowBound::unknown;
};

const char* name_of(
    const OpBound& bound);              // "DDR", "HVX", "DMA", "waiting", "latency"; "": unknown
const char* source_of(BoundKind kind);  // "roofline", "movement", "waits", "work"; "": unknown

// By row. Of rows that are neither nodes nor kernels the roofline has none.
std::vector<OpBound> op_bounds(const Analysis& analysis, const OpTable& table, Grouping grouping,
                               MemoryOptions options);

}  // namespace npuscope::analysis
