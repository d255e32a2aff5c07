// What a reader had to leave out: counted by kind, with the place of the first, and told as notes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/losses.hpp"

namespace npuscope::perfetto {

enum class Defect : std::uint8_t {
  broken_packet,
  broken_track_event,
  needs_lost_state,
  too_many_sequences,
  missing_interned_name,
  missing_interned_value,
  no_timestamp,
  no_reference_timestamp,
  clock_not_related,
  assumed_base_clock,
  time_out_of_range,
  too_many_clocks,
  packets_dropped_by_recorder,
  broken_compressed_packet,
  nested_compressed_packet,
  decompressed_too_much,
  unmatched_end,
  unclosed_slice,
  ended_with_outer,
  end_before_begin,
  unmatched_async_end,
  unclosed_async,
  late_events,
  extra_counter_without_track,
  counter_without_value,
  annotation_without_value,
  nested_too_deep,
  flow_without_slice,
  flow_without_other_end,
  overlapping_slices,
  outlasting_slices,
  early_slices,
  unknown_event_type,
  track_without_descriptor,
  parent_missing,
  parent_cycle,
  no_track_events,
  kinds,  // how many there are
};

LossWords words_of(Defect defect);

class Defects : public LossLedger<Defect> {
 public:
  // A packet of a kind that is not read, by the number of the field that holds its data.
  void add_packet_kind(std::uint32_t field, std::uint64_t offset);
  bool any_packet_kind() const { return !packet_kinds_.empty(); }
  void add_event_field(std::uint32_t field, std::uint64_t offset);
  void add_legacy_phase(std::uint32_t phase, std::uint64_t offset);
  // Something that happens once, with words of its own.
  void add_note(Severity severity, std::uint64_t offset, std::string message,
                std::uint64_t count = 1);

  std::vector<Note> notes(const std::string& file) const;

 private:
  // A hostile file can name any number; beyond so many kinds they are counted together.
  using ByNumber = std::map<std::uint32_t, LossTally>;
  static void add_bounded(ByNumber& tallies, std::uint32_t number, std::uint64_t offset);

  ByNumber packet_kinds_;
  ByNumber event_fields_;
  ByNumber legacy_phases_;
  std::vector<Note> notes_;
};

}  // namespace npuscope::perfetto
