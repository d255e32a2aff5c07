#include "formats/perfetto/packets/packets.hpp"

#include <algorithm>
#include <cstring>
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

namespace {

constexpr std::size_t block_bytes = 128 << 10;
constexpr std::size_t look_ahead_bytes = 1 << 20;
constexpr std::size_t max_gaps = 100;

}  // namespace

PacketCutter::PacketCutter(ReadBytes read, std::size_t longest_packet)
    : read_(std::move(read)), longest_(longest_packet) {}

bool PacketCutter::next_of_any(RawPacket& packet) {
  for (;;) {
    switch (step(packet)) {
      case Step::packet: return true;
      case Step::too_long: skip_long_packet(); break;
      case Step::broken: resynchronize(Gap::Reason::not_packets); break;
      case Step::need_more:
        if (refill()) break;
        if (begin_ == end_) return false;
        resynchronize(Gap::Reason::truncated);
        break;
    }
  }
}

PacketCutter::Step PacketCutter::step(RawPacket& packet) {
  const std::string_view bytes = rest();
  const Frame frame = read_frame(bytes);
  if (frame.outcome == Frame::Outcome::broken) return Step::broken;
  if (frame.outcome == Frame::Outcome::cut_short && frame.header == 0) return Step::need_more;
  const std::uint64_t length = frame.header + frame.payload;
  if (frame.outcome == Frame::Outcome::cut_short) {
    if (frame.payload <= longest_) return Step::need_more;
    long_packet_ = length;
    return Step::too_long;
  }
  packet = {bytes.substr(frame.header, std::size_t(frame.payload)), base_ + begin_};
  last_ = packet.offset;
  begin_ += std::size_t(length);
  return Step::packet;
}

void PacketCutter::reject_last() {
  const std::size_t at = std::size_t(last_ - base_);
  begin_ = at;
  resynchronize(Gap::Reason::not_packets);
}

// False when no more bytes come.
bool PacketCutter::refill() {
  if (source_ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    base_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  // Grows with the bytes that are there, not with the length that a packet claims.
  if (end_ == buffer_.size()) buffer_.resize(std::max(block_bytes, 2 * buffer_.size()));
  const auto count = read_(std::span(buffer_).subspan(end_));
  if (!count) error_ = count.error();
  if (!count || *count == 0) {
    source_ended_ = true;
    return false;
  }
  end_ += *count;
  return true;
}

// A packet longer than what is held at once: passed over without being held.
void PacketCutter::skip_long_packet() {
  const std::uint64_t offset = base_ + begin_;
  std::uint64_t left = long_packet_;
  for (;;) {
    const auto here = std::size_t(std::min<std::uint64_t>(left, end_ - begin_));
    begin_ += here;
    left -= here;
    if (left == 0 || !refill()) break;
  }
  add_gap(left == 0 ? Gap::Reason::too_long : Gap::Reason::truncated, offset, long_packet_ - left);
}

// Looks for the next place from which three packets follow one another, or fewer at the end.
void PacketCutter::resynchronize(Gap::Reason at_end) {
  const std::uint64_t offset = base_ + begin_;
  begin_ += 1;
  for (;;) {
    const std::string_view bytes = rest();
    const auto* found =
        bytes.empty()
            ? nullptr
            : static_cast<const char*>(std::memchr(bytes.data(), packet_tag, bytes.size()));
    begin_ = found == nullptr ? end_ : begin_ + std::size_t(found - bytes.data());
    if (begin_ == end_) {
      if (refill()) continue;
      break;
    }
    const Chain chain = follow_packets(rest());
    if (chain == Chain::packets) break;
    const bool needs_more = chain == Chain::cut_short || chain == Chain::ends;
    if (needs_more && end_ - begin_ < look_ahead_bytes && refill()) continue;
    if (chain == Chain::ends && source_ended_) break;
    begin_ += 1;
  }
  const bool nothing_follows = begin_ == end_ && source_ended_;
  add_gap(nothing_follows ? at_end : Gap::Reason::not_packets, offset, base_ + begin_ - offset);
}

void PacketCutter::add_gap(Gap::Reason reason, std::uint64_t offset, std::uint64_t bytes) {
  ++gap_count_;
  if (gaps_.size() < max_gaps) gaps_.push_back({reason, offset, bytes});
}

}  // namespace npuscope::perfetto
