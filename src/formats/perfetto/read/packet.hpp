// One TracePacket, decoded as far as its fields; the messages in it are views of its bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope::perfetto {

// What few packets have; kept apart so that the others cost less.
struct RareParts {
  std::uint32_t unknown_field = 0;
  std::string_view defaults, snapshot, track, process, thread, zlib, zstd, facts;
};

struct Packet {
  std::uint64_t offset = 0;
  std::uint64_t timestamp = 0;
  std::uint32_t clock = 0;
  std::uint32_t sequence = 0;
  std::uint32_t flags = 0;
  std::uint32_t dropped = 0;
  bool has_timestamp = false;
  bool first_on_sequence = false;
  bool may_change_state = false;  // of its sequence
  std::string_view track_event;
  std::string_view interned;
  const RareParts* rare = nullptr;  // none: it has none
};

}  // namespace npuscope::perfetto
