#include "formats/chrome/problems.hpp"

namespace npuscope::chrome {

LossWords words_of(Problem problem) {
  switch (problem) {
    case Problem::broken_event: return {Severity::error, "broken events, left out"};
    case Problem::long_event: return {Severity::error, "events of over 256 MiB, left out"};
    case Problem::truncated:
      return {Severity::error, "the file ends in the middle; copy it again if it should not"};
    case Problem::text_between: return {Severity::error, "pieces of text between events, left out"};
    case Problem::text_behind:
      return {Severity::warning, "bytes behind the end of the trace, left out"};
    case Problem::several_traces:
      return {Severity::warning, "lists of events behind the first, taken as its continuation"};
    case Problem::bad_utf8:
      return {Severity::warning, "events with text that is not UTF-8, replaced by U+FFFD"};
    case Problem::bad_escape:
      return {Severity::warning,
              "strings with broken escapes or halves of surrogate pairs, replaced by U+FFFD"};
    case Problem::mended:
      return {Severity::warning,
              "control characters in strings or commas before a closing bracket, read as meant"};
    case Problem::no_phase: return {Severity::warning, "events without a phase (ph), left out"};
    case Problem::unknown_phase: return {Severity::warning, "events of unknown phases (ph)"};
    case Problem::no_time:
      return {Severity::warning, "events without a usable time (ts), left out"};
    case Problem::no_duration:
      return {Severity::warning, "X events without a usable duration (dur), taken as 0"};
    case Problem::negative_duration:
      return {Severity::warning, "X events with a negative duration (dur), taken as 0"};
    case Problem::bad_metadata:
      return {Severity::warning, "M events without a usable value, left out"};
    case Problem::duplicate_key:
      return {Severity::warning, "events that have a key twice, the last of which counts"};
    case Problem::long_field: return {Severity::info, "top-level members of over 1 MiB, left out"};
    case Problem::unmatched_begin:
      return {Severity::warning,
              "B events without an E, taken to last until their thread's last event"};
    case Problem::cut_begin:
      return {Severity::warning,
              "B events without an E inside a slice that has one, taken to end with it"};
    case Problem::unmatched_end: return {Severity::warning, "E events without a B, left out"};
    case Problem::kinds: break;
  }
  return {Severity::error, "unknown problem"};
}

}  // namespace npuscope::chrome
