// What each op and each span moved between memories, and where that is known from. Formats say it
// at different levels:
//
//   spans     bytes of each execution      HTP: QHAS or HTP_GRAPH beside the trace
//   ops       bytes of each op             HTP: QHAS without instances
//   sizes     what transfers put out       Cloud AI 100, derived: aiccopytovtcm reads it from DDR
//   units     counters of cores            Cloud AI 100: -ddr-stats; the compiler's log
//   the run   one number                   QHAS
//
//   const OpTraffic traffic(profile);
//   traffic.of_span(Route::ddr_read, row)        65536
//   traffic.totals(Route::ddr_read).of_ops       531456
//   traffic.totals(Route::ddr_read).told         531456, by the run
//
// In-flight counters of the HTP ("DRAM read bytes in flight") are none of these: they are bytes of
// the ops that run at a moment, and integrating them over time means nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

enum class Route : std::uint8_t { ddr_read, ddr_write, vtcm_read, vtcm_write, multicast };
inline constexpr std::size_t route_count = 5;
const char* name_of(Route route);  // "DDR read"
// That numbers of this role are of; none of other roles.
std::optional<Route> route_of(NumberRole role);
// The same without multicast, which is a copy of what was read once.
std::optional<Route> memory_route_of(NumberRole role);

// Bytes by route; none where not known.
using RouteBytes = std::array<std::optional<std::int64_t>, route_count>;
inline std::optional<std::int64_t>& at(RouteBytes& bytes, Route route) {
  return bytes[std::size_t(route)];
}
inline std::optional<std::int64_t> at(const RouteBytes& bytes, Route route) {
  return bytes[std::size_t(route)];
}
// Saturating; none counts as nothing.
void add(std::optional<std::int64_t>& sum, std::int64_t bytes);
// DDR read and write together; none when neither is known.
std::optional<std::int64_t> ddr_bytes(const RouteBytes& bytes);
std::optional<std::int64_t> vtcm_bytes(const RouteBytes& bytes);

enum class TrafficLevel : std::uint8_t { none, spans, ops, sizes, units, run };
const char* name_of(
    TrafficLevel level);  // "spans", "ops", "sizes of transfers", "units", "the run"

struct TrafficTotal {
  TrafficLevel level = TrafficLevel::none;  // of of_ops
  Origin origin = Origin::measured;         // of of_ops
  std::optional<std::int64_t> of_ops;       // sum over spans or ops
  TrafficLevel told_by = TrafficLevel::none;
  Origin told_origin = Origin::measured;
  std::optional<std::int64_t> told;  // by counters of units, else of the whole run

  // The most trustworthy one: told, else the sum.
  std::optional<std::int64_t> best() const { return told ? told : of_ops; }
};

// What a compiler says of one part of the device, or all of it: how much of what is read from DDR
// are constants. The rest is activations that did not fit, retained state, inputs, and (where it
// was compiled with statistics) the statistics buffer.
struct ConstantTraffic {
  UnitId unit = UnitId::none;
  double ddr_read = 0;
  double constants = 0;  // of those
  double ddr_write = 0;
  double multicast = 0;
};
// Of the units that tell their constants, in the profile's order.
std::vector<ConstantTraffic> constant_traffic(const Profile& profile);

class OpTraffic {
 public:
  explicit OpTraffic(const Profile& profile);

  // Whether anything says what ops, and what spans, moved on this route.
  bool of_ops_known(Route route) const { return total(route).of_ops.has_value(); }
  bool of_spans_known(Route route) const {
    const Source& source = sources_[std::size_t(route)];
    return source.column != nullptr || !source.by_run.empty();
  }
  bool any_of_ops() const;
  bool any() const;  // at any level

  // Of one span; 0 where it moved nothing or nothing is known. Never negative.
  std::int64_t of_span(Route route, std::size_t row) const {
    const Source& source = sources_[std::size_t(route)];
    if (source.column != nullptr) {
      const std::int64_t bytes = source.column->values[row];
      return bytes > 0 ? bytes : 0;
    }
    if (source.by_run.empty() || !carries(row)) return 0;
    return share_of(source.by_run[index_of(profile_.spans.op[row])], row);
  }
  // Whether a column has a number of the span.
  bool states(Route route, std::size_t row) const {
    const MeasureColumn* column = sources_[std::size_t(route)].column;
    return column != nullptr && column->values[row] != MeasureColumn::missing;
  }
  // Of an op whose executions are not in the profile.
  std::int64_t of_op(Route route, OpId op) const {
    const Source& source = sources_[std::size_t(route)];
    return index_of(op) < source.by_op.size() ? source.by_op[index_of(op)] : 0;
  }
  const TrafficTotal& total(Route route) const { return sources_[std::size_t(route)].total; }

 private:
  struct Source {
    const MeasureColumn* column = nullptr;
    std::vector<std::int64_t> by_run;  // of each execution of an op
    std::vector<std::int64_t> by_op;   // of an op as a whole
    TrafficTotal total;
  };
  // The one span of an execution that its bytes belong to: the transfer where there is one.
  bool carries(std::size_t row) const;
  std::int64_t share_of(std::int64_t bytes, std::size_t row) const;
  void take_columns();
  void take_op_measures();
  void take_sizes();
  void take_told();
  void find_carriers();
  void sum_spans();

  const Profile& profile_;
  std::array<Source, route_count> sources_;
  std::vector<bool> has_transfer_;  // by op
  // By op: the units that run it together, each its share; the first takes what is left over.
  struct Team {
    UnitId first = UnitId::none;
    std::uint32_t units = 0;
  };
  std::vector<Team> teams_;
};

}  // namespace npuscope::analysis
