// Whether debug information is of the model whose run a log is of, and how much of the run it
// covers. Compilers of different models give dispatches the same names (main_dispatch_0_conv2d), so
// names alone prove nothing: the actions must fit too.
//
//   const auto pairing = check_pairing(log, debug);       an error names the first contradiction
//   coverage_text(*pairing)     debug information of 3 of 5 dispatches: 41.2 % of the wall (3.100
//                               ms of 7.500 ms)
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// The invocations of a log, numbered in the order in which it first has them. Ids that grow, as the
// runtime counts them, take sixteen bytes each; only others go through a map.
//
//   numbers.of(3);  numbers.of(7);  numbers.of(3);   // 0, 1, 0
class InvocationNumbers {
 public:
  // Of a new one: how many there were.
  std::uint32_t of(std::int64_t id) {
    if (count_ > 0 && id == last_.id) return last_.number;
    last_ = {id, find_or_add(id)};
    return last_.number;
  }

 private:
  struct Numbered {
    std::int64_t id = 0;
    std::uint32_t number = 0;
  };

  std::uint32_t find_or_add(std::int64_t id) {
    if (growing_.empty() || id > growing_.back().id) {
      growing_.push_back({id, count_});
      return count_++;
    }
    const auto found = find(id);
    if (found->id == id) return found->number;
    const auto [place, is_new] = others_.try_emplace(id, count_);
    count_ += is_new;
    return place->second;
  }
  // The first that is not below; there is one. Mostly one of the last.
  std::vector<Numbered>::const_iterator find(std::int64_t id) const {
    auto at = growing_.end() - 1;
    for (int i = 0; i < 8 && at != growing_.begin() && (at - 1)->id >= id; ++i) --at;
    if (at == growing_.begin() || (at - 1)->id < id) return at;
    return std::lower_bound(
        growing_.begin(), at, id,
        [](const Numbered& each, std::int64_t wanted) { return each.id < wanted; });
  }

  std::vector<Numbered> growing_;
  std::unordered_map<std::int64_t, std::uint32_t> others_;
  std::uint32_t count_ = 0;
  Numbered last_;
};

struct Pairing {
  std::size_t dispatches = 0;        // that the log names
  std::vector<std::string> missing;  // those of them without debug information
  Interval wall_us{};                // first event to last, without INIT
  IntervalSet seen_us;               // when dispatches ran that have debug information
  std::vector<Note> notes;           // what is odd, and no contradiction

  bool is_partial() const { return !missing.empty(); }
};

// An input error where the log contradicts the debug information: no dispatch has any, an action is
// not there or is of another type, the end of a dispatch was never run, or each of the two has
// dispatches that the other lacks. A log may have lost the start and the wait of one program: where
// only one dispatch lacks its last, that is a note.
Result<Pairing> check_pairing(const RuntimeLog& log, const DebugInfo& debug);

// Empty where every dispatch has debug information.
std::string coverage_text(const Pairing& pairing);

// The check of pairing.hpp, event by event: for logs that are not held.
class PairingCheck {
 public:
  PairingCheck(const RuntimeLog& log, const DebugInfo& debug) : log_(log), debug_(debug) {}

  Status take(const LogEvent& event);
  Result<Pairing> finish();

 private:
  struct Dispatch {
    const DispatchInfo* info = nullptr;
    std::int64_t last_action = no_action;
    bool ended = false;
    std::int64_t jobs = 0;  // NSS programs of `info`
  };
  struct Invocation {
    Interval extent;
    bool has_debug = false;
    bool ran = false;  // more than INIT
  };

  Status take_action(const LogEvent& event, Dispatch& dispatch);
  Status check_whole();
  Status check_ends();
  Dispatch& dispatch_of(StringId name);
  Invocation& invocation_of(const LogEvent& event);
  std::string_view text(StringId id) const { return log_.strings[id]; }
  // "dispatch main_dispatch_3 " where the log names dispatches.
  std::string named(std::string_view dispatch) const {
    return dispatch.empty() ? "" : fmt::format("dispatch {} ", printable(dispatch));
  }
  static constexpr std::string_view advice =
      "the debug information is of another model or build; name that of the model that ran";

  const RuntimeLog& log_;
  const DebugInfo& debug_;
  Pairing pairing_;
  std::unordered_map<StringId, Dispatch> dispatches_;
  InvocationNumbers numbers_;
  std::vector<Invocation> invocations_;
  std::vector<StringId> names_;  // of dispatches, in the order of the log
  bool has_wall_ = false;
  // Neighbouring events are mostly of one dispatch. References into the map stay valid.
  StringId last_name_{};
  Dispatch* last_dispatch_ = nullptr;
};

}  // namespace npuscope::torq
