// Bounds on what a file can make the reader do.
#pragma once

#include <cstddef>

namespace npuscope::chrome {

// Events are parsed in pieces of about this many bytes of text.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
// Longer events are left out: one could be as long as the file.
inline constexpr std::size_t longest_event_bytes = std::size_t{256} << 20;
// Longer top-level members beside the events are left out.
inline constexpr std::size_t longest_field_bytes = std::size_t{1} << 20;
inline constexpr std::size_t longest_key_bytes = std::size_t{64} << 10;
// Containers within containers; simdjson stops at 1024, and an event lies in an array.
inline constexpr std::size_t deepest_nesting = 1000;

// The stack of open slices is not searched deeper: a hostile file would make that quadratic.
inline constexpr std::size_t deepest_search = 4096;

// So many events that swallow the next ones are recovered from: each costs a look at what it
// swallowed.
inline constexpr std::size_t max_unclosed_events = 64;

}  // namespace npuscope::chrome
