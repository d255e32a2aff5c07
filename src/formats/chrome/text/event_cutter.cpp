#include "formats/chrome/text/event_cutter.hpp"

#include <algorithm>
#include <utility>

#include "formats/chrome/problems.hpp"
#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/text/damaged_text.hpp"
#include "formats/chrome/text/json_checker.hpp"

namespace npuscope::chrome {

bool EventCutter::next(Chunk& chunk) {
  for (;;) {
    switch (place_) {
      case Place::before: begin_trace(); break;
      case Place::between_members: read_member(); break;
      case Place::in_list:
        if (cut_list(chunk)) return true;
        break;
      case Place::in_long_event: continue_long_event(); break;
      case Place::lost: look_for_event(); break;
      case Place::behind: look_behind(); break;
      case Place::at_end: return false;
    }
  }
}

void EventCutter::begin_trace() {
  window_.fill_to(chunk_bytes);
  if (window_.text().starts_with("\xef\xbb\xbf")) window_.drop(3);  // a byte order mark
  const auto first = peek_behind_space();
  if (first == '[') {
    enter_list();
  } else if (first == '{') {
    window_.drop(1);
    is_object_ = true;
    place_ = Place::between_members;
  } else {
    if (first) problems_.add(Problem::broken_event, window_.offset());
    place_ = Place::at_end;
  }
}

// From its bracket.
void EventCutter::enter_list() {
  window_.drop(1);
  if (found_list_) problems_.add(Problem::several_traces, window_.offset());
  found_list_ = true;
  place_ = Place::in_list;
  restart_event();
}

// From its bracket.
void EventCutter::leave_list() {
  window_.drop(1);
  place_ = is_object_ ? Place::between_members : Place::behind;
}

void EventCutter::restart_event() {
  scanner_.restart();
  checker_.restart();
  scanned_ = checked_ = 0;
}

std::optional<char> EventCutter::peek_behind_space(bool commas_too) {
  auto byte = window_.peek();
  while (byte && (is_json_space(*byte) || (commas_too && *byte == ','))) {
    window_.drop(1);
    byte = window_.peek();
  }
  return byte;
}

// "key": value, or the end of the object.
void EventCutter::read_member() {
  const auto first = peek_behind_space(true);
  if (!first) {
    problems_.add(Problem::truncated, window_.offset());
    place_ = Place::at_end;
    return;
  }
  if (first == '}') {
    window_.drop(1);
    place_ = Place::behind;
    return;
  }
  std::string key;
  if (first != '"' || !read_key(key)) {
    // A key that ends with the file is only cut off.
    const bool cut_off = window_.at_end_of_file() && !peek_behind_space();
    problems_.add(cut_off ? Problem::truncated : Problem::text_between, window_.offset());
    resync_ = {};
    place_ = Place::lost;
    return;
  }
  if (key == "traceEvents" && peek_behind_space() == '[') {
    enter_list();
  } else {
    read_value(std::move(key));
  }
}

// With its colon; false when it is broken.
bool EventCutter::read_key(std::string& key) {
  window_.fill_to(longest_key_bytes);
  const std::string_view text = window_.text();
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) {
    if (window_.at_end_of_file()) window_.drop(text.size());
    return false;
  }
  unescape(text.substr(1, end - 1), key);
  window_.drop(end + 1);
  if (peek_behind_space() != ':') return false;
  window_.drop(1);
  return true;
}

void EventCutter::read_value(std::string key) {
  const std::uint64_t offset = window_.offset();
  std::string value;
  bool too_long = false;
  JsonChecker checker(true);
  while (checker.state() == JsonChecker::State::incomplete && window_.peek()) {
    const std::size_t taken = checker.take(window_.text());
    too_long = too_long || value.size() + taken > longest_field_bytes;
    if (!too_long) value += window_.text().substr(0, taken);
    window_.drop(taken);
  }
  if (checker.state() == JsonChecker::State::broken) {
    problems_.add(Problem::text_between, offset);
    resync_ = {};
    place_ = Place::lost;
  } else if (checker.state() == JsonChecker::State::incomplete) {
    problems_.add(Problem::truncated, offset);
    place_ = Place::at_end;
  } else if (too_long) {
    problems_.add(Problem::long_field, offset);
  } else {
    while (!value.empty() && is_json_space(value.front())) value.erase(0, 1);
    std::string sound = mended(value);
    if (sound != value) problems_.add(Problem::mended, offset);
    fields_.emplace_back(std::move(key), std::move(sound));
  }
}

void EventCutter::drop_separators() {
  const std::size_t separators = count_separators(window_.text());
  window_.drop(separators);
  scanned_ -= std::min(scanned_, separators);
}

