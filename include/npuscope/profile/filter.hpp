// A part of a profile as a profile: what lies in a window of time, on some units, of some ops, of
// one inference.
//
//   Filter filter;
//   filter.window = {1'000, 5'000};
//   filter.keeps_op = [&](const Profile& p, OpId op) { return p.text(p.ops[index_of(op)].name) …;
//   }; const Profile part = filtered(profile, filter);
//
// A span that reaches into the window is kept whole, so its numbers stay true, or cut at the window
// when `cut` is set, so that nothing is busy outside of it. Rows keep their order, but that what
// encloses others stays before them where the cut makes them equally long. What an op has to itself
// does not depend on what else is chosen (Spans::own). Units that lose
// all their spans and counters are left out with their measures, ops likewise; those that never had
// spans, only numbers, stay where ops alone are chosen. Parents of units that stay, stay. Numbers
// about more than is selected go: those of the run and its checks always, of units and ops where a
// window was set, of spans and phases where they were cut; of a span's dominant path stays what is
// certain. A note says how many spans were kept and cut.
#pragma once

#include <functional>
#include <optional>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct Filter {
  std::optional<Interval> window;  // ticks of the base clock; instants at its begin are in
  bool cut = false;
  // None: all. Called once for each unit and op of the profile.
  std::function<bool(const Profile&, UnitId)> keeps_unit;
  std::function<bool(const Profile&, OpId)> keeps_op;  // spans without an op are not kept
  // Of spans and phases; where spans do not say of which inference they are, none is kept.
  std::optional<std::uint32_t> instance;

  bool keeps_everything() const { return !window && !keeps_unit && !keeps_op && !instance; }
};

Profile filtered(const Profile& profile, const Filter& filter);

}  // namespace npuscope
