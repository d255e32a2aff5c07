// The ops of a runtime log: its actions, the programs that they start, and the parts of a program
// whose time the estimate divides, with what debug information says of them.
//
//   LogOps ops(log, debug, profile, notes);
//   ops.of(interval, true)                   // "conv2d_6 @L63C11", the program of a start
//   ops.part_of(program, work, dispatch)     // "program_0 > maxpool_2 @L59C11"
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/torq/annotate/log_intervals.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// Which inference what a runtime log tells is of, by when it began: a call of the HAL's queue that
// runs dispatches is one; without such calls the n-th call of a dispatch is.
//
//   const LogInferences inferences(log, pair_events(log, notes));
//   inferences.count(), inferences.of(interval)     // 3; 0, 1 or 2

// Of the runtime's own steps, not of the model.
bool is_internal(std::string_view dispatch);

class LogInferences {
 public:
  // Calls of the queue count where a dispatch begins within them.
  LogInferences(const RuntimeLog& log, const std::vector<LogInterval>& intervals);

  bool by_queue() const { return !calls_.empty(); }
  const std::vector<Interval>& calls() const { return calls_; }
  std::uint32_t count() const { return by_queue() ? std::uint32_t(calls_.size()) : count_; }
  std::uint32_t of(const LogInterval& each) const;

 private:
  void count_calls(const RuntimeLog& log);

  std::vector<Interval> calls_;
  std::map<std::int64_t, std::uint32_t> of_invocation_;
  std::uint32_t count_ = 0;
};

// A program of the debug information; none where that does not have it.
struct KnownProgram {
  const DispatchInfo* dispatch = nullptr;
  const ProgramRun* run = nullptr;
};

class LogOps {
 public:
  // All must outlive this; `debug` may be null.
  LogOps(const RuntimeLog& log, const DebugInfo* debug, Profile& profile, CountedNotes& notes);

  // Of an action; or, `is_program`, of what it starts.
  OpId of(const LogInterval& each, bool is_program);
  OpId part_of(const KnownProgram& program, std::uint32_t work, StringId dispatch);
  std::size_t parts() const { return parts_.size(); }
  KnownProgram program_of(const LogInterval& each) const;

  // Dispatches of the log that the debug information does not have.
  void note_missing_dispatches();

 private:
  using Key = std::tuple<StringId, std::int32_t, StringId, StringId>;
  // What ran on which unit for which place; unit none: no unit at work.
  using PartKey = std::tuple<const ProgramRun*, int, LocationId, std::string, bool>;

  void describe(Op& op, const LogInterval& each, bool is_program);
  void describe_program(Op& op, const KnownProgram& program);
  const PlaceNames& names_of(const DispatchInfo& dispatch);
  std::vector<const PlaceName*> operators_of(const KnownProgram& program);
  std::string prefix_of(StringId dispatch) const;
  std::string brief(StringId location);
  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  const RuntimeLog& log_;
  const DebugInfo* debug_;
  Profile& profile_;
  CountedNotes& notes_;
  Locations locations_;
  std::map<Key, OpId> ops_;
  std::map<PartKey, OpId> parts_;
  std::map<const DispatchInfo*, PlaceNames> names_;
  std::set<std::string_view> without_debug_;
  bool has_one_dispatch_ = false;
};

}  // namespace npuscope::torq