bool EventCutter::cut_list(Chunk& chunk) {
  if (checked_ == 0) drop_separators();
  const std::size_t before = window_.text().size();
  window_.fill_to(checked_ == 0 ? chunk_bytes : std::max(chunk_bytes, 2 * before));
  // Those behind an event that ended with the window have only been read now.
  if (checked_ == 0 && before == 0) drop_separators();
  if (std::exchange(distrusted_, false)) return cut_carefully(chunk);
  BracketScanner::Found found = scanner_.scan(window_.text().substr(scanned_));
  if (found.last_event_end) *found.last_event_end += scanned_;
  if (found.list_end) *found.list_end += scanned_;
  scanned_ = found.list_end.value_or(window_.text().size());
  problems_.add(Problem::text_between, window_.offset(), found.stray_brackets);
  if (found.last_event_end || found.list_end) return cut_found(found, chunk);
  if (count_separators(window_.text()) < window_.text().size()) return resolve_unfinished(chunk);
  if (window_.at_end_of_file()) {
    // A list may lack its end (the format says so), an object may not.
    if (is_object_) problems_.add(Problem::truncated, window_.end_offset());
    place_ = Place::at_end;
  }
  return false;
}

bool EventCutter::cut_found(const BracketScanner::Found& found, Chunk& chunk) {
  const std::size_t events_end = found.last_event_end.value_or(0);
  if (events_end > 0) chunk = window_.cut(events_end);
  scanned_ -= events_end;
  checker_.restart();
  checked_ = 0;
  if (found.list_end) {
    const std::size_t behind = *found.list_end - events_end;
    if (count_separators(window_.text().substr(0, behind)) < behind) {
      distrusted_ = true;
      restart_event();
    } else {
      window_.drop(behind);
      leave_list();
    }
  }
  return events_end > 0;
}

// The window begins with something that is no event, or none as far as it goes.
bool EventCutter::resolve_unfinished(Chunk& chunk) {
  checked_ += checker_.take(window_.text().substr(checked_));
  if (window_.at_end_of_file()) checker_.finish();
  if (checker_.state() != JsonChecker::State::incomplete) return cut_carefully(chunk);
  if (skip_unclosed_event()) return false;
  if (window_.at_end_of_file()) {
    problems_.add(Problem::truncated, window_.offset());
    place_ = Place::at_end;
  } else if (window_.text().size() >= longest_event_bytes) {
    problems_.add(Problem::long_event, window_.offset());
    window_.drop(window_.text().size());
    place_ = Place::in_long_event;
  }
  return false;
}

// An event whose brackets do not close takes those behind it for its own, without breaking a rule.
// The keys of those give it away.
bool EventCutter::skip_unclosed_event() {
  constexpr std::string_view phase_key = "\"ph\"";
  const std::string_view text = window_.text();
  const std::size_t first = text.find(phase_key);
  if (first == std::string_view::npos || unclosed_events_ == max_unclosed_events) return false;
  if (text.find(phase_key, first + phase_key.size()) == std::string_view::npos) return false;
  Resync resync;
  const auto next = resync.look(text, 0, first);
  if (!next) return false;
  ++unclosed_events_;
  problems_.add(Problem::broken_event, window_.offset());
  window_.drop(std::size_t(*next));
  restart_event();
  return true;
}

bool EventCutter::cut_carefully(Chunk& chunk) {
  CarefulSplit split = split_carefully(window_.text());
  std::size_t events_end = split.end;
  std::size_t dropped = 0;
  if (split.lost) {
    events_end = split.pieces.back().begin;
    dropped = std::size_t(split.resync.step_back(window_.text().size())) - events_end;
    problems_.add(Problem::broken_event, window_.offset() + events_end);
    resync_ = split.resync;
    place_ = Place::lost;
  }
  if (events_end > 0) {
    chunk = window_.cut(events_end);
    chunk.damaged = true;
  }
  restart_event();
  window_.drop(dropped);
  if (split.list_end) leave_list();
  return events_end > 0;
}

void EventCutter::continue_long_event() {
  if (!window_.peek()) {
    problems_.add(Problem::truncated, window_.offset());
    place_ = Place::at_end;
    return;
  }
  window_.drop(checker_.take(window_.text()));
  if (checker_.state() == JsonChecker::State::incomplete) return;
  resync_ = {};
  place_ = checker_.state() == JsonChecker::State::complete ? Place::in_list : Place::lost;
  restart_event();
}

void EventCutter::look_for_event() {
  window_.fill_to(chunk_bytes);
  const std::string_view text = window_.text();
  const std::uint64_t offset = window_.offset();
  if (const auto found = resync_.look(text, offset, 0)) {
    window_.drop(std::size_t(*found - offset));
    found_list_ = true;
    place_ = Place::in_list;
    restart_event();
    return;
  }
  if (window_.at_end_of_file()) place_ = Place::at_end;
  window_.drop(std::size_t(resync_.step_back(window_.end_offset()) - offset));
}

void EventCutter::look_behind() {
  auto byte = peek_behind_space();
  while (byte == '\0') {  // padding
    window_.drop(1);
    byte = peek_behind_space();
  }
  if (!byte) {
    place_ = Place::at_end;
  } else if (byte == '[') {
    is_object_ = false;
    enter_list();
  } else if (byte == '{' && is_object_) {
    window_.drop(1);
    place_ = Place::between_members;
  } else if (byte == '{' || byte == ',') {
    // A damaged event ended the list too early.
    problems_.add(Problem::text_between, window_.offset());
    place_ = Place::in_list;
    restart_event();
  } else {
    problems_.add(Problem::text_behind, window_.offset());
    resync_ = {};
    place_ = Place::lost;
  }
}

}  // namespace npuscope::chrome
