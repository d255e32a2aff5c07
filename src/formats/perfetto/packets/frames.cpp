#include "formats/perfetto/packets/frames.hpp"

#include <protozero/varint.hpp>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/read/read.hpp"

namespace npuscope::perfetto {
namespace {

constexpr int fields_tried = 8;
constexpr std::uint32_t largest_packet_field = 1000;
constexpr std::uint32_t largest_field = (1u << 29) - 1;
constexpr std::uint64_t longest_plausible = std::uint64_t{64} << 20;

enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

struct Varint {
  bool complete = false;
  bool broken = false;
  std::uint64_t value = 0;
};

Varint take_varint(std::string_view& bytes) {
  Varint result;
  for (unsigned i = 0; i < protozero::max_varint_length; ++i) {
    if (i == bytes.size()) return result;
    const auto byte = static_cast<unsigned char>(bytes[i]);
    result.value |= std::uint64_t(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      result.complete = true;
      return result;
    }
  }
  result.broken = true;
  return result;
}

bool is_telling(std::uint32_t field) {
  switch (field) {
    case packet_field::timestamp:
    case packet_field::sequence_id:
    case packet_field::sequence_flags:
    case packet_field::track_event:
    case packet_field::track_descriptor:
    case packet_field::clock_snapshot:
    case packet_field::synchronization_marker:
    case packet_field::compressed_packets:
    case packet_field::zstd_compressed_packets:
    case packet_field::trace_packet_defaults:
    case packet_field::first_packet_on_sequence:
    case packet_field::trusted_process:
    case packet_field::trace_uuid: return true;
    default: return false;
  }
}

// A message whose fields follow one another to its end; `cut`: its end is not here.
bool is_message(std::string_view bytes, bool cut) {
  while (!bytes.empty()) {
    const Varint tag = take_varint(bytes);
    if (!tag.complete) return cut && !tag.broken;
    if (tag.value >> 3 == 0 || tag.value >> 3 > largest_field) return false;
    std::uint64_t length = 0;
    switch (WireType(tag.value & 7)) {
      case WireType::varint: {
        const Varint value = take_varint(bytes);
        if (!value.complete) return cut && !value.broken;
        continue;
      }
      case WireType::fixed64: length = 8; break;
      case WireType::fixed32: length = 4; break;
      case WireType::length_delimited: {
        const Varint value = take_varint(bytes);
        if (!value.complete) return cut && !value.broken;
        length = value.value;
        break;
      }
      default: return false;
    }
    if (length > bytes.size()) return cut;
    bytes.remove_prefix(std::size_t(length));
  }
  return true;
}

// Whether each field of the packet that is no number is a message; `data`: it has one.
bool holds_messages(std::string_view packet, bool cut, bool& data) {
  while (!packet.empty()) {
    const Varint tag = take_varint(packet);
    const Varint value = tag.complete ? take_varint(packet) : Varint{};
    if (!value.complete) return cut && !tag.broken && !value.broken;
    const std::uint64_t field = tag.value >> 3;
    if (field == 0 || field > largest_packet_field) return false;
    if (is_number_in_packet(std::uint32_t(field))) {
      if (WireType(tag.value & 7) != WireType::varint) return false;
      continue;
    }
    if (WireType(tag.value & 7) != WireType::length_delimited) return false;
    const std::string_view message = packet.substr(0, std::size_t(value.value));
    if (message.size() < value.value && !cut) return false;
    if (!is_message(message, message.size() < value.value)) return false;
    data = true;
    packet.remove_prefix(message.size());
  }
  return true;
}

}  // namespace

Frame read_frame(std::string_view bytes) {
  if (bytes.empty()) return {Frame::Outcome::cut_short, 0, 0};
  if (bytes[0] != packet_tag) return {Frame::Outcome::broken, 0, 0};
  std::string_view rest = bytes.substr(1);
  const Varint length = take_varint(rest);
  if (length.broken) return {Frame::Outcome::broken, 0, 0};
  if (!length.complete) return {Frame::Outcome::cut_short, 0, 0};
  const bool complete = length.value <= rest.size();
  return {complete ? Frame::Outcome::complete : Frame::Outcome::cut_short,
          bytes.size() - rest.size(), length.value};
}

Plausible plausible_packet(std::string_view packet) {
  Plausible plausible = Plausible::unknown;
  for (int i = 0; i < fields_tried && !packet.empty(); ++i) {
    const Varint tag = take_varint(packet);
    if (tag.broken) return Plausible::no;
    if (!tag.complete) break;
    const std::uint64_t field = tag.value >> 3;
    const auto type = WireType(tag.value & 7);
    if (field == 0 || field > largest_packet_field) return Plausible::no;
    const auto expected =
        is_number_in_packet(std::uint32_t(field)) ? WireType::varint : WireType::length_delimited;
    if (type != expected) return Plausible::no;
    const Varint value = take_varint(packet);
    if (value.broken) return Plausible::no;
    if (is_telling(std::uint32_t(field))) plausible = Plausible::yes;
    if (!value.complete) break;
    if (type == WireType::varint) continue;
    if (value.value > packet.size()) break;
    packet.remove_prefix(std::size_t(value.value));
  }
  return plausible;
}

Chain follow_packets(std::string_view bytes) {
  bool telling = false;
  for (int packets = 0; packets < 3; ++packets) {
    if (bytes.empty()) return packets > 0 && telling ? Chain::ends : Chain::cut_short;
    const Frame frame = read_frame(bytes);
    if (frame.outcome == Frame::Outcome::broken) return Chain::no;
    if (frame.header == 0) return Chain::cut_short;
    if (frame.payload > longest_plausible) return Chain::no;
    const std::string_view packet = bytes.substr(frame.header, std::size_t(frame.payload));
    const bool complete = frame.outcome == Frame::Outcome::complete;
    const Plausible plausible = plausible_packet(packet);
    if (plausible == Plausible::no) return Chain::no;
    telling |= plausible == Plausible::yes;
    if (!complete) return Chain::cut_short;
    bytes.remove_prefix(frame.header + std::size_t(frame.payload));
  }
  return telling ? Chain::packets : Chain::no;
}

bool looks_like(std::string_view head) {
  // So many that no other file has by chance: whatever follows them is damage.
  constexpr int enough = 3;
  int telling = 0;
  while (!head.empty() && telling < enough) {
    const Frame frame = read_frame(head);
    if (frame.outcome == Frame::Outcome::broken) return false;
    if (frame.header == 0) break;
    const std::string_view rest = head.substr(frame.header);
    const std::string_view packet = rest.substr(0, std::size_t(frame.payload));
    const Plausible plausible = plausible_packet(packet);
    if (plausible == Plausible::no) return false;
    telling += plausible == Plausible::yes;
    head = rest.substr(packet.size());
  }
  return telling > 0;
}

bool may_be(std::string_view head) {
  bool any = false;
  while (!head.empty()) {
    const Frame frame = read_frame(head);
    if (frame.outcome == Frame::Outcome::broken) return false;
    if (frame.header == 0) break;
    const std::string_view rest = head.substr(frame.header);
    const std::string_view packet = rest.substr(0, std::size_t(frame.payload));
    if (!holds_messages(packet, packet.size() < frame.payload, any)) return false;
    head = rest.substr(packet.size());
  }
  return any;
}

}  // namespace npuscope::perfetto
