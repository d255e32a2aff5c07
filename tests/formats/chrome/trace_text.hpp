// Reading traces from text in tests, and showing what was read as text.
#pragma once

#include <string>
#include <string_view>

#include "formats/chrome/events.hpp"

namespace npuscope::chrome::test_support {

// Ends the test program when it cannot be read.
Events read_text(std::string_view json);
Result<Events> try_read(std::string_view json);

// "process/thread name [category] start +duration {key: value, ...}", a line for each slice.
std::string slices_text(const Events& events);
// "phase process/thread name [category] @time #id binding {key: value, ...}", a line for each mark.
std::string marks_text(const Events& events);
// "process/thread: process name, thread name", a line for each thread.
std::string threads_text(const Events& events);
// "count message @offset", a line for each note.
std::string notes_text(const std::vector<Note>& notes);
std::string arguments_text(const StringPool& strings, const Arguments& arguments, std::size_t row);

}  // namespace npuscope::chrome::test_support
