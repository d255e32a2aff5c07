// The check of pairing.hpp, event by event: for logs that are not held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "formats/torq/annotate/invocation_numbers.hpp"
#include "formats/torq/annotate/pairing.hpp"

namespace npuscope::torq {

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
