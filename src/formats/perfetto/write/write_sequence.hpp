// One sequence of packets for one track: its strings are numbered, its times are differences, its
// track is said once.
//
//   sequence.begin(track_uuid, 1000);
//   sequence.event().add_varint(event_field::type, …);
//   sequence.event().add_varint(event_field::name_iid, sequence.intern(Interned::name, id, text));
//   sequence.emit(1250);
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/perfetto/write/encoder.hpp"

namespace npuscope::perfetto {

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
  // The number of a text that the caller knows as `id`, told in the packet that first uses it.
  std::uint64_t intern(Interned kind, std::uint32_t id, std::string_view text) {
    Table& table = tables_[std::size_t(kind)];
    if (id < table.known.size() && table.known[id].sequence == sequence_) {
      return table.known[id].iid;
    }
    return define(kind, table, id, text);
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
  char* put_head(char* at, std::uint64_t since) const;
  std::uint64_t since_last(std::int64_t time);

  PacketSink* sink_;
  std::uint32_t base_clock_;
  bool is_boottime_;
  std::uint32_t sequence_ = 0;
  std::int64_t last_ = 0;
  std::array<char, 24> head_{};  // sequence id and flags of every event
  std::size_t head_bytes_ = 0;
  std::array<Table, 4> tables_;
  MessageBuffer event_;
  MessageBuffer interned_;
  MessageBuffer entry_;
};

}  // namespace npuscope::perfetto
