// What runs of one program have in common, and which inference a file of one is of, as a raw
// buffer says by its name.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

inline std::optional<double> number_of_run(const Profile& profile, NumberRole role) {
  for (const Measure& measure : profile.measures) {
    const bool is_it = measure.subject == Measure::Subject::profile && measure.meaning.role == role;
    if (is_it && measure.value >= 0 && measure.value < 4e9) return measure.value;
  }
  return std::nullopt;
}

inline std::optional<std::uint32_t> only_inference(const Profile& profile) {
  const auto number = number_of_run(profile, NumberRole::inference);
  return number ? std::optional(std::uint32_t(*number)) : std::nullopt;
}

struct RunIdentity {
  std::string format, version, device, graph, instrumentation;
  std::string clock = {};
  double hertz = 0;
  std::size_t ops = 0;
  std::optional<double> program = {}, activation = {};
  auto operator<=>(const RunIdentity&) const = default;
};

inline RunIdentity run_identity(const Profile& profile) {
  const Provenance& from = profile.provenance;
  RunIdentity identity{from.format, from.version, from.device, from.graph, from.instrumentation};
  if (index_of(profile.base_clock) < profile.clocks.size()) {
    const Clock& base = profile.clocks[index_of(profile.base_clock)];
    identity.clock = profile.text(base.name);
    identity.hertz = base.rate.value;
  }
  identity.ops = profile.ops.size();
  identity.program = number_of_run(profile, NumberRole::program);
  identity.activation = number_of_run(profile, NumberRole::activation);
  return identity;
}

}  // namespace npuscope::analysis
