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

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chrome/parse/event_values.hpp"
#include "formats/chrome/parse/raw_strings.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {

// Where values of JSON end, 16 bytes at a time: what each value of each event goes through.
//
//   "conv1","ts":7.5,"args":[1,2]}
//    ^    text_end()
//                ^   scalar_end(), which reads the decimal on its way
//                              ^ container_end()
//
// Bytes behind `end` are read, by up to TextBuffer::slack, never believed.
static_assert(TextBuffer::slack > 2 * step_bytes);

// Of a text in JSON these end it or need a look: quotes, backslashes, control characters, and what
// is not ASCII.
inline bool is_special(char byte) {
  return byte == '"' || byte == '\\' || std::uint8_t(byte) < 0x20 || std::uint8_t(byte) >= 0x80;
}

#ifdef __SSE2__
inline const char* next_special(const char* at, const char* end) {
  for (; at < end; at += step_bytes) {
    const __m128i step = step_at(at);
    // As signed numbers, bytes from 0x80 on are less than 0x20 too.
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(step, _mm_set1_epi8('"')),
                                                      _mm_cmpeq_epi8(step, _mm_set1_epi8('\\'))),
                                         _mm_cmplt_epi8(step, _mm_set1_epi8(0x20)));
    const auto bits = unsigned(_mm_movemask_epi8(special));
    if (bits != 0) return std::min(at + std::countr_zero(bits), end);
  }
  return end;
}
#else
inline const char* next_special(const char* at, const char* end) {
  while (at < end && !is_special(*at)) ++at;
  return at;
}
#endif

// The quote that ends a text which has something to look at, the first of it at `at`; null where it
// is broken.
const char* end_of_unusual_text(const char* begin, const char* at, const char* end);

// The quote that ends a text; null where it is broken.
inline const char* text_end(const char* begin, const char* end) {
  const char* const at = next_special(begin, end);
  return at != end && *at == '"' ? at : end_of_unusual_text(begin, at, end);
}

inline constexpr auto scalar_bytes = [] {
  std::array<bool, 256> is{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    is[byte] = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
               (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
  }
  return is;
}();

// How many digits begin at `at` where they are a number of less than eight, as most are; else 0.
inline unsigned short_integer(const char* at, std::uint64_t& number) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= every_byte * '0';
  const std::uint64_t others = beyond_digits(word);
  if (others == 0) return 0;
  const auto bits = unsigned(std::countr_zero(others)) & ~7u;
  const unsigned count = bits / 8;
  if (bits == 0 || scalar_bytes[std::uint8_t(at[count])]) return 0;
  if ((word & 0xff) == 0 && count > 1) return 0;  // JSON does not allow 007
  number = eight_digits(word << (64 - bits));
  return count;
}

// Null where none begins at `begin`.
inline const char* scalar_end(const char* begin, const char* end, Decimal& decimal) {
  const char* at = take_decimal(begin, decimal);
  if (at != nullptr && at <= end && !scalar_bytes[std::uint8_t(*at)]) [[likely]]
    return at;
  decimal = {};
  at = begin;
  while (at < end && scalar_bytes[std::uint8_t(*at)]) ++at;
  return at != begin ? at : nullptr;
}

// Behind the bracket that closes the one at `at`. Only plain ones: what lies in them is looked at
// when it is new.
const char* container_end(const char* at, const char* end);

// Where a value of this kind ends that begins at `begin`; null where there is none. Of a text, the
// quote before it has been taken.
inline const char* take_value(const char* begin, const char* end, RawValue::Kind kind,
                              RawValue& value) {
  value.kind = kind;
  const char* at = nullptr;
  if (kind == RawValue::Kind::scalar) {
    at = scalar_end(begin, end, value.decimal);
  } else {
    value.decimal.before = 0;
    at = kind == RawValue::Kind::text ? text_end(begin, end) : container_end(begin, end);
  }
  value.raw = {begin, at != nullptr ? std::size_t(at - begin) : 0};
  return at;
}

