// One TrackEvent, decoded but not interpreted. Reused from event to event, so that its lists keep
// their room.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

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

// What track events of one writer look like: nearly all have the same fields in the same order, and
// the annotations behind them.
//
//   48 01  18 03  50 A2 01  22 05 …     begins a slice: category, name, annotations
//   48 01  18 07  50 04     22 05 …     the same but for the numbers, which are all that is read
//
// Nothing depends on what is learnt but speed: decode() leaves what it does not know to
// TrackEvent::decode().
class EventForms {
 public:
  // False where its form is not known; `event` is to be decoded anew then. What TrackEvent calls
  // annotations is all that lies behind the other fields, and nobody has looked at it but for the
  // first byte. Throws protozero's exceptions on a broken message.
  bool decode(std::string_view message, TrackEvent& event);
  // What was made of the last that decode() did not know.
  void learn(std::string_view message, const TrackEvent& event);

 private:
  enum class Value : std::uint8_t {
    track_uuid,
    category_iid,
    name_iid,
    name,
    counter,
    double_counter,
    none
  };
  // A value that is read, and what lies before it: its tag, and fields which are always the same.
  struct Part {
    std::uint64_t before = 0, mask = 0;  // the first byte lowest
    std::uint8_t bytes_before = 0;
    Value value = Value::none;
  };
  static constexpr std::size_t most_parts = 4, form_count = 8;
  static constexpr std::uint32_t most_in_vain = 64;
  static constexpr std::uint8_t no_category = 0xFF;
  struct Form {
    std::array<Part, most_parts> parts;
    std::size_t part_count = 0;  // 0: not learnt
    EventType type = EventType::unspecified;
    TrackEvent::Presence present;
    // Where in the first part the number of a category lies, where it is of one byte: its shift.
    std::uint8_t category_shift = no_category;
    bool has_category = false, has_annotations = false;
    // More often than it was of use: two kinds of events that come by turns to one place are not
    // learnt for ever.
    std::uint32_t learnt_in_vain = 0;
  };

  static void prepare(const Form& form, TrackEvent& event);
  static bool learn_parts(std::string_view fields, Form& form);
  // By the first field: of most writers the type, with its value.
  Form& form_for(std::string_view message) {
    return forms_[(std::uint8_t(message[0]) + std::uint8_t(message[1])) % form_count];
  }

  std::array<Form, form_count> forms_;
};

}  // namespace npuscope::perfetto
