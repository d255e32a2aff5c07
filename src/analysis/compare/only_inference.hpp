// Of a file that holds one inference and says which, as a raw buffer does by its name.
#pragma once

#include <optional>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

inline std::optional<double> number_of_run(const Profile& profile, std::string_view what) {
  const auto name = profile.strings.find(what);
  if (!name) return std::nullopt;
  for (const Measure& measure : profile.measures) {
    const bool is_it = measure.subject == Measure::Subject::profile && measure.what == *name &&
                       measure.kind == MeasureKind::count;
    if (is_it && measure.value >= 0 && measure.value < 4e9) return measure.value;
  }
  return std::nullopt;
}

inline std::optional<std::uint32_t> only_inference(const Profile& profile) {
  const auto number = number_of_run(profile, "inference");
  return number ? std::optional(std::uint32_t(*number)) : std::nullopt;
}

}  // namespace npuscope::analysis
