#include "formats/perfetto/read/read.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>

#include "base/counted.hpp"
#include "base/field_reader.hpp"
#include "base/text.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/packets/inflate.hpp"
#include "formats/perfetto/read/trace_reader.hpp"
#include "formats/perfetto/restore/restore.hpp"

namespace npuscope::perfetto {
namespace {

// Perfetto's service numbers sequences with 16 bits; other writers choose freely.
constexpr std::size_t max_sequences = 1 << 20;
constexpr std::uint64_t packets_between_reports = 1 << 14;

}  // namespace

void TraceReader::decode_fields(std::string_view bytes, Packet& packet) {
  const auto rare = [&]() -> RareParts& {
    if (packet.rare == nullptr) rare_ = {};
    packet.rare = &rare_;
    packet.may_change_state = true;
    return rare_;
  };
  FieldReader reader(bytes);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(packet_field::timestamp):
        packet.timestamp = reader.get_uint64();
        packet.has_timestamp = true;
        break;
      case varint_field(packet_field::sequence_id): packet.sequence = reader.get_uint32(); break;
      case bytes_field(packet_field::track_event): packet.track_event = bytes_of(reader); break;
      case varint_field(packet_field::sequence_flags): packet.flags |= reader.get_uint32(); break;
      case varint_field(packet_field::timestamp_clock_id):
        packet.clock = reader.get_uint32();
        break;
      case bytes_field(packet_field::interned_data):
        packet.interned = bytes_of(reader);
        packet.may_change_state = true;
        break;
      case varint_field(packet_field::incremental_state_cleared):
        if (reader.get_uint64() != 0) packet.flags |= sequence_flag::cleared;
        break;
      case varint_field(packet_field::previous_packet_dropped):
        packet.dropped = reader.get_uint32();
        packet.may_change_state = true;
        break;
      case varint_field(packet_field::first_packet_on_sequence):
        packet.first_on_sequence = reader.get_uint64() != 0;
        break;
      case bytes_field(packet_field::trace_packet_defaults):
        rare().defaults = bytes_of(reader);
        break;
      case bytes_field(packet_field::clock_snapshot): rare().snapshot = bytes_of(reader); break;
      case bytes_field(packet_field::track_descriptor): rare().track = bytes_of(reader); break;
      case bytes_field(packet_field::process_descriptor): rare().process = bytes_of(reader); break;
      case bytes_field(packet_field::thread_descriptor): rare().thread = bytes_of(reader); break;
      case bytes_field(packet_field::chrome_events): rare().facts = bytes_of(reader); break;
      case bytes_field(packet_field::compressed_packets): rare().zlib = bytes_of(reader); break;
      case bytes_field(packet_field::zstd_compressed_packets):
        rare().zstd = bytes_of(reader);
        break;
      case bytes_field(packet_field::synchronization_marker):
      case bytes_field(packet_field::trace_uuid):
      case varint_field(packet_field::trusted_uid):
      case varint_field(packet_field::trusted_process):
      case varint_field(packet_field::machine): reader.skip(); break;
      default: rare().unknown_field = reader.tag(); reader.skip();
    }
  }
}

// False when the bytes are no packet.
bool TraceReader::take_any_packet(const RawPacket& raw, Level level) {
  Packet packet;
  try {
    decode_fields(raw.bytes, packet);
  } catch (const protozero::exception&) {
    return false;
  }
  packet.offset = raw.offset;
  packet_form_.learn(raw.bytes, packet);
  take_decoded_packet(packet, level);
  return true;
}

void TraceReader::take_decoded_packet(const Packet& packet, Level level) {
  ++packets_;
  try {
    const bool is_compressed =
        packet.rare != nullptr && (packet.rare->zlib.data() || packet.rare->zstd.data());
    if (is_compressed) {
      take_compressed(packet, level);
      return;
    }
    Sequence* sequence = sequence_of(packet);
    if (sequence == nullptr) return;
    const bool may_change_state =
        packet.may_change_state || (packet.flags & sequence_flag::cleared) != 0;
    if (may_change_state) take_sequence_state(packet, *sequence);
    const bool needs_state = (packet.flags & sequence_flag::needs_state) != 0;
    if (needs_state && !sequence->state_valid) {
      defects_.add(Defect::needs_lost_state, packet.offset);
      return;
    }
    if (packet.track_event.data() != nullptr) {
      take_track_event(packet, *sequence);
    } else {
      take_contents(packet, *sequence);
    }
  } catch (const protozero::exception&) {
    defects_.add(
        packet.track_event.data() != nullptr ? Defect::broken_track_event : Defect::broken_packet,
        packet.offset);
  }
}

Sequence* TraceReader::find_sequence(const Packet& packet) {
  auto found = sequences_.find(packet.sequence);
  if (found == sequences_.end()) {
    if (sequences_.size() == max_sequences) {
      defects_.add(Defect::too_many_sequences, packet.offset);
      return nullptr;
    }
    found = sequences_.try_emplace(packet.sequence).first;
  }
  last_sequence_id_ = packet.sequence;
  last_sequence_ = &found->second;
  return last_sequence_;
}

