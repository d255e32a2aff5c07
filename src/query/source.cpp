#include "query/source.hpp"

#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::query {

Source::Source(const Profile& with) : schema::Source(with) {
  const char* names[] = {"ddr read bytes", "ddr write bytes", "vtcm read bytes",
                         "vtcm write bytes"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto id = profile.strings.find(names[i]);
    if (id) traffic_[i] = profile.spans.measure(*id);
  }
}

const std::vector<std::int64_t>& Source::own_durations() const {
  if (!own_) own_ = analysis::own_durations(profile, SpansByUnit(profile));
  return *own_;
}

const analysis::UnitTable& Source::unit_times() const {
  if (!unit_times_) {
    unit_times_ = analysis::analyse_units(
        profile, analysis::busy_of_units(profile, SpansByUnit(profile), own_durations()));
  }
  return *unit_times_;
}

}  // namespace npuscope::query
