// The part of ChunkParser for events that are printed as others before them.
#include <algorithm>

#include "formats/chrome/parse/chunk_parser.hpp"
#include "formats/chrome/text/bracket_scanner.hpp"
#include "formats/chrome/text/separators.hpp"

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

char* ChunkParser::parse_formed(char* at, char* end, ChunkTable& table) {
  if (forms_.empty()) return nullptr;
  const std::size_t expected = forms_[last_form_].next;
  std::size_t index = expected;
  const char* behind = forms_[expected].match(at, end, formed_values_.data());
  for (std::size_t i = 0; behind == nullptr && i < forms_.size(); ++i) {
    index = i;
    if (i != expected) behind = forms_[i].match(at, end, formed_values_.data());
  }
  if (behind == nullptr) return nullptr;
  forms_[last_form_].next = index;
  last_form_ = index;
  EventForm& form = forms_[index];
  if (!take_values(form) || !store_event(table)) return nullptr;
  form.shape = arguments_.shape_of_read();
  return at + (behind - at);
}

bool ChunkParser::take_values(EventForm& form) {
  event_.seen = form.seen();
  event_.duplicate = false;
  event_.phase = form.phase();
  event_.name = event_.category = StringId::empty;
  event_.id_is_local = false;
  event_.others.clear();
  arguments_.begin_formed(form.shape);
  std::size_t place = 0;
  const RawValue* values = formed_values_.data();
  for (const EventForm::Value& value : form.values()) {
    const RawValue& raw = *values++;
    if (value.meaning == EventKey::arguments) {
      if (!arguments_.add_formed(raw, form.argument_keys[place++], form.shape)) return false;
    } else if (value.meaning == EventKey::other) {
      TypedValue typed;
      if (!values_.type(raw, typed)) return false;
      event_.others.emplace_back(value.key, typed);
    } else if (!take_member(value.meaning, raw)) {
      return false;
    }
  }
  return true;
}

// Unless it is known.
void ChunkParser::learn_form(const char* event, const char* end) {
  if (forms_.size() >= max_forms) return;
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    if (forms_[i].match(event, end, formed_values_.data()) == nullptr) continue;
    forms_[last_form_].next = i;
    last_form_ = i;
    return;
  }
  auto form = EventForm::of({event, std::size_t(end - event)}, strings_);
  if (!form) return;
  for (const EventForm::Value& value : form->values()) {
    if (value.meaning == EventKey::arguments) {
      form->argument_keys.push_back({value.key, ArgumentType::null});
    }
  }
  forms_.push_back(std::move(*form));
  forms_[last_form_].next = forms_.size() - 1;
  last_form_ = forms_.size() - 1;
}

}  // namespace npuscope::chrome
