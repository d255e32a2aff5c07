// One sequence of packets for one track: its strings are numbered, its times are differences, its
// track is said once.
//
//   sequence.begin(track_uuid, 1000);
//   sequence.event().add_varint(event_field::type, …);
//   sequence.event().add_varint(event_field::name_iid,
//                               sequence.intern(Interned::name, id, [&] { return text; }));
//   sequence.emit(1250);
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/print_text.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {

// Protobuf bytes written straight into memory: packets are a dozen bytes long, and a trace has many
// millions of them.

inline constexpr std::size_t longest_varint = 10;

inline char* put_varint(char* at, std::uint64_t value) {
  while (value >= 0x80) {
    *at++ = char(value | 0x80);
    value >>= 7;
  }
  *at++ = char(value);
  return at;
}

constexpr std::size_t varint_bytes(std::uint64_t value) {
  return (std::size_t(std::bit_width(value | 1)) + 6) / 7;
}

constexpr std::uint32_t varint_tag(std::uint32_t field) { return field << 3; }
constexpr std::uint32_t fixed64_tag(std::uint32_t field) { return field << 3 | 1; }
constexpr std::uint32_t bytes_tag(std::uint32_t field) { return field << 3 | 2; }

// A message within one that is being written, of at most as many bytes as there is room for behind
// the 20 of its field and size: put(where it begins) returns where it ends.
template <class Put>
char* put_message(char* at, std::uint32_t field, const Put& put) {
  char* const size_at = put_varint(at, bytes_tag(field));
  char* const begin = size_at + 1;
  char* const end = put(begin);
  const auto size = std::size_t(end - begin);
  if (size < 0x80) [[likely]] {
    *size_at = char(size);
    return end;
  }
  const std::size_t size_bytes = varint_bytes(size);
  std::memmove(size_at + size_bytes, begin, size);
  return put_varint(size_at, size) + size;
}

// A message in the making. Grows as needed; clear() keeps the room.
class MessageBuffer {
 public:
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  std::string_view bytes() const { return {data_.data(), size_}; }

  void add_varint(std::uint32_t field, std::uint64_t value) {
    char* at = room(2 * longest_varint);
    at = put_varint(at, varint_tag(field));
    finish(put_varint(at, value));
  }
  void add_fixed64(std::uint32_t field, std::uint64_t bits) {
    char* at = put_varint(room(longest_varint + sizeof bits), fixed64_tag(field));
    std::memcpy(at, &bits, sizeof bits);  // both little-endian
    finish(at + sizeof bits);
  }
  void add_double(std::uint32_t field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    add_fixed64(field, bits);
  }
  void add_bytes(std::uint32_t field, std::string_view bytes) {
    char* at = room(2 * longest_varint + bytes.size());
    at = put_varint(at, bytes_tag(field));
    at = put_varint(at, bytes.size());
    finish(print_text(at, bytes));
  }
  void add_message(std::uint32_t field, const MessageBuffer& message) {
    add_bytes(field, message.bytes());
  }
  // Fields as they stand.
  void add_fields(std::string_view fields) { finish(print_text(room(fields.size()), fields)); }
  // At most so many bytes of fields: put(where they begin) returns where they end.
  template <class Put>
  void add_made(std::size_t max, const Put& put) {
    finish(put(room(max)));
  }

 private:
  char* room(std::size_t bytes) {
    if (size_ + bytes > data_.size()) grow(bytes);
    return data_.data() + size_;
  }
  [[gnu::noinline]] void grow(std::size_t bytes) { data_.resize(2 * (size_ + bytes)); }
  void finish(const char* end) { size_ = std::size_t(end - data_.data()); }

  std::vector<char> data_ = std::vector<char>(256);
  std::size_t size_ = 0;
};
static_assert(std::endian::native == std::endian::little);

// Packets on their way to a file.
class PacketSink {
 public:
  using Write = std::function<void(std::string_view)>;
  explicit PacketSink(Write write) : write_(std::move(write)), buffer_(block_bytes) {}
  PacketSink(const PacketSink&) = delete;
  PacketSink& operator=(const PacketSink&) = delete;

  // Begins a packet of so many bytes; the caller writes exactly those, or `slack` more that do not
  // count, and calls end().
  static constexpr std::size_t slack = 24;
  char* begin(std::size_t packet_bytes) {
    const std::size_t all = 1 + longest_varint + packet_bytes + slack;
    if (size_ + all > buffer_.size()) make_room(all);
    char* at = buffer_.data() + size_;
    *at++ = 0x0A;  // Trace.packet
    return put_varint(at, packet_bytes);
  }
  void end(const char* end) {
    size_ = std::size_t(end - buffer_.data());
    ++packets_;
  }
  void add(const MessageBuffer& packet) {
    char* at = begin(packet.bytes().size());
    std::memcpy(at, packet.bytes().data(), packet.bytes().size());
    end(at + packet.bytes().size());
  }
  void flush() {
    if (size_ > 0) write_({buffer_.data(), size_});
    bytes_ += size_;
    size_ = 0;
  }

  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_ + size_; }

 private:
  static constexpr std::size_t block_bytes = 1 << 20;

  void make_room(std::size_t bytes) {
    flush();
    if (bytes > buffer_.size()) buffer_.resize(bytes);
  }

  Write write_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t packets_ = 0;
};

