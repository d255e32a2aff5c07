// What packets of one writer look like: nearly all of them are a timestamp and a track event, and
// the fields between and behind the two are those of the packet before.
//
//   40 A4 71   50 01 68 02 5A   02 48 02       timestamp, sequence and flags, event
//   40 C4 90 01   50 01 68 02 5A   02 48 02    the same but for the time
//
// Nothing depends on what is learnt but speed: decode() leaves what it does not know to whoever
// reads field by field.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {

// One TracePacket, decoded as far as its fields; the messages in it are views of its bytes.

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

class PacketForm {
 public:
  // Null where it is another one; the packet is there until the next.
  const Packet* decode(std::string_view bytes, std::uint64_t offset) {
    constexpr std::size_t fewest_bytes = 2 + sizeof(std::uint64_t);
    if (bytes.size() < fewest_bytes || bytes[0] != tag_of_timestamp) return nullptr;
    const char* at = bytes.data() + 1;
    const char* const end = bytes.data() + bytes.size();
    std::uint64_t timestamp = 0;
    std::memcpy(&timestamp, at, sizeof timestamp);
    const std::uint64_t last = ~timestamp & more_follow;
    if (last != 0) {
      at += std::countr_zero(last) / 8 + 1;
      timestamp = varint_of(timestamp & (last ^ (last - 1)));
    } else {
      at += sizeof timestamp;
      const std::uint64_t ninth = std::uint8_t(*at++);
      if (ninth >= 0x80) return nullptr;
      timestamp = varint_of(timestamp) | ninth << 56;
    }
    if (std::size_t(end - at) < sizeof(std::uint64_t)) return nullptr;
    std::uint64_t between = 0;
    std::memcpy(&between, at, sizeof between);
    if ((between & between_mask_) != between_) return nullptr;
    at += between_size_;
    const auto length = std::uint8_t(*at++);
    if (length >= 0x80 || std::size_t(end - at) != length + behind_size_) return nullptr;
    std::uint64_t behind = 0;
    std::memcpy(&behind, end - sizeof behind, sizeof behind);
    if ((behind & behind_mask_) != behind_) return nullptr;
    learnt_in_vain_ = 0;
    packet_.offset = offset;
    packet_.timestamp = timestamp;
    packet_.track_event = {at, length};
    return &packet_;
  }
  // What was made of the last that decode() could not read.
  void learn(std::string_view bytes, const Packet& packet) {
    const bool is_usual =
        packet.has_timestamp && !packet.track_event.empty() && !packet.may_change_state;
    if (is_usual && learnt_in_vain_++ < most_in_vain) learn_usual(bytes, packet);
  }

 private:
  static constexpr char tag_of_timestamp = varint_field(packet_field::timestamp);
  static constexpr std::size_t most_between = 7, most_behind = 8;
  static constexpr std::uint32_t most_in_vain = 64;

  void learn_usual(std::string_view bytes, const Packet& packet);

  // Before the event's length, with its tag, and behind the event, which is last in `behind_`. A
  // tag has bits: so that nothing has this form before one is learnt.
  std::uint64_t between_ = 1, between_mask_ = 0;
  std::uint64_t behind_ = 0, behind_mask_ = 0;
  std::size_t between_size_ = 0, behind_size_ = 0;
  Packet packet_;  // the last, of which the next has all but the offset, the time and the event
  std::uint32_t learnt_in_vain_ = 0;
};

}  // namespace npuscope::perfetto