void TraceReader::take_sequence_state(const Packet& packet, Sequence& sequence) {
  if (packet.dropped != 0 && !packet.first_on_sequence) {
    defects_.add(Defect::packets_dropped_by_recorder, packet.offset);
  }
  if ((packet.flags & sequence_flag::cleared) != 0) {
    sequence.clear_state();
  } else if (packet.dropped != 0) {
    sequence.state_valid = false;
  }
  if (packet.rare != nullptr && packet.rare->defaults.data() != nullptr) {
    sequence.defaults = SequenceDefaults::decode(packet.rare->defaults);
  }
  if (packet.interned.data() != nullptr) {
    sequence.state().add(packet.interned, profile_.strings);
  }
}

// Of a packet that is no track event.
void TraceReader::take_contents(const Packet& packet, Sequence& sequence) {
  const bool is_snapshot = packet.rare != nullptr && packet.rare->snapshot.data() != nullptr;
  if (packet.has_timestamp && !is_snapshot) {
    // An incremental clock counts on with every timestamp.
    const std::uint32_t clock = packet.clock != 0 ? packet.clock : sequence.defaults.clock;
    if (is_sequence_clock(clock)) clocks_.to_trace_time(clock, packet.sequence, packet.timestamp);
  }
  if (packet.rare == nullptr) return;
  const RareParts& rare = *packet.rare;
  if (is_snapshot) clocks_.add_snapshot(rare.snapshot, packet.sequence, packet.offset);
  const auto writes = [&](const Tracks::DescribedThread& thread) {
    if (thread.track == none) return;
    sequence.thread_track = thread.track;
    if (!thread.has_reference_time) return;
    sequence.reference_time_us = thread.reference_time_us;
    sequence.thread_time_us = thread.thread_time_us;
    sequence.thread_instructions = thread.instructions;
  };
  if (rare.track.data() != nullptr) writes(tracks_.describe(rare.track));
  if (rare.process.data() != nullptr) tracks_.describe_process(rare.process);
  if (rare.thread.data() != nullptr) writes(tracks_.describe_thread(rare.thread));
  if (rare.facts.data() != nullptr && !take_about(rare.facts)) {
    defects_.add_packet_kind(packet_field::chrome_events, packet.offset);
  }
  if (rare.unknown_field != 0) defects_.add_packet_kind(rare.unknown_field, packet.offset);
}

// False where the facts are another recorder's.
bool TraceReader::take_about(std::string_view facts) {
  FieldReader bundle(facts);
  bool is_own = false;
  while (bundle.next()) {
    if (bundle.tag_and_type() != bytes_field(bundle_field::metadata)) {
      bundle.skip();
      continue;
    }
    std::string_view name, text;
    FieldReader fact(bundle.get_view());
    while (fact.next()) {
      switch (fact.tag_and_type()) {
        case bytes_field(metadata_field::name): name = bytes_of(fact); break;
        case bytes_field(metadata_field::text): text = bytes_of(fact); break;
        default: fact.skip();
      }
    }
    if (name != about_name) continue;
    is_own = true;
    if (++abouts_ == 1) about_ = text;
  }
  return is_own;
}

void TraceReader::take_compressed(const Packet& packet, Level level) {
  if (level == Level::compressed) {
    defects_.add(Defect::nested_compressed_packet, packet.offset);
    return;
  }
  const bool is_zlib = packet.rare->zlib.data() != nullptr;
  const ReadBytes inflate =
      make_inflater(is_zlib ? PacketCompression::zlib : PacketCompression::zstd,
                    is_zlib ? packet.rare->zlib : packet.rare->zstd);
  bool beyond = false;
  PacketCutter cutter([&](std::span<char> into) -> Result<std::size_t> {
    const auto room = std::size_t(std::min<std::uint64_t>(into.size(), decompressed_left_));
    beyond = room == 0;
    if (beyond) return 0;
    const auto count = inflate(into.first(room));
    if (count) decompressed_left_ -= *count;
    return count;
  });
  RawPacket inner;
  while (cutter.next(inner)) {
    // Notes point to where the compressed packet lies in the file.
    if (!take_packet({inner.bytes, packet.offset}, Level::compressed)) cutter.reject_last();
  }
  if (beyond) defects_.add(Defect::decompressed_too_much, packet.offset);
  if (cutter.error() || (!beyond && cutter.gap_count() > 0)) {
    defects_.add(Defect::broken_compressed_packet, packet.offset);
  }
}