enum class Interned : std::uint8_t { category, name, annotation_name, annotation_string };

class SequenceWriter {
 public:
  // `base_clock`: the id of the clock that all times are of. `is_boottime`: to relate it to the
  // boot clock, which trace_processor counts by, as the same; otherwise the trace relates them
  // elsewhere.
  SequenceWriter(PacketSink& sink, std::uint32_t base_clock, bool is_boottime)
      : sink_(&sink), base_clock_(base_clock), is_boottime_(is_boottime) {}

  // Times of the sequence begin at `time`, nanoseconds; none may be earlier or come out of order.
  void begin(std::uint64_t track_uuid, std::int64_t time);

  // The ids of texts mean others from now on: another profile.
  void forget_texts() {
    for (Table& table : tables_) table.known.clear();
  }

  // The event that emit() will write; empty after it.
  MessageBuffer& event() { return event_; }
  // Which sequence this is: numbers of texts are those of one.
  std::uint32_t number() const { return sequence_; }
  // The number of a text that the caller knows as `id`, told in the packet that first uses it.
  // text() is asked for then.
  template <class Text>
  std::uint64_t intern(Interned kind, std::uint32_t id, const Text& text) {
    Table& table = tables_[std::size_t(kind)];
    if (id < table.known.size() && table.known[id].sequence == sequence_) {
      return table.known[id].iid;
    }
    return define(kind, table, id, text());
  }
  void emit(std::int64_t time);
  // The same as an event with nothing but its type.
  void emit_end(std::int64_t time);

 private:
  struct Known {
    std::uint32_t sequence = 0;
    std::uint32_t iid = 0;
  };
  struct Table {
    std::vector<Known> known;
    std::uint32_t last_iid = 0;
  };
  std::uint64_t define(Interned kind, Table& table, std::uint32_t id, std::string_view text);
  char* put_head(char* at, std::uint64_t since) const {
    *at++ = char(varint_tag(packet_field::timestamp));
    at = put_varint(at, since);
    std::memcpy(at, head_.data(), head_.size());
    return at + head_bytes_;
  }
  std::uint64_t since_last(std::int64_t time);

  PacketSink* sink_;
  std::uint32_t base_clock_;
  bool is_boottime_;
  std::uint32_t sequence_ = 0;
  std::int64_t last_ = 0;
  std::array<char, PacketSink::slack> head_{};  // sequence id and flags of every event
  std::size_t head_bytes_ = 0;
  std::array<Table, 4> tables_;
  MessageBuffer event_;
  MessageBuffer interned_;
  MessageBuffer entry_;
};

}  // namespace npuscope::perfetto
