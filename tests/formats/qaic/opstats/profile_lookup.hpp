// Looks rows of a profile up by their names, the slow way.
#pragma once

#include <optional>
#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::test {

inline UnitId unit_named(const Profile& profile, std::string_view name) {
  for (std::size_t i = 0; i < profile.units.size(); ++i) {
    if (profile.text(profile.units[i].name) == name) return UnitId(i);
  }
  return UnitId::none;
}

inline std::optional<Measure> measure_of(const Profile& profile, Measure::Subject subject,
                                         std::uint32_t id, std::string_view what) {
  for (const Measure& measure : profile.measures) {
    if (measure.subject == subject && measure.subject_id == id &&
        profile.text(measure.what) == what) {
      return measure;
    }
  }
  return std::nullopt;
}

inline double value_of_profile(const Profile& profile, std::string_view what) {
  const auto found = measure_of(profile, Measure::Subject::profile, 0, what);
  return found ? found->value : -1;
}

inline double value_of_unit(const Profile& profile, std::string_view unit, std::string_view what) {
  const UnitId id = unit_named(profile, unit);
  const auto found = measure_of(profile, Measure::Subject::unit, index_of(id), what);
  return found ? found->value : -1;
}

// "name: detail" of each check, with '!' before those that failed.
inline std::vector<std::string> checks_of(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Check& check : profile.checks) {
    lines.push_back((check.outcome == Check::Outcome::passed ? "" : "!") + check.name + ": " +
                    check.detail);
  }
  return lines;
}

inline std::vector<std::string> notes_of(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Note& note : profile.notes) lines.push_back(note.message);
  return lines;
}

}  // namespace npuscope::test
