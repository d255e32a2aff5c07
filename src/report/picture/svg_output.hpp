// Pieces of SVG.
#pragma once

#include <string>
#include <string_view>

namespace npuscope::report {

// Text as the content of an element or the value of an attribute. XML takes no control characters:
// they are shown as \x1b.
std::string svg_escaped(std::string_view text);

// At most two decimals, none that are not needed: "12.5".
std::string svg_number(double value);

}  // namespace npuscope::report
