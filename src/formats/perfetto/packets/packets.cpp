#include "formats/perfetto/packets/packets.hpp"

#include <algorithm>
#include <cstring>

#include "formats/perfetto/packets/frames.hpp"

namespace npuscope::perfetto {
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
