#include "formats/perfetto/write/write_sequence.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::uint32_t difference_clock = clock_id::first_of_sequence;

std::uint32_t interned_field_of(Interned kind) {
  switch (kind) {
    case Interned::category: return interned_field::categories;
    case Interned::name: return interned_field::names;
    case Interned::annotation_name: return interned_field::annotation_names;
    case Interned::annotation_string: return interned_field::annotation_strings;
  }
  return 0;
}

MessageBuffer clock_reading(std::uint32_t clock, std::int64_t time, bool incremental) {
  MessageBuffer reading;
  reading.add_varint(clock_field::id, clock);
  reading.add_varint(clock_field::timestamp, std::uint64_t(time));
  if (incremental) reading.add_varint(clock_field::is_incremental, 1);
  return reading;
}

}  // namespace

void SequenceWriter::begin(std::uint64_t track_uuid, std::int64_t time) {
  ++sequence_;
  last_ = time;
  for (Table& table : tables_) table.last_iid = 0;
  MessageBuffer event_defaults;
  event_defaults.add_varint(event_field::track_uuid, track_uuid);
  MessageBuffer defaults;
  defaults.add_message(defaults_field::track_event, event_defaults);
  defaults.add_varint(defaults_field::timestamp_clock_id, difference_clock);
  MessageBuffer snapshot;
  snapshot.add_message(snapshot_field::clocks, clock_reading(base_clock_, time, false));
  snapshot.add_message(snapshot_field::clocks, clock_reading(difference_clock, time, true));
  if (base_clock_ != clock_id::boottime) {
    if (is_boottime_) {
      snapshot.add_message(snapshot_field::clocks, clock_reading(clock_id::boottime, time, false));
    }
    snapshot.add_varint(snapshot_field::primary_trace_clock, base_clock_);
  }
  MessageBuffer packet;
  packet.add_varint(packet_field::sequence_id, sequence_);
  packet.add_varint(packet_field::sequence_flags, sequence_flag::cleared);
  packet.add_varint(packet_field::incremental_state_cleared, 1);
  packet.add_varint(packet_field::first_packet_on_sequence, 1);
  packet.add_message(packet_field::trace_packet_defaults, defaults);
  packet.add_message(packet_field::clock_snapshot, snapshot);
  sink_->add(packet);

  char* at = put_varint(head_.data(), varint_tag(packet_field::sequence_id));
  at = put_varint(at, sequence_);
  at = put_varint(at, varint_tag(packet_field::sequence_flags));
  at = put_varint(at, sequence_flag::needs_state);
  head_bytes_ = std::size_t(at - head_.data());
}

std::uint64_t SequenceWriter::define(Interned kind, Table& table, std::uint32_t id,
                                     std::string_view text) {
  if (id >= table.known.size()) table.known.resize(std::size_t(id) + 1 + table.known.size());
  table.known[id] = {sequence_, ++table.last_iid};
  entry_.clear();
  entry_.add_varint(interned_text_field::iid, table.last_iid);
  entry_.add_bytes(interned_text_field::text, text);
  interned_.add_message(interned_field_of(kind), entry_);
  return table.last_iid;
}

std::uint64_t SequenceWriter::since_last(std::int64_t time) {
  const std::uint64_t since = time > last_ ? std::uint64_t(time) - std::uint64_t(last_) : 0;
  last_ += std::int64_t(since);
  return since;
}

void SequenceWriter::emit(std::int64_t time) {
  const std::uint64_t since = since_last(time);
  const std::string_view event = event_.bytes();
  const std::string_view interned = interned_.bytes();
  std::size_t bytes = 1 + varint_bytes(since) + head_bytes_;
  bytes += 1 + varint_bytes(event.size()) + event.size();
  if (!interned.empty()) bytes += 1 + varint_bytes(interned.size()) + interned.size();
  char* at = put_head(sink_->begin(bytes), since);
  const auto put_whole = [&](std::uint32_t field, std::string_view message) {
    *at++ = char(bytes_tag(field));
    at = print_text(put_varint(at, message.size()), message);
  };
  // Texts last: tools that search a trace for text without decoding it must find its end, and the
  // tag of a track event is a letter.
  put_whole(packet_field::track_event, event);
  if (!interned.empty()) put_whole(packet_field::interned_data, interned);
  sink_->end(at);
  event_.clear();
  interned_.clear();
}

void SequenceWriter::emit_end(std::int64_t time) {
  const std::uint64_t since = since_last(time);
  constexpr char end[] = {char(bytes_tag(packet_field::track_event)), 2,
                          char(varint_tag(event_field::type)), char(EventType::slice_end)};
  char* at = put_head(sink_->begin(1 + varint_bytes(since) + head_bytes_ + sizeof end), since);
  std::memcpy(at, end, sizeof end);
  sink_->end(at + sizeof end);
}

}  // namespace npuscope::perfetto
