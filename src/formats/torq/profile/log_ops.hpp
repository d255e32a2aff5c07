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

namespace npuscope::torq {

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