// The keys of an event that mean something to the format. All others are kept with the arguments.
enum class EventKey : std::uint8_t {
  phase,
  name,
  category,
  time,
  duration,
  process,
  thread,
  arguments,
  id,
  id2,
  scope,
  binding,
  other,
};

// Sets of keys.
constexpr std::uint32_t bit_of(EventKey key) { return 1u << unsigned(key); }

// "bp" is often misspelt "pb".
inline EventKey event_key(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return EventKey::phase;
      if (key == "ts") return EventKey::time;
      if (key == "id") return EventKey::id;
      if (key == "bp" || key == "pb") return EventKey::binding;
      break;
    case 3:
      if (key == "cat") return EventKey::category;
      if (key == "dur") return EventKey::duration;
      if (key == "pid") return EventKey::process;
      if (key == "tid") return EventKey::thread;
      if (key == "id2") return EventKey::id2;
      break;
    case 4:
      if (key == "name") return EventKey::name;
      if (key == "args") return EventKey::arguments;
      break;
    case 5:
      if (key == "scope") return EventKey::scope;
      break;
    default: break;
  }
  return EventKey::other;
}

class EventForm {
 public:
  static constexpr std::size_t max_values = 48;

  // Of an event that the general way has read. Nothing when it is of no use: an event without a
  // plain phase, with a key twice, with "id2", or with more values.
  static std::optional<EventForm> of(std::string_view text, RawStrings& strings);

  // What the meaning and the kind of a value make of it, so that one jump leads to its reader.
  enum class Way : std::uint8_t { raw, time, duration, process, thread, number, text, typed };
  static Way way_of(EventKey meaning, RawValue::Kind kind);

  struct Value {
    EventKey meaning = EventKey::other;
    RawValue::Kind kind = RawValue::Kind::missing;
    Way way = Way::raw;
    ArgumentKey key;              // of an argument, with its last type, and of what has no meaning
    std::uint32_t text_size = 0;  // of the text before it

    // Of some the last one is kept, with the byte behind it: the same bytes are the same value.
    std::uint32_t last_size = 0;
    bool is_steady = false;  // the last two were the same
    const char* last = nullptr;
    TypedValue typed;

    bool repeats(const char* at, const char* end) const {
      return is_steady && std::size_t(end - at) > last_size && same_text(at, last, last_size + 1);
    }
    void keep(std::string_view raw, TypedValue now) {
      is_steady = last != nullptr && now == typed;
      last = raw.data();
      last_size = std::uint32_t(raw.size());
      typed = now;
    }
  };
  const std::vector<Value>& values() const { return values_; }
  std::uint32_t seen() const { return seen_; }  // a bit for each key
  char phase() const { return phase_; }

  // Where the event ends that begins at `at` and has this form; null when it has another. For each
  // value `take(value, at)` says where it ends, or null. Nothing is read behind `end` but a few
  // bytes that must be readable.
  template <class Take>
  const char* walk(const char* at, const char* end, Take&& take);
  // The same where the values do not matter.
  const char* walk(const char* at, const char* end);

  // The shape of the arguments; none: not known yet.
  std::optional<std::uint32_t> shape = {};
  std::size_t next = 0;  // the form of the event behind the last of this one

 private:
  friend class FormLearner;

  std::string text_;  // without the values, padded
  std::uint32_t last_text_size_ = 0;
  std::vector<Value> values_;
  std::uint32_t seen_ = 0;
  char phase_ = 0;
};

template <class Take>
inline const char* EventForm::walk(const char* at, const char* end, Take&& take) {
  const char* text = text_.data();
  const auto take_text = [&](std::size_t size) {
    if (std::size_t(end - at) < size || !same_text(at, text, size)) return false;
    at += size;
    text += size;
    return true;
  };
  for (Value& value : values_) {
    if (!take_text(value.text_size)) return nullptr;
    at = take(value, at);
    if (at == nullptr) return nullptr;
  }
  return take_text(last_text_size_) ? at : nullptr;
}

inline const char* EventForm::walk(const char* at, const char* end) {
  return walk(at, end, [end](const Value& value, const char* from) {
    RawValue ignored;
    return take_value(from, end, value.kind, ignored);
  });
}

}  // namespace npuscope::chrome
