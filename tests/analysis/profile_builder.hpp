// Small profiles by hand, for tests:
//
//   ProfileBuilder made;
//   const UnitId hmx = made.unit("HMX", Engine::hmx);
//   made.span(hmx, "MatMul_0", 10, 25);
//   analyse(made.profile);
#pragma once

#include <string_view>

#include "npuscope/profile/profile.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::test_support {

struct ProfileBuilder {
  Profile profile;

  ProfileBuilder(std::string_view clock = "cycles", ClockKind kind = ClockKind::unit_cycles,
                 double rate = 0) {
    profile.clocks.push_back({text(clock), kind, Hertz{rate}, true, 0});
  }

  StringId text(std::string_view name) { return profile.strings.intern(name); }

  // Of an op or a tensor, as a reader sets it.
  void shape(auto& row, std::string_view printed) {
    row.shape = text(printed);
    row.extents = shape_in(printed, profile.shapes);
  }

  UnitId unit(std::string_view name, Engine engine, UnitId parent = UnitId::none) {
    Unit unit;
    unit.engine = engine;
    unit.name = text(name);
    unit.parent = parent;
    profile.units.push_back(unit);
    return UnitId(std::uint32_t(profile.units.size() - 1));
  }

  OpId op(std::string_view name, std::string_view kind = "") {
    for (std::size_t i = 0; i < profile.ops.size(); ++i) {
      const Op& known = profile.ops[i];
      if (profile.text(known.name) == name && profile.text(known.kind) == kind) {
        return OpId(std::uint32_t(i));
      }
    }
    Op op;
    op.name = text(name);
    op.kind = text(kind);
    profile.ops.push_back(op);
    return OpId(std::uint32_t(profile.ops.size() - 1));
  }

  // A profile in which any span has an instance gives one to all.
  SpanId span(UnitId unit, std::string_view op_name, std::int64_t start, std::int64_t end,
              SpanKind kind = SpanKind::op, std::string_view op_kind = "") {
    Spans& spans = profile.spans;
    spans.unit.push_back(unit);
    spans.op.push_back(op_name.empty() ? OpId::none : op(op_name, op_kind));
    spans.kind.push_back(kind);
    spans.start.push_back(start);
    spans.duration.push_back(end - start);
    return SpanId(std::uint32_t(spans.size() - 1));
  }

  void phase(std::string_view name, std::uint32_t instance, std::int64_t start, std::int64_t end,
             double microseconds = -1) {
    Phase phase;
    phase.name = text(name);
    phase.instance = instance;
    phase.start = start;
    phase.duration = end - start;
    phase.microseconds = microseconds;
    profile.phases.push_back(phase);
  }
};

}  // namespace npuscope::test_support
