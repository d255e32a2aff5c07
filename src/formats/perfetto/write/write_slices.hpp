// The spans of a profile as slices: tracks on which everything nests, and for each slice its name,
// category, annotations and flows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/known_words.hpp"
#include "formats/perfetto/trace_time.hpp"
#include "formats/perfetto/write/write_sequence.hpp"
#include "formats/perfetto/write/write_tracks.hpp"
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::perfetto {

class SliceWriter {
 public:
  SliceWriter(const Profile& profile, const TraceTime& time, UnitTracks& tracks,
              SequenceWriter& sequence, Losses& losses, std::uint64_t& next_flow_id);

  void write_unit(UnitId unit);
  void write_phases();
  void count_losses();

 private:
  struct FlowEnd {
    std::uint32_t row = 0;
    std::uint64_t id = 0;
    bool terminates = false;
    bool on_slice_end = false;
  };
  // Something to draw on a track: a span's row, or a phase's number.
  struct Item {
    std::uint32_t number = 0;
    std::int64_t start = 0;  // ns
    std::int64_t end = 0;
    bool is_instant = false;
  };
  enum class What : std::uint8_t { spans, phases };

  void give_flows_ids(std::uint64_t& next_flow_id);
  void sort_span_measures();
  std::vector<std::vector<Item>> in_lanes(std::span<const Item> items) const;
  void write_track(std::uint64_t uuid, std::span<const Item> items, What what);
  void write_end(const Item& item, What what);
  void write_span(std::uint32_t row, bool is_instant);
  void write_phase(const Phase& phase, std::uint32_t number);
  void add_name(std::uint32_t row);
  void add_flows(std::uint32_t row, bool on_slice_end);
  void add_arguments(std::uint32_t row);
  void add_extras(std::uint32_t row);
  void add_op_extras(const Op& op);
  void add_measures(Measure::Subject subject, std::uint32_t id);

  // Annotations; a key is a string of the profile or one of the words for what the model knows.
  void begin_annotation(std::uint64_t name_iid);
  void end_annotation();
  void annotate(Word word, std::int64_t value);
  void annotate(Word word, StringId text);
  std::uint64_t iid(Interned kind, StringId text);
  std::uint64_t iid(Interned kind, Word word);

  const Profile& profile_;
  const TraceTime& time_;
  UnitTracks& tracks_;
  SequenceWriter& sequence_;
  Losses& losses_;
  SpansByUnit by_unit_;
  std::vector<FlowEnd> flow_ends_;  // by row
  std::vector<bool> has_flow_;
  std::vector<std::uint32_t> measures_;  // of spans and phases, by subject and its id
  std::vector<bool> has_measure_;        // by row
  // Names like "sync MatMul_0", by kind and name; numbered after the pool and the words.
  struct WaitName {
    std::uint32_t id = 0;
    std::string text;
  };
  std::unordered_map<std::uint64_t, WaitName> wait_names_;
  MessageBuffer annotation_;
  std::uint64_t backward_flows_ = 0;
  std::uint64_t lost_flows_ = 0;
  std::uint64_t named_flows_ = 0;
  std::uint64_t moved_to_lanes_ = 0;
  std::uint64_t negative_durations_ = 0;
  std::uint64_t asynchronous_ = 0;
};

}  // namespace npuscope::perfetto
