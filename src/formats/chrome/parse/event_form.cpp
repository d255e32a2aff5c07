#include "formats/chrome/parse/event_form.hpp"

#include <simdjson.h>

#include <algorithm>

#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {

const char* end_of_unusual_text(const char* begin, const char* at, const char* end) {
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

// Walks through an event that is sound.
class FormLearner {
 public:
  FormLearner(std::string_view text, RawStrings& strings)
      : at_(text.data()), end_(text.data() + text.size()), strings_(strings) {}

  std::optional<EventForm> learn() {
    before_ = at_;
    if (!object(false) || form_.phase_ == 0) return std::nullopt;
    form_.last_text_size_ = add_text(at_);
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
      return value.meaning == EventKey::arguments && value.key.name == key;
    });
    return !is_twice && value(EventKey::arguments, key);
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
    return value(meaning, key);
  }

  // A letter, which is text of the form.
  bool phase() {
    if (end_ - at_ < 3 || at_[0] != '"' || is_special(at_[1]) || at_[2] != '"') return false;
    form_.phase_ = at_[1];
    at_ += 3;
    return true;
  }

  bool value(EventKey meaning, StringId key) {
    EventForm::Value value;
    value.meaning = meaning;
    value.key.name = key;
    if (at_ >= end_ || form_.values_.size() == EventForm::max_values) return false;
    if (*at_ == '"') {
      ++at_;
      value.kind = RawValue::Kind::text;
    } else {
      value.kind = *at_ == '{' || *at_ == '[' ? RawValue::Kind::container : RawValue::Kind::scalar;
    }
    value.way = EventForm::way_of(meaning, value.kind);
    value.text_size = add_text(at_);
    form_.values_.push_back(value);
    RawValue ignored;
    at_ = take_value(at_, end_, value.kind, ignored);
    if (at_ == nullptr) return false;
    before_ = at_;
    if (value.kind == RawValue::Kind::text) ++at_;
    return true;
  }

  std::uint32_t add_text(const char* to) {
    form_.text_.append(before_, std::size_t(to - before_));
    return std::uint32_t(to - before_);
  }

  const char* at_;
  const char* end_;
  const char* before_ = nullptr;  // where the text since the last value begins
  RawStrings& strings_;
  EventForm form_;
};

EventForm::Way EventForm::way_of(EventKey meaning, RawValue::Kind kind) {
  const bool is_scalar = kind == RawValue::Kind::scalar;
  switch (meaning) {
    case EventKey::name:
    case EventKey::category: return kind == RawValue::Kind::text ? Way::text : Way::typed;
    case EventKey::arguments:
    case EventKey::other:
      return is_scalar ? Way::number : kind == RawValue::Kind::text ? Way::text : Way::typed;
    case EventKey::time: return is_scalar ? Way::time : Way::raw;
    case EventKey::duration: return is_scalar ? Way::duration : Way::raw;
    case EventKey::process: return is_scalar ? Way::process : Way::raw;
    case EventKey::thread: return is_scalar ? Way::thread : Way::raw;
    default: return Way::raw;
  }
}

std::optional<EventForm> EventForm::of(std::string_view text, RawStrings& strings) {
  return FormLearner(text, strings).learn();
}

}  // namespace npuscope::chrome
