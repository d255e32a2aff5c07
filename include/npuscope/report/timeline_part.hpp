// The part of a profile that a timeline is asked for, and what its axis covers.
//
//   TimelinePartText text{.core = 3};
//   text.selection.from = "20000cyc";
//   const Result<TimelinePart> part = select_timeline(profile, text);
//   part->window      {20022, 64851}: from where asked to the end of the whole timeline
//   part->origin      22: times on the axis count from the first start of the whole timeline, so
//                     that what is read off the axis can be given to --from
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npuscope/report/selection.hpp"

namespace npuscope::report {

struct TimelinePartText {
  SelectionText selection = {};
  std::optional<std::uint32_t> core = {};
  std::optional<std::uint32_t> inference = {};
};

struct TimelinePart {
  std::optional<Profile> part;  // none: the whole profile
  Interval window;
  std::int64_t origin = 0;
};

// An input error for a profile without a timeline; a usage error for what cannot be read, does not
// exist, or leaves nothing.
Result<TimelinePart> select_timeline(const Profile& profile, const TimelinePartText& text);

}  // namespace npuscope::report
