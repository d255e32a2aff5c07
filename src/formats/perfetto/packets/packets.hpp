// Cuts a trace into its packets as the bytes come, so that only the packet at hand is in memory.
//
//   PacketCutter cutter([&](std::span<char> into) { return source.read(into); });
//   RawPacket packet;
//   while (cutter.next(packet)) …
//   cutter.gaps()                              // where bytes were no packets
//
// Where the bytes are not packets (a flipped bit in a length), the next place that begins packets
// again is looked for. A packet that is longer than what is left of the trace is a gap too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::perfetto {

// How packets follow one another in a trace, and what tells them from other bytes.

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

using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

struct RawPacket {
  std::string_view bytes;
  std::uint64_t offset = 0;  // of the packet with its tag and length, in the trace
};

// Bytes that belong to no packet.
struct Gap {
  enum class Reason : std::uint8_t {
    truncated,  // the trace ends in the middle of a packet
    not_packets,
    too_long,  // a packet longer than what is read at once
  };
  Reason reason = Reason::truncated;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class PacketCutter {
 public:
  explicit PacketCutter(ReadBytes read, std::size_t longest_packet = std::size_t{512} << 20);

  // False at the end. The packet's bytes are valid until the next call.
  bool next(RawPacket& packet) {
    // Most packets are short and lie whole in the buffer.
    if (end_ - begin_ >= 2 && buffer_[begin_] == packet_tag && buffer_[begin_ + 1] > 0 &&
        std::size_t(static_cast<unsigned char>(buffer_[begin_ + 1])) <= end_ - begin_ - 2) {
      const std::size_t length = static_cast<unsigned char>(buffer_[begin_ + 1]);
      packet = {std::string_view(buffer_.data() + begin_ + 2, length), base_ + begin_};
      last_ = packet.offset;
      begin_ += 2 + length;
      return true;
    }
    return next_of_any(packet);
  }
  // To be called when the last packet was no message: the search goes on within it.
  void reject_last();

  // The first 100; the count goes on.
  const std::vector<Gap>& gaps() const { return gaps_; }
  std::uint64_t gap_count() const { return gap_count_; }
  // The source's error, when it did not end well.
  const std::optional<Error>& error() const { return error_; }
  std::uint64_t position() const { return base_ + begin_; }

 private:
  enum class Step : std::uint8_t { packet, need_more, broken, too_long };
  Step step(RawPacket& packet);
  bool next_of_any(RawPacket& packet);
  std::string_view rest() const { return std::string_view(buffer_.data() + begin_, end_ - begin_); }
  bool refill();
  void skip_long_packet();
  // `at_end`: what the gap is if no packets follow.
  void resynchronize(Gap::Reason at_end);
  void add_gap(Gap::Reason reason, std::uint64_t offset, std::uint64_t bytes);

  ReadBytes read_;
  std::size_t longest_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;  // offset of buffer_[0] in the trace
  bool source_ended_ = false;
  std::optional<Error> error_;
  std::uint64_t last_ = 0;  // offset of the last packet
  std::uint64_t long_packet_ = 0;
  std::vector<Gap> gaps_;
  std::uint64_t gap_count_ = 0;
};

}  // namespace npuscope::perfetto
