#include "profile/counted_notes.hpp"

#include <algorithm>

namespace npuscope {

void CountedNotes::add(Severity severity, std::uint64_t offset, std::string_view message,
                       std::uint64_t count) {
  const auto known = std::find_if(notes_.begin(), notes_.end(), [&](const Note& note) {
    return note.severity == severity && note.message == message;
  });
  if (known != notes_.end()) {
    known->count += count;
    known->offset = std::min(known->offset, offset);
    return;
  }
  // A bound for files that manage to be wrong in ever new ways.
  constexpr std::size_t max_messages = 200;
  constexpr std::string_view rest = "more kinds of losses than are listed";
  if (notes_.size() == max_messages && message != rest) {
    add(Severity::warning, offset, rest, count);
    return;
  }
  notes_.push_back({severity, file_, offset, std::string(message), count});
}

void CountedNotes::append_to(std::vector<Note>& notes) const {
  notes.insert(notes.end(), notes_.begin(), notes_.end());
}

}  // namespace npuscope