void TraceReader::note_gaps(const PacketCutter& cutter) {
  for (const Gap& gap : cutter.gaps()) {
    switch (gap.reason) {
      case Gap::Reason::truncated:
        defects_.add_note(Severity::error, gap.offset,
                          fmt::format("the trace ends in the middle of a packet, the last {} bytes "
                                      "of which are here; copy the file again or record it to its "
                                      "end",
                                      gap.bytes));
        break;
      case Gap::Reason::not_packets:
        defects_.add_note(
            Severity::error, gap.offset,
            counted(gap.bytes, "byte is not a packet and was", "bytes are not packets and were") +
                " skipped");
        break;
      case Gap::Reason::too_long:
        defects_.add_note(
            Severity::error, gap.offset,
            fmt::format("a packet of {} bytes is too long and was passed over", gap.bytes));
        break;
    }
  }
  if (cutter.gap_count() > cutter.gaps().size()) {
    defects_.add_note(Severity::error, 0, "further places hold bytes that are not packets",
                      cutter.gap_count() - cutter.gaps().size());
  }
}

// Viewers and analyses expect a series in the order of time; most writers keep it.
void TraceReader::sort_samples() {
  Counters& counters = profile_.counters;
  std::vector<std::int64_t> last(counters.series.size(), std::numeric_limits<std::int64_t>::min());
  bool in_order = true;
  for (std::size_t i = 0; i < counters.size() && in_order; ++i) {
    in_order = counters.time[i] >= last[counters.of[i]];
    last[counters.of[i]] = counters.time[i];
  }
  if (in_order) return;
  std::vector<std::uint32_t> order(counters.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return counters.time[a] < counters.time[b];
  });
  Counters sorted;
  sorted.series = std::move(counters.series);
  for (const std::uint32_t i : order) {
    sorted.of.push_back(counters.of[i]);
    sorted.time.push_back(counters.time[i]);
    sorted.value.push_back(counters.value[i]);
  }
  counters = std::move(sorted);
}

// Room for as many rows as the file will have if it goes on as it began: columns that grow bit by
// bit are copied again and again. Room that is not used costs addresses, not memory.
void TraceReader::make_room(const ByteSource& source) {
  constexpr std::uint64_t beginning = 4 << 20;
  constexpr double max_rows = 1 << 27;
  const std::uint64_t read = source.file_bytes_read();
  if (read < beginning || read >= source.file_bytes()) return;
  has_room_ = true;
  const double factor = 1.02 * double(source.file_bytes()) / double(read);
  const auto rows = std::size_t(std::min(max_rows, double(slices_.rows()) * factor));
  Spans& spans = profile_.spans;
  try {
    spans.unit.reserve(rows);
    spans.op.reserve(rows);
    spans.kind.reserve(rows);
    spans.start.reserve(rows);
    spans.duration.reserve(rows);
  } catch (const std::bad_alloc&) {
    return;  // they grow bit by bit then
  }
}

Result<Profile> TraceReader::read(ByteSource& source, const ReadOptions& options) {
  decompressed_left_ = options.decompressed_limit;
  PacketCutter cutter([&](std::span<char> into) { return source.read(into); });
  std::uint64_t count = 0;
  RawPacket packet;
  while (cutter.next(packet)) {
    if (!take_packet(packet, Level::trace)) cutter.reject_last();
    if (++count % packets_between_reports != 0) continue;
    if (!has_room_) make_room(source);
    if (options.progress) options.progress(source.file_bytes_read(), source.file_bytes());
  }
  if (options.progress) options.progress(source.file_bytes(), source.file_bytes());
  if (packets_ == 0) {
    if (cutter.error()) return tl::unexpected(*cutter.error());
    return input_error(
        "{}: no packet of a Perfetto trace in its {} bytes; check that it is a trace in "
        "protobuf form, recorded to its end",
        source.name(), source.position());
  }
  note_gaps(cutter);
  slices_.finish(last_time_);
  flows_.finish(profile_, slices_, defects_);
  if (slices_.rows() == 0 && profile_.counters.size() == 0 && defects_.any_packet_kind()) {
    defects_.add_without_place(Defect::no_track_events);
  }
  sort_samples();
  make_units();
  // Several profiles in one trace count by different clocks; they stay what the trace makes of
  // them.
  const auto own =
      abouts_ == 1 ? OwnTrace::recognise(about_, profile_, unit_descriptions_) : std::nullopt;
  if (own) own->restore_phases(profile_);
  if (own) own->restore_units(profile_);
  restore_known_words(profile_, own ? own->numbers() : std::vector<NumberMeaning>{});
  clocks_.fill(profile_);
  profile_.provenance.files = {source.name()};
  profile_.provenance.format = "Perfetto trace";
  profile_.notes = defects_.notes(source.name());
  if (cutter.error()) {  // why the trace ends where it does
    const std::string why(without_file(cutter.error()->message, source.name()));
    profile_.notes.insert(profile_.notes.begin(),
                          {Severity::error, source.name(), cutter.position(), why, 1});
  }
  if (own) own->restore_times(profile_);
  return std::move(profile_);
}

Result<Profile> read_profile(ByteSource& source, const ReadOptions& options) {
  const auto reader = std::make_unique<TraceReader>();  // too large for a small stack
  return reader->read(source, options);
}

}  // namespace npuscope::perfetto
