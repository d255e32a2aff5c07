// What the slices of a generic trace are: work of a device, a copy, a call of its runtime, a wait,
// or only a name for a stretch of time. Tables say it, by category and name, one for each tool that
// writes such traces (roles/*.toml, built in), and of the user's own:
//
//   [[rule]]                              # the first that a slice obeys counts
//   category = '^mtia_ccp_events$'        # regular expressions, found anywhere; also name, process
//   name = '^dma_request$'                # and thread
//   role = "copy"                         # kernel, copy, communication, host, runtime_call, wait,
//                                         # annotation, profiler, inference (a step:
//                                         # number_steps.hpp), instant (a mark, no part of the
//                                         # wall), slice (what it is without any rule)
//   bytes = "size"                        # argument with the bytes that it moves
//   direction = "direction"               # argument with the way; without it the slice's name
//   to_device = 'HOST_TO_DEVICE'          # the way of bytes that the device's memory takes
//   from_device = 'DEVICE_TO_HOST'        # and of those that it gives
//   signals = ["stream", "seq_num"]       # arguments that name an event which it raises
//   waits_for = ["wait_on_stream", "seq_num"]   # or waits for: arrows, where the trace has none
//   in_order = true                       # of one track, the next begins when this is over: one
//                                         # that encloses the next is cut there
//   arguments = ["hlo_op"]                # arguments that the slice must have
//   role = "instant"                      # of instants, with the next three alone:
//   counter = "Total Allocated"           # argument that is a sample of a counter of that name
//   series = ["Device Type", "Device Id"] # arguments whose values tell its series apart
//   quantity = "bytes"                    # of its samples
//   within = 'execution$'                 # track beside its own, of one parent, on which what
//                                         # encloses it stands: it is moved there
//   unless_thread = '^NSS CFG Tasks$'     # a track with slices beside which the rule does not hold
//
//   const auto mine = RoleTable::parse(text, "mine.toml");
//   apply_roles(profile, {&*mine, 1});    // before the built-in ones
//   profile.spans.kind[row]               // SpanKind::copy
//
// The role is decided once for each op, which is a name and a category, not for each slice, but for
// rules that ask for a track or arguments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/pattern.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct RoleRule {
  std::optional<Pattern> category, name, process, thread;
  SpanKind role = SpanKind::slice;
  std::string bytes, direction;  // arguments; empty: none
  std::optional<Pattern> to_device, from_device;
  std::vector<std::string> signals, waits_for;  // arguments
  std::vector<std::string> arguments;           // that a slice must have
  std::string counter, quantity;                // an argument of an instant; empty: none
  std::vector<std::string> series;              // arguments
  std::optional<Pattern> within;                // name of a track
  std::optional<Pattern> unless_thread;         // not where a track of that name has slices
  bool in_order = false;
  // Of role inference: the argument that numbers a step, without which a slice is none (empty: the
  // digits at the end of the name do); and the share of its process' work that slices of one name
  // must enclose for a loop's steps, 0: they always are.
  std::string number;
  double if_repeated = 0;
  // Of an annotation: what it is of the communication of its process that encloses it.
  enum class Part : std::uint8_t { none, wait, transfer } part = Part::none;
  std::optional<Pattern> operation;  // its group in a slice's name is the operator of the model
  Engine engine = Engine::none;      // the hardware that the tracks are of

  bool asks_where() const { return process.has_value() || thread.has_value(); }
  // For more than the name and category of a slice.
  bool asks_for_row() const { return asks_where() || !arguments.empty() || !number.empty(); }
};

class RoleTable {
 public:
  // A usage error with file and line for what is no table of roles; `name` is the file's.
  static Result<RoleTable> parse(std::string_view text, const std::string& name);

  // Those of all tools that come with the program.
  static const RoleTable& builtin();

  const std::vector<RoleRule>& rules() const { return rules_; }

 private:
  std::vector<RoleRule> rules_;
};

// Gives the slices of a generic trace their kinds by these tables in order, then the built-in one;
// bytes of copies become the columns "ddr read bytes" and "ddr write bytes", events that are waited
// for become flows of kind order, waits within a collective its column "waiting for ranks", and
// spans of a track that executes in order are cut where the next begins (the number of role
// recorded_duration has what the file says). Spans of other kinds stay as they are.
void apply_roles(Profile& profile, std::span<const RoleTable> tables);

}  // namespace npuscope
