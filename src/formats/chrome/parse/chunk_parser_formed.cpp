// The part of ChunkParser for events that are printed as others before them.
#include <algorithm>

#include "formats/chrome/parse/chunk_parser.hpp"
#include "formats/chrome/text/bracket_scanner.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {
namespace {

// What no form fits is read in pieces of so many bytes, twice as many each time.
constexpr std::size_t first_piece_bytes = 1024;
constexpr std::size_t max_forms = 16;

char* behind_space(char* at, const char* end) {
  while (at < end && is_json_space(*at)) ++at;
  return at;
}

// Behind the last event that ends within `bytes`; further where there is none.
char* piece_end(char* begin, char* end, std::size_t bytes) {
  for (;; bytes *= 2) {
    if (bytes >= std::size_t(end - begin)) return end;
    BracketScanner scanner;
    const auto found = scanner.scan({begin, bytes});
    if (found.list_end || found.stray_brackets > 0) return end;
    if (found.last_event_end) return begin + *found.last_event_end;
  }
}

}  // namespace

std::optional<std::uint64_t> ChunkParser::parse_list(List to_parse, ChunkTable& table) {
  list_ = std::move(to_parse);
  char* const end = list_.begin + list_.size;
  char* at = behind_space(list_.begin, end);
  event_begin_ = at;
  std::size_t piece_bytes = first_piece_bytes;
  while (at != end) {
    event_begin_ = at;
    if (char* const behind = parse_formed(at, end, table)) {
      at = behind;
      piece_bytes = first_piece_bytes;
    } else {
      char* const piece = piece_end(at, end, piece_bytes);
      if (!parse_events(at, piece, table)) return list_.offset_of(event_begin_);
      at = piece;
      piece_bytes *= 2;
    }
    at = behind_space(at, end);
    if (at == end) break;
    if (*at != ',') return list_.offset_of(event_begin_);
    at = behind_space(at + 1, end);
    if (at == end) return list_.offset_of(event_begin_);
  }
  return std::nullopt;
}

inline char* ChunkParser::parse_formed(char* at, char* end, ChunkTable& table) {
  if (forms_.empty()) return nullptr;
  const std::size_t expected = forms_[last_form_].next;
  std::size_t index = expected;
  const char* behind = read_formed(expected, at, end);
  for (std::size_t i = 0; behind == nullptr && i < forms_.size(); ++i) {
    index = i;
    if (i != expected) behind = read_formed(i, at, end);
  }
  if (behind == nullptr) return nullptr;
  forms_[last_form_].next = index;
  last_form_ = index;
  if (!store_event(table)) return nullptr;
  forms_[index].shape = arguments_.shape_of_read();
  return at + (behind - at);
}

// What the form has is written; the rest is as it was after the last event of this form.
const char* ChunkParser::read_formed(std::size_t index, const char* at, const char* end) {
  EventForm& form = forms_[index];
  if (index != event_form_) {
    event_.clear();
    event_.seen = form.seen();
    event_.phase = form.phase();
    event_form_ = index;
  }
  event_.others.clear();
  arguments_.begin_formed(form.shape);
  return form.walk(at, end, [&](EventForm::Value& value, const char* from) {
    return take_formed(form, value, from, end);
  });
}

// Where the value ends; null when it is broken.
inline const char* ChunkParser::take_formed(EventForm& form, EventForm::Value& value,
                                            const char* at, const char* end) {
  using Way = EventForm::Way;
  switch (value.way) {
    case Way::raw: return read_any(value, at, end);
    case Way::time: return take_value(at, end, RawValue::Kind::scalar, event_.time);
    case Way::duration: return take_value(at, end, RawValue::Kind::scalar, event_.duration);
    case Way::process: return read_id(event_.process, at, end);
    case Way::thread: return read_id(event_.thread, at, end);
    default: break;
  }
  const char* behind = nullptr;
  if (value.repeats(at, end)) {
    behind = at + value.last_size;
  } else if (value.way == Way::number) {
    behind = read_number(value, at, end);
  } else {
    behind = value.way == Way::text ? read_text(value, at, end) : read_any(value, at, end);
  }
  if (behind == nullptr) return nullptr;
  switch (value.meaning) {
    case EventKey::arguments: arguments_.add_formed(value.typed, value.key, form.shape); break;
    case EventKey::name: event_.name = StringId(std::uint32_t(value.typed.bits)); break;
    case EventKey::category: event_.category = StringId(std::uint32_t(value.typed.bits)); break;
    default: event_.others.emplace_back(value.key.name, value.typed);
  }
  return behind;
}

// Of a process or a thread.
inline const char* ChunkParser::read_id(RawValue& id, const char* at, const char* end) {
  std::uint64_t integer = 0;
  const unsigned size = short_integer(at, integer);
  if (size == 0) return take_value(at, end, RawValue::Kind::scalar, id);
  id = {RawValue::Kind::scalar, {at, size}};
  return at + size;
}

inline const char* ChunkParser::read_number(EventForm::Value& value, const char* at,
                                            const char* end) {
  std::uint64_t integer = 0;
  const unsigned size = short_integer(at, integer);
  if (size == 0) [[unlikely]]
    return read_any(value, at, end);
  value.keep({at, size}, {ArgumentType::integer, integer});
  return at + size;
}

const char* ChunkParser::read_text(EventForm::Value& value, const char* at, const char* end) {
  if (value.meaning == EventKey::arguments && arguments_.takes_quoted_numbers()) {
    std::uint64_t integer = 0;
    const unsigned digits = short_integer(at, integer);
    if (digits == 0 || at[digits] != '"') return read_any(value, at, end);
    value.keep({at, digits}, {ArgumentType::integer, integer});
    return at + digits;
  }
  const char* const quote = text_end(at, end);
  if (quote == nullptr) return nullptr;
  const std::string_view raw(at, std::size_t(quote - at));
  const StringId text = strings_.intern(raw, RawStrings::Kind::text).id;
  value.keep(raw, {ArgumentType::text, std::uint64_t(text)});
  return quote;
}

const char* ChunkParser::read_any(EventForm::Value& value, const char* at, const char* end) {
  RawValue raw;
  const char* const behind = take_value(at, end, value.kind, raw);
  return behind != nullptr && take_raw(value, raw) ? behind : nullptr;
}

bool ChunkParser::take_raw(EventForm::Value& value, const RawValue& raw) {
  TypedValue typed;
  switch (value.meaning) {
    case EventKey::arguments:
      if (!arguments_.type(raw, typed)) return false;
      break;
    case EventKey::other:
      if (!values_.type(raw, typed)) return false;
      break;
    case EventKey::name:
    case EventKey::category: {
      const auto text = values_.text(raw);
      if (!text) return false;
      typed = {ArgumentType::text, std::uint64_t(*text)};
      break;
    }
    default: return take_member(value.meaning, raw);
  }
  value.keep(raw.raw, typed);
  return true;
}

// Unless it is known.
void ChunkParser::learn_form(const char* event, const char* end) {
  if (forms_.size() >= max_forms) return;
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    if (forms_[i].walk(event, end) == nullptr) continue;
    forms_[last_form_].next = i;
    last_form_ = i;
    return;
  }
  auto form = EventForm::of({event, std::size_t(end - event)}, strings_);
  if (!form) return;
  forms_.push_back(std::move(*form));
  forms_[last_form_].next = forms_.size() - 1;
  last_form_ = forms_.size() - 1;
}

}  // namespace npuscope::chrome
