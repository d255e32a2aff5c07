#include "analysis/units/units_that_tell.hpp"

namespace npuscope::analysis {

UnitsThatTell::UnitsThatTell(const Profile& profile, bool needed) : profile_(profile) {
  for (const Measure& measure : profile.measures) {
    if (!needed || measure.subject != Measure::Subject::unit) continue;
    if (measure.kind != MeasureKind::count || measure.subject_id >= profile.units.size()) continue;
    const auto route = memory_route_of(measure.meaning.role);
    if (!route) continue;
    units_.insert({measure.subject_id, *route});
    const Unit& unit = profile.units[measure.subject_id];
    if (unit.engine == Engine::device) devices_.insert({unit.device, *route});
  }
}

bool UnitsThatTell::include(UnitId id, Route route) const {
  if (index_of(id) >= profile_.units.size()) return false;
  const Unit& unit = profile_.units[index_of(id)];
  if (unit.engine != Engine::device && devices_.contains({unit.device, route})) return true;
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  UnitId parent = unit.parent;
  for (int depth = 0; depth < deepest && index_of(parent) < profile_.units.size(); ++depth) {
    if (parent != id && units_.contains({index_of(parent), route})) return true;
    parent = profile_.units[index_of(parent)].parent;
  }
  return false;
}

}  // namespace npuscope::analysis
