// Begins and ends of a log, paired.
#pragma once

#include "formats/torq/runtime_log.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {

struct LogInterval {
  std::int64_t begin_us = 0;
  std::int64_t end_us = 0;
  std::int64_t invocation = 0;
  std::int32_t action = no_action;
  StringId dispatch{}, type{}, location{};
};

// In the order of their begins. Within an invocation, an end belongs to the last open begin of its
// action and type; what has no partner, and what ends before it begins, is counted in the notes.
std::vector<LogInterval> pair_events(const RuntimeLog& log, CountedNotes& notes);

}  // namespace npuscope::torq
