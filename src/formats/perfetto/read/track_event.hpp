// One TrackEvent, decoded but not interpreted. Reused from event to event, so that its lists keep
// their room.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/wire.hpp"

namespace npuscope::perfetto {

struct LegacyEvent {
  std::uint32_t phase = 0;  // the letter of the JSON format; 0: none
  std::optional<std::uint64_t> name_iid;
  std::int64_t duration_us = 0;
  enum class IdKind : std::uint8_t { no_id, unscoped, local, global };
  IdKind id_kind = IdKind::no_id;
  std::uint64_t id = 0;
  std::string_view id_scope;
  std::optional<std::uint64_t> bind_id;
  bool bind_to_enclosing = false;
  enum FlowDirection : std::uint32_t { no_direction = 0, in = 1, out = 2, in_out = 3 };
  std::uint32_t flow_direction = 0;
  enum InstantScope : std::uint32_t { no_scope = 0, global = 1, process = 2, thread = 3 };
  std::uint32_t instant_scope = 0;
  std::optional<std::int32_t> process_override;
  std::optional<std::int64_t> thread_override;

  static LegacyEvent decode(std::string_view message);
};

// A number that events of a sequence count up, or say as it is.
struct CountedValue {
  std::optional<std::int64_t> delta, absolute;
};

struct TrackEvent {
  EventType type = EventType::unspecified;
  // Which of the numbers that begin at `track_uuid` the event says.
  struct Presence {
    bool track_uuid = false, name_iid = false, counter = false, double_counter = false;
  } present;
  bool has_legacy = false;
  bool has_location_iid = false;
  bool has_correlation = false;
  std::uint64_t track_uuid = 0;
  std::uint64_t name_iid = 0;
  std::int64_t counter = 0;
  double double_counter = 0;
  std::uint64_t location_iid = 0;
  std::uint64_t correlation = 0;
  std::optional<std::int64_t> time_delta_us;
  std::optional<std::int64_t> time_absolute_us;
  CountedValue thread_time_us, thread_instructions;
  std::string_view name;
  std::string_view location;
  std::string_view legacy;
  std::uint32_t unknown_field = 0;  // the last that is not read; 0: none
  std::vector<std::uint64_t> category_iids;
  std::vector<std::string_view> categories;
  // Those that follow one another, with their tags and lengths; more_annotations: those that other
  // fields part from them, without.
  std::string_view annotations;
  std::vector<std::string_view> more_annotations;
  std::vector<std::uint64_t> flows;
  std::vector<std::uint64_t> terminating_flows;
  std::vector<std::uint64_t> extra_counter_tracks;
  std::vector<std::int64_t> extra_counters;
  std::vector<std::uint64_t> extra_double_counter_tracks;
  std::vector<std::uint64_t> extra_double_counters;  // the bits of doubles

  // Says no more than what nearly all events say: a type, a track, a name, interned categories,
  // annotations that follow one another, the value of a counter.
  bool is_plain() const { return !has_other_ && !has_legacy; }
  bool has_name() const { return present.name_iid || name.data() != nullptr; }
  std::uint64_t name_number() const { return present.name_iid ? name_iid : 0; }
  bool has_thread_counts() const { return has_other_ && has_thread_counts_; }

  // Throws protozero's exceptions on a broken message.
  void decode(std::string_view message);

 private:
  friend class EventForms;
  void clear();
  void decode_other(FieldReader& reader);

  const void* of_form_ = nullptr;  // what is present is what this form of EventForms has
  bool has_other_ = false;
  bool has_thread_counts_ = false;
};

}  // namespace npuscope::perfetto
