// The engine that each span uses (engine_of), for those who ask it of all: a look-up in tables of a
// byte for each op and unit.
//
//   const SpanEngines engines(profile);
//   engines.of(row) == engine_of(profile, row)
//   engines.of_op(OpId{3})              // what that op uses, as the profile says
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

// What of a lane, what its op uses and its kind say of a span together, as a place in a table: a
// processor cannot foresee so many branches.
class PlaceOfSpan {
 public:
  static constexpr std::size_t count = 16 * 16 * 32;
  static_assert(engine_count <= 16 && span_kind_count <= 32);

  static constexpr std::size_t of(Engine lane, Engine of_op, SpanKind kind) {
    return std::size_t(lane) << 9 | std::size_t(of_op) << 5 | std::size_t(kind);
  }
  template <class T, class Find>
  static constexpr std::array<T, count> table(const Find& find) {
    std::array<T, count> table{};
    for (std::size_t lane = 0; lane < engine_count; ++lane) {
      for (std::size_t op = 0; op < engine_count; ++op) {
        for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
          const Engine engine = Engine(lane), of_op = Engine(op);
          table[of(engine, of_op, SpanKind(kind))] = find(engine, of_op, SpanKind(kind));
        }
      }
    }
    return table;
  }
};

inline constexpr auto engines_of_spans = PlaceOfSpan::table<Engine>(
    [](Engine lane, Engine of_op, SpanKind kind) { return engine_of(of_op, lane, kind); });

class SpanEngines {
 public:
  explicit SpanEngines(const Profile& profile) : spans_(profile.spans) {
    of_ops_.reserve(profile.ops.size() + 1);
    for (const Op& op : profile.ops) of_ops_.push_back(op.engine);
    of_ops_.push_back(Engine::none);
    lanes_.reserve(profile.units.size() + 1);
    for (const Unit& unit : profile.units) lanes_.push_back(unit.engine);
    lanes_.push_back(Engine::none);
    last_op_ = std::uint32_t(of_ops_.size() - 1);
    last_lane_ = std::uint32_t(lanes_.size() - 1);
  }

  // Engine::none of what does not exist.
  Engine of_op(OpId op) const { return of_ops_[std::min(index_of(op), last_op_)]; }
  Engine lane(UnitId unit) const { return lanes_[std::min(index_of(unit), last_lane_)]; }
  bool any_op_uses(Engine engine) const {
    return std::find(of_ops_.begin(), of_ops_.end(), engine) != of_ops_.end();
  }

  Engine of(OpId op, UnitId unit, SpanKind kind) const {
    return engines_of_spans[PlaceOfSpan::of(lane(unit), of_op(op), kind)];
  }
  Engine of(std::size_t row) const {
    return of(spans_.op[row], spans_.unit[row], spans_.kind[row]);
  }

 private:
  const Spans& spans_;
  std::vector<Engine> of_ops_, lanes_;  // one more for spans without
  std::uint32_t last_op_, last_lane_;
};

}  // namespace npuscope::analysis
