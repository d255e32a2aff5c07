#include "analysis/units/units_that_tell.hpp"

namespace npuscope::analysis {

UnitsThatTell::UnitsThatTell(const Profile& profile, bool needed) : profile_(profile) {
  for (const Measure& measure : profile.measures) {
    if (!needed || measure.subject != Measure::Subject::unit) continue;
    if (measure.kind != MeasureKind::count || measure.subject_id >= profile.units.size()) continue;
    const auto traffic = traffic_named(profile.text(measure.what));
    if (!traffic) continue;
    units_.insert({measure.subject_id, place_of(*traffic)});
    const Unit& unit = profile.units[measure.subject_id];
    if (unit.engine == Engine::device) devices_.insert({unit.device, place_of(*traffic)});
  }
}

bool UnitsThatTell::include(UnitId id, TrafficName traffic) const {
  if (index_of(id) >= profile_.units.size()) return false;
  const Unit& unit = profile_.units[index_of(id)];
  const std::size_t place = place_of(traffic);
  if (unit.engine != Engine::device && devices_.contains({unit.device, place})) return true;
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  UnitId parent = unit.parent;
  for (int depth = 0; depth < deepest && index_of(parent) < profile_.units.size(); ++depth) {
    if (parent != id && units_.contains({index_of(parent), place})) return true;
    parent = profile_.units[index_of(parent)].parent;
  }
  return false;
}

}  // namespace npuscope::analysis
