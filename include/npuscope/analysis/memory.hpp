// What an inference moved between memories, op by op, and what that did to its time.
//
//   const MemoryTable table = analysis.memory({.peaks = …});
//
//   MatMul_0   bytes: DDR read 66,432, VTCM write 66,432   active 7,423 cycles   MACs 16.8e6
//              DDR 18.2 % of the time, MACs 55.2 %, verdict latency
//
// A row is an operator of the model: ops of one node, or of one name without the numbers of its
// tiles ("/layer.0/MatMul/__3"). A transfer that belongs to no operator by name (it has the name of
// a constant) counts for the operator whose op needs its data first. `active` is the union of the
// row's work and of its waits for DMA; the verdict is that of roofline.hpp on it, that of the whole
// inference on the wall.
//
// With several inferences every number is the median over those after the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/macs.hpp"
#include "npuscope/analysis/roofline.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/traffic.hpp"

namespace npuscope::analysis {

// MACs of a node of the model, from elsewhere.
struct NodeMacs {
  std::string name;
  double macs = 0;
};

enum class MemoryGrouping : std::uint8_t {
  op,    // a node of the model, the same node of repeated layers together
  node,  // of each layer
  kind,
};

struct MemoryOptions {
  Peaks peaks;
  std::optional<Hertz> rate;    // of a clock of cycles; none: as the profile has it
  std::vector<NodeMacs> model;  // counts before what shapes say
  MemoryGrouping grouping = MemoryGrouping::node;
  bool active_of_rows = true;  // else it stays 0, and so rows have no placement; takes long
  bool movement = false;       // fill Work::moving_ticks, also where no DDR's peak is known
  // Labels of the rows that are asked for; empty: all. What the run did as a whole by its work is
  // not known then.
  std::vector<std::string_view> only_rows = {};
};

struct MemoryRow {
  std::string label;  // empty: spans without an op
  StringId kind{};    // of its first op
  std::uint32_t ops = 0;
  std::uint32_t layers = 1;  // of MemoryGrouping::op, those whose like nodes these are
  std::uint64_t spans = 0;   // of work, over all inferences
  RouteBytes bytes;          // of one inference
  double active = 0;         // ticks of one inference; 0 without a timeline
  // Of transfers that it started ahead of time, which are no part of `active` and `work`.
  std::int64_t vtcm_bytes_ahead = 0;
  Work work;                   // of one inference
  double instrumentation = 0;  // ticks of work.hmx_ticks that record, and multiply nothing
  Placement placement;
  bool macs_of_model = false;  // by name, not from shapes
};

struct EngineTraffic {
  Engine engine = Engine::none;
  RouteBytes bytes;  // over all inferences
  std::uint64_t spans = 0;
};

struct InferenceTraffic {
  std::uint32_t instance = 0;
  std::int64_t wall = 0;
  RouteBytes bytes;
};

struct MemoryTable {
  bool moves_bytes = false;  // any row; else rows are in the order of their MACs
  Interval timeline;
  std::optional<Hertz> rate;  // of the base clock
  // Of the processor: of a clock that counts its cycles, the base clock or another.
  std::optional<ClockRate> processor;
  Roofs roofs;
  std::vector<InferenceTraffic> inferences;  // in their order; one where the trace does not say
  Spread walls;
  bool first_apart = false;     // the numbers are of the inferences after the first
  double wall = 0;              // ticks of one inference
  RouteBytes bytes;             // of one inference; as told where it is only one, else of its spans
  std::vector<MemoryRow> rows;  // most DDR bytes first, then VTCM, then the profile's order
  std::vector<EngineTraffic> engines;
  Work work;  // of the whole inference
  Placement placement;
  Origin macs_origin = Origin::derived;
  std::uint64_t matrix_ops_without_macs = 0;
  std::uint64_t model_nodes = 0, model_nodes_matched = 0;  // of those with MACs
  double model_macs = 0, model_macs_matched = 0;
  // Rows whose shapes tell MACs too, and those of them where the model has less than half or more
  // than twice as many: it is another one, or of another batch size.
  std::uint64_t rows_with_both = 0, rows_that_differ = 0;
  bool is_of_other_model() const { return 2 * rows_that_differ > rows_with_both; }
};

}  // namespace npuscope::analysis
