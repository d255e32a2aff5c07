// What part of a profile a command is asked for, as people write it:
//
//   const SelectionText text{.from = "12.5ms", .until = "1000cyc", .op = "MatMul|Softmax"};
//   const Result<Profile> part = select(profile, text, true);
//
// Times count from the first start of the timeline that the page shows: ns, us, ms, s where the
// clock's rate is known, cyc where the base clock counts cycles, ticks always. With an @ in front
// they are times as the files have them. Patterns are regular expressions (base/pattern.hpp), found
// anywhere in a unit's name within its parents', or in an op's name, kind or node.
#pragma once

#include <string>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/filter.hpp"

namespace npuscope::report {

struct SelectionText {
  std::string from;
  std::string until;
  std::string unit;
  std::string op;

  bool empty() const { return from.empty() && until.empty() && unit.empty() && op.empty(); }
};

// "from 2ms, until 5ms, units matching 'HVX'"; empty for all.
std::string selection_text(const SelectionText& selection);

// Whether it is meant as a time, right or wrong: it begins like a number.
bool looks_like_time(std::string_view text);

// `cut` as in Filter. A usage error for what cannot be read or does not fit the profile's clock.
Result<Filter> make_filter(const Profile& profile, const SelectionText& text, bool cut);

// The part of a profile; a usage error when nothing of it is left.
Result<Profile> select(const Profile& profile, const SelectionText& text, bool cut);

}  // namespace npuscope::report
