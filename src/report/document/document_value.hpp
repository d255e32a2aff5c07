// A value of a document as text.
#pragma once

#include <string>
#include <vector>

#include "report/document/document.hpp"

namespace npuscope::report {

// Empty for what is not known; `profile` may be null, then ticks are plain numbers.
std::string value_text(const Profile* profile, const Field& field, const Value& value);

// Texts and lists stand to the left in their column.
bool stands_left(const Field& field);

// Whether text says "none" where the section's table would stand: it has columns, but no rows,
// and no facts above say why.
bool shows_none(const Section& section);

// Broken at blanks into lines of at most `width` columns; a longer word is shortened.
std::vector<std::string> wrapped(std::string text, std::size_t width);

}  // namespace npuscope::report
