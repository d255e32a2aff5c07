// What track events of one writer look like: nearly all have the same fields in the same order, and
// the annotations behind them.
//
//   48 01  18 03  50 A2 01  22 05 …     begins a slice: category, name, annotations
//   48 01  18 07  50 04     22 05 …     the same but for the numbers, which are all that is read
//
// Nothing depends on what is learnt but speed: decode() leaves what it does not know to
// TrackEvent::decode().
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "formats/perfetto/read/track_event.hpp"

namespace npuscope::perfetto {

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
