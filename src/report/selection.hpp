// What part of a profile a command is asked for, as people write it:
//
//   const Selection selection{.from = "12.5ms", .until = "1000cyc", .op = "MatMul|Softmax"};
//   const Result<ProfilePart> part = select(std::move(profile), selection, {});
//   part->profile     what lies in the window
//   part->origin      22: times count from the first start of the whole timeline, so that what is
//                     read off an axis can be given to --from
//   part->text        "from 12.5ms, until 1000cyc, ops matching 'MatMul|Softmax'"
//
// Times count from the first start of the timeline that the page shows: ns, us, ms, s where the
// clock's rate is known, cyc where the base clock counts cycles, ticks always. With an @ in front
// they are times as the files have them. Patterns are regular expressions (base/pattern.hpp), found
// anywhere in a unit's name within its parents', or in an op's name, kind or node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/filter.hpp"

namespace npuscope::report {

struct Selection {
  std::string from = {};
  std::string until = {};
  std::string unit = {};
  std::string op = {};
  std::optional<std::uint32_t> core = {};
  std::optional<std::uint32_t> inference = {};

  bool has_window() const { return !from.empty() || !until.empty(); }
  // Units or ops: what looks idle then may be at work outside of it.
  bool leaves_out_rows() const { return !unit.empty() || !op.empty() || core.has_value(); }
  bool empty() const { return !has_window() && !leaves_out_rows() && !inference; }
};

// "from 2ms, until 5ms, units matching 'HVX', core 3, inference 1"; empty for all.
std::string selection_text(const Selection& selection);

// Whether it is meant as a time, right or wrong: it begins like a number.
bool looks_like_time(std::string_view text);

// "5ms", of a flag: a time in seconds. A usage error where it is none, or not in seconds.
Result<double> seconds_in_text(const std::string& flag, const std::string& text);

// `cut` as in Filter. A usage error for what cannot be read, is not there, or does not fit the
// profile's clock.
Result<Filter> make_filter(const Profile& profile, const Selection& selection, bool cut);

struct SelectOptions {
  bool cut = true;              // as in Filter
  bool needs_timeline = false;  // an input error where nothing worked or waited
};

struct ProfilePart {
  Profile profile;
  // Of the timeline: from where asked to where asked, also where nothing ran; empty without one,
  // and of all of a profile whose timeline is not asked for.
  Interval window;
  std::int64_t origin = 0;  // what times count from
  std::string text;
};

// A usage error when nothing of it is left.
Result<ProfilePart> select(Profile profile, const Selection& selection,
                           const SelectOptions& options);

}  // namespace npuscope::report
