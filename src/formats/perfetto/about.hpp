// What a trace that npuscope wrote says of its profile beside the events: where the times come
// from, what the units are, what the numbers beside the slices mean.
//
// It lies as JSON in the trace's metadata (ChromeEventBundle.metadata, name "npuscope"), which
// Perfetto lists as "cr-npuscope" and otherwise leaves alone:
//
//   {"device":"…","clocks":[{"name":"cycles","kind":"unit_cycles"}],"base_clock":0,"moved_ns":0,
//    "units":[{"name":"HVX","engine":"hvx","lane":1,"parent":0}],"numbers":[…]}
//
// Which track is which unit, the description of the track says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

inline constexpr std::string_view about_name = "npuscope";

// What annotations of this name are: a number of every span, or rows of measures.
struct NumberMeaning {
  StringId name{};
  bool is_column = false;  // written as integers; rows are doubles
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};
  std::uint32_t event = 0;  // as of Measure

  bool operator==(const NumberMeaning&) const = default;
};

struct About {
  Provenance provenance;  // without files and format
  std::vector<Clock> clocks;
  ClockId base_clock{};
  std::int64_t moved_ns = 0;  // added to all times, which would have been negative
  std::vector<Unit> units;
  std::vector<NumberMeaning> numbers;
};

std::string about_text(const Profile& profile, std::int64_t moved_ns);

// None for what about_text() does not write; strings go to `strings`. Units have no rings of
// parents, and the base clock exists where there are clocks.
std::optional<About> parse_about(std::string_view json, StringPool& strings);

// What the slices of a track belong to, as its description.
struct TrackPlace {
  enum class Kind : std::uint8_t { unit, no_unit, phases };
  Kind kind = Kind::unit;
  std::uint32_t unit = 0;
};
std::string text_of(const TrackPlace& place);
std::optional<TrackPlace> place_in(std::string_view description);

}  // namespace npuscope::perfetto
