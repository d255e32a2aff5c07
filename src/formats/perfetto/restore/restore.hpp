// A trace that npuscope wrote becomes the profile that it was written from: its units, phases,
// clock and numbers, as far as the trace holds them. What is said in about.hpp leads the way.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/perfetto/about.hpp"

namespace npuscope::perfetto {

class OwnTrace {
 public:
  // None unless every unit is one of the writer's: traces can be put together with others.
  // `descriptions`: of the tracks that the profile's units were.
  static std::optional<OwnTrace> recognise(std::string_view about, Profile& profile,
                                           std::span<const StringId> descriptions);

  // Slices of the tracks of phases become phases, then units what they were.
  void restore_phases(Profile& profile) const;
  void restore_units(Profile& profile) const;
  // Nanoseconds as ticks of the clock that they were, and whose they are. After the units.
  void restore_times(Profile& profile) const;
  const std::vector<NumberMeaning>& numbers() const { return about_.numbers; }

 private:
  About about_;
  std::vector<TrackPlace> places_;  // by unit of the trace
};

// What such a trace says as annotations of a span, its kind, inference, cycles and the properties
// of its op, becomes that again. Leaves a profile alone that has no such arguments. `numbers`: what
// further arguments are.
void restore_known_words(Profile& profile, const std::vector<NumberMeaning>& numbers);

}  // namespace npuscope::perfetto
