// Packets in, one after the other; a profile out. read.cpp takes packets apart, read_events.cpp and
// read_legacy.cpp the track events, units.cpp makes units of the tracks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/perfetto/packets/packets.hpp"
#include "formats/perfetto/read/annotations.hpp"
#include "formats/perfetto/read/clocks.hpp"
#include "formats/perfetto/read/defects.hpp"
#include "formats/perfetto/read/flows.hpp"
#include "formats/perfetto/read/packet_form.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/perfetto/read/sequence.hpp"
#include "formats/perfetto/read/slices.hpp"
#include "formats/perfetto/read/track_event.hpp"
#include "formats/perfetto/read/tracks.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

class TraceReader {
 public:
  TraceReader()
      : clocks_(defects_),
        tracks_(profile_.strings),
        annotations_(profile_.strings, defects_),
        slices_(profile_, tracks_, defects_) {}
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  Result<Profile> read(ByteSource& source, const ReadOptions& options);

 private:
  enum class Level : std::uint8_t { trace, compressed };
  struct EventContext {
    std::uint32_t track = 0;
    std::int64_t time = 0;
    std::uint64_t offset = 0;
    StringId name{};
    StringId category{};
    const InternedState* interned = nullptr;
    Sequence* sequence = nullptr;
  };

  // Packets (read.cpp)
  bool take_packet(const RawPacket& raw, Level level) {
    const Packet* const packet = packet_form_.decode(raw.bytes, raw.offset);
    if (packet == nullptr) return take_any_packet(raw, level);
    take_decoded_packet(*packet, level);
    return true;
  }
  bool take_any_packet(const RawPacket& raw, Level level);
  void decode_fields(std::string_view bytes, Packet& packet);
  void take_decoded_packet(const Packet& packet, Level level);
  void take_sequence_state(const Packet& packet, Sequence& sequence);
  void take_contents(const Packet& packet, Sequence& sequence);
  void take_compressed(const Packet& packet, Level level);
  bool take_about(std::string_view facts);
  Sequence* sequence_of(const Packet& packet) {
    const bool is_last = last_sequence_ != nullptr && packet.sequence == last_sequence_id_;
    return is_last ? last_sequence_ : find_sequence(packet);
  }
  Sequence* find_sequence(const Packet& packet);
  void note_gaps(const PacketCutter& cutter);
  void make_room(const ByteSource& source);

  // Track events (read_events.cpp; what nearly all events pass is inline there)
  void take_track_event(const Packet& packet, Sequence& sequence);
  void take_decoded_event(const Packet& packet, Sequence& sequence, std::int64_t time);
  inline bool decode_event(const Packet& packet, const InternedState* interned);
  inline void take_plain_begin(const Packet& packet, const Sequence& sequence, std::int64_t time,
                               bool has_arguments);
  inline bool take_plain_event(const Packet& packet, const Sequence& sequence, std::int64_t time,
                               bool has_arguments);
  inline void take_plain_end(std::uint32_t track, std::int64_t time, std::uint64_t offset);
  inline std::uint32_t track_of_plain(const Sequence& sequence);
  // False where there is none; no optional, as in Clocks::usual_to_trace_time().
  inline bool time_of(const Packet& packet, Sequence& sequence, std::int64_t& time);
  std::optional<std::int64_t> time_by_any_clock(const Packet& packet, std::uint32_t clock);
  std::optional<std::int64_t> time_of_old(const Packet& packet, Sequence& sequence);
  std::uint32_t track_of(const Sequence& sequence, const LegacyEvent& legacy);
  std::uint32_t track_of(const Sequence& sequence);
  std::pair<std::int32_t, std::int64_t> thread_of(const Sequence& sequence);
  void take_typed_event(const EventContext& context);
  void take_counter(const EventContext& context);
  void take_extra_counters(const EventContext& context);
  void take_thread_counts(const EventContext& context);
  void add_sample(std::uint32_t track, StringId name, StringId part, std::int64_t time,
                  double value);
  double counter_value(std::uint32_t track, std::int64_t value, const EventContext& context);
  void take_flows(const EventContext& context, Slices::Ended at);
  StringId name_of(const Packet& packet, const InternedState* interned, const LegacyEvent& legacy);
  StringId category_of(const Packet& packet, const InternedState* interned) {
    const bool is_one = event_.categories.empty() && event_.category_iids.size() == 1;
    return is_one ? interned_category(event_.category_iids[0], packet, interned)
                  : joined_category(packet, interned);
  }
  StringId interned_category(std::uint64_t iid, const Packet& packet,
                             const InternedState* interned) {
    const StringId* const category = interned == nullptr ? nullptr : interned->categories.find(iid);
    if (!category) defects_.add(Defect::missing_interned_name, packet.offset);
    return category ? *category : StringId{};
  }
  StringId joined_category(const Packet& packet, const InternedState* interned);
  void decode_arguments(const EventContext& context);
  void add_location(const EventContext& context);
  OpId op_of(StringId name, StringId category) {
    if (index_of(name) < last_op_of_name_.size()) {
      const KnownOp& known = last_op_of_name_[index_of(name)];
      if (known.category == category && known.op != OpId::none) return known.op;
    }
    return find_or_add_op(name, category);
  }
  OpId find_or_add_op(StringId name, StringId category);

  // Legacy events (read_legacy.cpp)
  void take_legacy_event(const EventContext& context, const LegacyEvent& legacy);
  std::uint32_t track_of_instant(const EventContext& context, const LegacyEvent& legacy);
  void take_legacy_async(const EventContext& context, const LegacyEvent& legacy);
  void take_legacy_counter(const EventContext& context);
  void take_legacy_metadata(const EventContext& context);
  void take_legacy_flow(const EventContext& context, const LegacyEvent& legacy);
  void take_bind_id(const EventContext& context, const LegacyEvent& legacy, Slices::Ended at);

  // The end (units.cpp and read.cpp)
  void make_units();
  void sort_samples();

  Profile profile_;
  Defects defects_;
  Clocks clocks_;
  Tracks tracks_;
  AnnotationDecoder annotations_;
  Slices slices_;
  Flows flows_;
  StringPool legacy_flow_ids_;  // name, category and id of s, t and f, as one text
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  std::uint32_t last_sequence_id_ = 0;
  Sequence* last_sequence_ = nullptr;
  PacketForm packet_form_;
  RareParts rare_;
  EventForms event_forms_;
  TrackEvent event_;
  LegacyEvent legacy_;  // of the event, where it has one
  ArgumentList arguments_;
  std::string joined_categories_;
  struct KnownOp {
    StringId category{};
    OpId op = OpId::none;
  };
  std::vector<KnownOp> last_op_of_name_;
  std::unordered_map<std::uint64_t, OpId> ops_;
  std::map<std::tuple<std::uint32_t, StringId, StringId>, std::uint32_t> named_series_;
  std::vector<std::uint32_t> track_of_series_;
  std::vector<StringId> unit_descriptions_;  // of the tracks that the units were
  std::string about_;                        // of the first profile that npuscope wrote
  std::uint64_t abouts_ = 0;                 // how many it wrote
  std::int64_t last_time_ = std::numeric_limits<std::int64_t>::min();
  bool has_room_ = false;
  std::uint64_t packets_ = 0;
  std::uint64_t decompressed_left_ = 0;
};

}  // namespace npuscope::perfetto
