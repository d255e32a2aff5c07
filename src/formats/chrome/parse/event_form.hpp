// How a writer prints an event: the text between its values, and what each value is. Events of one
// writer repeat their form, so that the next one is read by comparing that text and taking the
// values, at several times the speed of a parser that expects anything.
//
//   {"name":"conv","ph":"X","ts":1.5,"args":{"op":7}}
//
//   {"name":"            text    name
//   ","ph":"X","ts":     scalar  time
//   ,"args":{"op":       scalar  argument op
//   }}
//
// What does not follow its form to the byte, or has values that need a closer look, is no match:
// ChunkParser's general way reads it and finds what is broken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chrome/parse/event_keys.hpp"
#include "formats/chrome/parse/event_values.hpp"
#include "formats/chrome/parse/raw_strings.hpp"

namespace npuscope::chrome {

class EventForm {
 public:
  static constexpr std::size_t max_values = 48;

  // Of an event that the general way has read. Nothing when it is of no use: an event without a
  // plain phase, with a key twice, with "id2", or with more values.
  static std::optional<EventForm> of(std::string_view text, RawStrings& strings);

  struct Value {
    EventKey meaning = EventKey::other;
    RawValue::Kind kind = RawValue::Kind::missing;
    StringId key{};              // of an argument, and of what has no meaning
    std::uint32_t text_end = 0;  // of the text before it
  };
  const std::vector<Value>& values() const { return values_; }
  std::uint32_t seen() const { return seen_; }  // a bit for each key
  char phase() const { return phase_; }

  // Where the event ends that begins at `at` and has this form, with its values; null when it has
  // another. Nothing is read behind `end` but a few bytes that must be readable.
  const char* match(const char* at, const char* end, RawValue* values) const;

  // The shape of the arguments; none: not known yet.
  std::optional<std::uint32_t> shape = {};
  std::vector<ArgumentKey> argument_keys = {};  // with the types of the last event
  std::size_t next = 0;                         // the form of the event behind the last of this one

 private:
  friend class FormLearner;

  std::string text_;  // without the values, padded
  std::uint32_t text_size_ = 0;
  std::vector<Value> values_;
  std::uint32_t seen_ = 0;
  char phase_ = 0;
};

}  // namespace npuscope::chrome
