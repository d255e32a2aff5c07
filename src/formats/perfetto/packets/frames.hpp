// How packets follow one another in a trace, and what tells them from other bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope::perfetto {

inline constexpr char packet_tag = 0x0A;  // field 1, length-delimited

// A tag, a length and a packet.
struct Frame {
  enum class Outcome : std::uint8_t {
    complete,
    cut_short,  // more bytes are needed; `header` is 0 when not even the length is known
    broken,
  };
  Outcome outcome = Outcome::broken;
  std::size_t header = 0;     // bytes of tag and length
  std::uint64_t payload = 0;  // bytes of the packet
};
Frame read_frame(std::string_view bytes);

// What the first bytes of something say about whether it is a TracePacket.
enum class Plausible : std::uint8_t { no, unknown, yes };
// `packet` may be cut short; `yes` needs a field that these traces have and few other messages do.
Plausible plausible_packet(std::string_view packet);

// Whether `bytes` begin with three packets, or with fewer up to their very end.
enum class Chain : std::uint8_t { no, cut_short, ends, packets };
Chain follow_packets(std::string_view bytes);

}  // namespace npuscope::perfetto
