// Adds rows to a profile that has little else than measures.
#pragma once

#include <string>
#include <string_view>

#include "base/counted.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

class ProfileRows {
 public:
  explicit ProfileRows(Profile& profile) : profile_(profile) {}

  ClockId clock(std::string_view name, ClockKind kind, Hertz rate, bool offset_known = false) {
    return profile_.add_clock(name, kind, rate, offset_known);
  }
  UnitId unit(std::string_view name, Engine engine, UnitId parent, std::uint32_t core = 0,
              std::uint32_t lane = 0, std::uint32_t device = 0) {
    profile_.units.push_back(
        {device, core, engine, lane, profile_.strings.intern(name), parent, {}, {}});
    return UnitId(profile_.units.size() - 1);
  }
  void of_profile(const NamedNumber& number, Origin origin, ClockId clock, double value) {
    profile_.add_measure(Measure::Subject::profile, 0, number, origin, clock, value);
  }
  void of_unit(UnitId unit, const NamedNumber& number, Origin origin, ClockId clock, double value) {
    profile_.add_measure(Measure::Subject::unit, index_of(unit), number, origin, clock, value);
  }
  void span(UnitId unit, OpId op, SpanKind kind, std::int64_t start, std::int64_t duration,
            std::int64_t cycles, std::uint32_t instance) {
    Spans& spans = profile_.spans;
    spans.add(unit, op, kind, start, duration);
    spans.processor_cycles.push_back(cycles);
    spans.instance.push_back(instance);
  }
  void note(Severity severity, std::string file, std::uint64_t offset, std::string message,
            std::uint64_t count = 1) {
    profile_.notes.push_back({severity, std::move(file), offset, std::move(message), count});
  }

  // Lines of a text of which nothing is known, if there are any.
  void note_unknown(Severity severity, std::string file, std::uint64_t first, std::uint64_t lines) {
    if (lines == 0) return;
    note(severity, std::move(file), first,
         counted(lines, "line says nothing known and was", "lines say nothing known and were") +
             " left out",
         lines);
  }

 private:
  Profile& profile_;
};

}  // namespace npuscope::qaic
