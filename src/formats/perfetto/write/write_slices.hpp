// The spans of a profile as slices: tracks on which everything nests, and for each slice its name,
// category, annotations and flows.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/trace_time.hpp"
#include "formats/perfetto/write/span_source.hpp"
#include "formats/perfetto/write/write_annotations.hpp"
#include "formats/perfetto/write/write_sequence.hpp"
#include "formats/perfetto/write/write_tracks.hpp"
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::perfetto {

class SliceWriter {
 public:
  // `first_flow_id`: of the flow that `spans` has as number 0.
  SliceWriter(const Profile& profile, const SpanSource& spans, const TraceTime& time,
              UnitTracks& tracks, SequenceWriter& sequence, Losses& losses,
              std::uint64_t first_flow_id);

  void write_unit(UnitId unit);
  void write_phases();
  void count_losses();

 private:
  // Something to draw on a track: a span's row, or a phase's number.
  struct Item {
    static constexpr std::int64_t no_end = -1;  // of an instant; times of a trace are not negative

    bool is_instant() const { return end == no_end; }

    std::int64_t start = 0;  // ns
    std::int64_t end = 0;
    std::uint32_t number = 0;
    std::uint32_t flows = no_flows;
  };
  enum class What : std::uint8_t { spans, async, phases };

  class UnitItems;

  template <class ItemsAgain>
  void write_lanes(UnitId unit, What what, std::size_t max_held, const ItemsAgain& items_again);
  void begin_track(UnitId unit, What what, std::uint32_t lane, const Item& first);
  std::uint64_t track_of(UnitId unit, What what, std::uint32_t lane);
  void end_track();
  void write_item(const Item& item, What what);
  void end_until(std::int64_t time);
  void write_end(const Item& item);
  void write_span(const Item& item);
  void write_phase(const Phase& phase, std::uint32_t number);
  void add_name(std::uint32_t row);
  void add_flows(std::uint32_t flows, bool on_slice_end);

  // What the events of one op and one kind of span have in common, as the sequence at hand numbers
  // texts: what stands before their flows, and what behind their arguments around what is the
  // row's own.
  struct Form {
    std::uint64_t of = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t sequence = 0;
    std::string name, kind, extras;
  };
  static constexpr std::size_t max_recent_forms = 1 << 12;  // a power of two

  const Profile& profile_;
  const SpanSource& spans_;
  const TraceTime& time_;
  UnitTracks& tracks_;
  SequenceWriter& sequence_;
  Losses& losses_;
  std::uint64_t first_flow_id_;
  TextNumbers numbers_;
  AnnotationWriter annotations_;
  std::vector<Form> recent_forms_;  // by the low bits of the op
  std::vector<FlowEnd> flow_ends_;  // of the span that is being written
  std::vector<Item> open_;          // on the track that is being written, the innermost last
  // Names like "sync MatMul_0", by kind and name; numbered after the pool and the words.
  struct WaitName {
    std::uint32_t id = 0;
    std::string text;
  };
  std::unordered_map<std::uint64_t, WaitName> wait_names_;
  std::uint64_t moved_to_lanes_ = 0;
  std::uint64_t asynchronous_ = 0;
};

}  // namespace npuscope::perfetto
