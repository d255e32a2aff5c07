// What can be wrong with a trace, counted: one note for each kind, with the place of its first
// case.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingest/losses.hpp"

namespace npuscope::chrome {

// Bounds on what a file can make the reader do.

// Events are parsed in pieces of about this many bytes of text.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
// Longer events are left out: one could be as long as the file.
inline constexpr std::size_t longest_event_bytes = std::size_t{256} << 20;
// Longer top-level members beside the events are left out.
inline constexpr std::size_t longest_field_bytes = std::size_t{1} << 20;
inline constexpr std::size_t longest_key_bytes = std::size_t{64} << 10;
// Containers within containers; simdjson stops at 1024, and an event lies in an array.
inline constexpr std::size_t deepest_nesting = 1000;

// So many events that swallow the next ones are recovered from: each costs a look at what it
// swallowed.
inline constexpr std::size_t max_unclosed_events = 64;

enum class Problem : std::uint8_t {
  broken_event,
  long_event,
  truncated,
  text_between,  // where only events should stand
  text_behind,   // after the end
  several_traces,
  bad_utf8,
  bad_escape,
  mended,
  no_phase,
  unknown_phase,
  no_time,
  no_duration,
  negative_duration,
  bad_metadata,
  duplicate_key,
  long_field,
  unmatched_begin,
  cut_begin,
  unmatched_end,
  kinds,  // how many there are
};

LossWords words_of(Problem problem);

using Problems = LossLedger<Problem>;

}  // namespace npuscope::chrome
