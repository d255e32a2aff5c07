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

// engine_of() by lane, op and kind: a processor cannot foresee its branches.
inline constexpr auto engines_of_spans = [] {
  std::array<std::array<std::array<Engine, span_kind_count>, engine_count>, engine_count> table{};
  for (std::size_t lane = 0; lane < engine_count; ++lane) {
    for (std::size_t op = 0; op < engine_count; ++op) {
      for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
        table[lane][op][kind] = engine_of(Engine(op), Engine(lane), SpanKind(kind));
      }
    }
  }
  return table;
}();

class SpanEngines {
 public:
  explicit SpanEngines(const Profile& profile) : spans_(profile.spans) {
    of_ops_.reserve(profile.ops.size() + 1);
    for (const Op& op : profile.ops) of_ops_.push_back(op.engine);
    of_ops_.push_back(Engine::none);
    lanes_.reserve(profile.units.size() + 1);
    for (const Unit& unit : profile.units) lanes_.push_back(unit.engine);
    lanes_.push_back(Engine::none);
  }

  // Engine::none of what does not exist.
  Engine of_op(OpId op) const { return at(of_ops_, index_of(op)); }
  Engine lane(UnitId unit) const { return at(lanes_, index_of(unit)); }
  bool any_op_uses(Engine engine) const {
    return std::find(of_ops_.begin(), of_ops_.end(), engine) != of_ops_.end();
  }

  Engine of(OpId op, UnitId unit, SpanKind kind) const {
    return engines_of_spans[std::size_t(lane(unit))][std::size_t(of_op(op))][std::size_t(kind)];
  }
  Engine of(std::size_t row) const {
    return of(spans_.op[row], spans_.unit[row], spans_.kind[row]);
  }

 private:
  static Engine at(const std::vector<Engine>& engines, std::size_t index) {
    return engines[std::min(index, engines.size() - 1)];
  }

  const Spans& spans_;
  std::vector<Engine> of_ops_, lanes_;  // one more for spans without
};

}  // namespace npuscope::analysis
