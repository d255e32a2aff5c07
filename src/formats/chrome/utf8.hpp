// Text that claims to be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace npuscope::chrome {

// Appends the text; what is not UTF-8 becomes U+FFFD.
void append_valid_utf8(std::string_view text, std::string& out);

}  // namespace npuscope::chrome
