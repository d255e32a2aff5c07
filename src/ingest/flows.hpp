// Arrows between spans, out of what files say of flows: points in time that carry one key.
//
//   begins ──▶ steps ──▶ arrives      s, t and f; of a launch of several kernels many arrive
//   meets ───▶ meets ──▶ ends         ids without a direction: reached from the one before
//
//   join_flows({{.time = 5, .at = 7, .role = FlowPoint::Role::begins},
//               {.time = 9, .at = 8, .role = FlowPoint::Role::arrives}}).flows   // from row 7 to 8
//
// The arrows stand in the order of the times at which they arrive, and then of the points.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/slices.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct FlowPoint {
  enum class Role : std::uint8_t {
    begins,   // s, flow_out
    steps,    // t: arrives and goes on, where it has begun
    passes,   // flow_in and flow_out: arrives where it has begun, and goes on
    arrives,  // f, flow_in: others may arrive too
    meets,    // an id without a direction
    ends,     // the last with such an id
  };
  // What `at` is: a row, or the track whose slice around that time, or next from then on, is meant.
  enum class Binding : std::uint8_t { row, enclosing, next };

  std::int64_t time = 0;
  std::uint32_t key = 0;               // which flow: small numbers, as their table is as long
  std::uint32_t at = no_row;           // no_row: where no slice is
  std::uint32_t rows_before = no_row;  // in the file (SliceFinder)
  Role role = Role::meets;
  Binding binding = Binding::row;
  StringId name{};
  StringId category{};
};

// Of each track that points name, the rows of its slices in nesting order.
using RowsByTrack = std::vector<std::vector<std::uint32_t>>;

struct JoinedFlows {
  std::vector<Flow> flows;          // named as what arrives
  std::vector<std::uint32_t> keys;  // of the flows
  std::uint64_t unbound = 0;        // points where no slice is
  std::uint64_t unpaired = 0;       // begun and never used, or used and never begun
};

JoinedFlows join_flows(std::vector<FlowPoint>&& points, SliceTimes times = {},
                       const RowsByTrack& rows = {});

}  // namespace npuscope
