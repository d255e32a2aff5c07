#include "formats/chrome/parse/event_form.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::size_t step_bytes = 16;
static_assert(TextBuffer::slack > 2 * step_bytes);

// Of a text in JSON these end it or need a look: quotes, backslashes, control characters, and what
// is not ASCII.
bool is_special(char byte) {
  return byte == '"' || byte == '\\' || std::uint8_t(byte) < 0x20 || std::uint8_t(byte) >= 0x80;
}

#ifdef __SSE2__
__m128i step_at(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

const char* next_special(const char* at, const char* end) {
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

// `form` is padded by a step.
bool same_text(const char* at, const char* form, std::size_t size) {
  for (; size > step_bytes; size -= step_bytes, at += step_bytes, form += step_bytes) {
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(at), step_at(form))) != 0xffff) return false;
  }
  const auto equal = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(at), step_at(form))));
  return (~equal & ((1u << size) - 1)) == 0;
}
#else
const char* next_special(const char* at, const char* end) {
  while (at < end && !is_special(*at)) ++at;
  return at;
}

bool same_text(const char* at, const char* form, std::size_t size) {
  return std::memcmp(at, form, size) == 0;
}
#endif

// The quote that ends a text which has something to look at, the first of it at `at`; null where it
// is broken.
const char* end_of_unusual(const char* begin, const char* at, const char* end) {
  bool is_ascii = true;
  for (; at != end; at = next_special(at, end)) {
    if (*at == '"') {
      return is_ascii || simdjson::validate_utf8(begin, std::size_t(at - begin)) ? at : nullptr;
    }
    if (*at == '\\') {
      if (end - at < 2 || std::uint8_t(at[1]) < 0x20 || std::uint8_t(at[1]) >= 0x80) return nullptr;
      at += 2;
    } else if (std::uint8_t(*at) < 0x20) {
      return nullptr;
    } else {
      is_ascii = false;
      ++at;
    }
  }
  return nullptr;
}

// The quote that ends a text; null where it is broken.
const char* text_end(const char* begin, const char* end) {
  const char* const at = next_special(begin, end);
  return at != end && *at == '"' ? at : end_of_unusual(begin, at, end);
}

constexpr auto scalar_bytes = [] {
  std::array<bool, 256> is{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    is[byte] = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
               (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
  }
  return is;
}();

// Null where none begins at `begin`.
const char* scalar_end(const char* begin, const char* end, Decimal& decimal) {
  const char* at = take_decimal(begin, decimal);
  if (at != nullptr && at <= end && !scalar_bytes[std::uint8_t(*at)]) return at;
  decimal = {};
  at = begin;
  while (at < end && scalar_bytes[std::uint8_t(*at)]) ++at;
  return at != begin ? at : nullptr;
}

// Behind the bracket that closes the one at `at`. Only plain ones: what lies in them is looked at
// when it is new.
const char* container_end(const char* at, const char* end) {
  constexpr int deepest = 64;
  int depth = 0;
  if (at == end || (*at != '{' && *at != '[')) return nullptr;
  while (at < end) {
    switch (*at) {
      case '"': {
        at = next_special(at + 1, end);
        if (at == end || *at != '"') return nullptr;
        break;
      }
      case '{':
      case '[':
        if (++depth > deepest) return nullptr;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        if (is_special(*at) && *at != '\n' && *at != '\r' && *at != '\t') return nullptr;
        break;
    }
    ++at;
  }
  return nullptr;
}

// Where a value of this kind ends that begins at `begin`; null where there is none. Of a text, the
// quote before it is text of the form.
const char* take_value(const char* begin, const char* end, RawValue::Kind kind, RawValue& value) {
  value.kind = kind;
  value.decimal.before = 0;
  const char* const at = kind == RawValue::Kind::scalar ? scalar_end(begin, end, value.decimal)
                         : kind == RawValue::Kind::text ? text_end(begin, end)
                                                        : container_end(begin, end);
  if (at != nullptr) value.raw = {begin, std::size_t(at - begin)};
  return at;
}

}  // namespace

// Walks through an event that is sound.
class FormLearner {
 public:
  FormLearner(std::string_view text, RawStrings& strings)
      : at_(text.data()), end_(text.data() + text.size()), strings_(strings) {}

  std::optional<EventForm> learn() {
    before_ = at_;
    if (!object(false) || form_.phase_ == 0) return std::nullopt;
    add_text(at_);
    form_.text_size_ = std::uint32_t(form_.text_.size());
    form_.text_.append(step_bytes, '\0');
    return std::move(form_);
  }

 private:
  void skip_space() {
    while (at_ < end_ && is_json_space(*at_)) ++at_;
  }
  bool take(char byte) {
    skip_space();
    if (at_ >= end_ || *at_ != byte) return false;
    ++at_;
    return true;
  }

  bool object(bool in_arguments) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      if (!take('"')) return false;
      const char* const key = at_;
      at_ = next_special(at_, end_);
      if (at_ == end_ || *at_ != '"') return false;
      const std::string_view name(key, std::size_t(at_++ - key));
      if (!take(':')) return false;
      skip_space();
      if (!(in_arguments ? argument(name) : member(name))) return false;
    } while (take(','));
    return take('}');
  }

  bool argument(std::string_view name) {
    const StringId key = strings_.intern(name, RawStrings::Kind::text).id;
    const bool is_twice = std::ranges::any_of(form_.values_, [&](const EventForm::Value& value) {
      return value.meaning == EventKey::arguments && value.key == key;
    });
    return !is_twice && value({EventKey::arguments, {}, key, 0});
  }

  bool member(std::string_view name) {
    const EventKey meaning = event_key(name);
    const std::uint32_t bit = bit_of(meaning);
    if (meaning == EventKey::id2) return false;
    if ((form_.seen_ & bit) != 0 && meaning != EventKey::other) return false;
    form_.seen_ |= bit;
    if (meaning == EventKey::phase) return phase();
    if (meaning == EventKey::arguments) return object(true);
    StringId key{};
    if (meaning == EventKey::other) key = strings_.intern(name, RawStrings::Kind::text).id;
    return value({meaning, {}, key, 0});
  }

  // A letter, which is text of the form.
  bool phase() {
    if (end_ - at_ < 3 || at_[0] != '"' || is_special(at_[1]) || at_[2] != '"') return false;
    form_.phase_ = at_[1];
    at_ += 3;
    return true;
  }

  bool value(EventForm::Value value) {
    if (at_ >= end_ || form_.values_.size() == EventForm::max_values) return false;
    if (*at_ == '"') {
      ++at_;
      value.kind = RawValue::Kind::text;
    } else {
      value.kind = *at_ == '{' || *at_ == '[' ? RawValue::Kind::container : RawValue::Kind::scalar;
    }
    add_text(at_);
    value.text_end = std::uint32_t(form_.text_.size());
    form_.values_.push_back(value);
    RawValue ignored;
    at_ = take_value(at_, end_, value.kind, ignored);
    if (at_ == nullptr) return false;
    before_ = at_;
    if (value.kind == RawValue::Kind::text) ++at_;
    return true;
  }

  void add_text(const char* to) { form_.text_.append(before_, std::size_t(to - before_)); }

  const char* at_;
  const char* end_;
  const char* before_ = nullptr;  // where the text since the last value begins
  RawStrings& strings_;
  EventForm form_;
};

std::optional<EventForm> EventForm::of(std::string_view text, RawStrings& strings) {
  return FormLearner(text, strings).learn();
}

const char* EventForm::match(const char* at, const char* end, RawValue* values) const {
  const char* form = text_.data();
  for (const Value& value : values_) {
    const char* const form_end = text_.data() + value.text_end;
    const auto size = std::size_t(form_end - form);
    if (std::size_t(end - at) < size || !same_text(at, form, size)) return nullptr;
    at += size;
    form = form_end;
    at = take_value(at, end, value.kind, *values++);
    if (at == nullptr) return nullptr;
  }
  const auto size = std::size_t(text_.data() + text_size_ - form);
  if (std::size_t(end - at) < size || !same_text(at, form, size)) return nullptr;
  return at + size;
}

}  // namespace npuscope::chrome
