// The inside of a JSON string as the text it stands for.
#pragma once

#include <string>
#include <string_view>

namespace npuscope::chrome {

// Appends the text in UTF-8. False when a half of a surrogate pair or a broken escape had to be
// replaced by U+FFFD.
bool unescape(std::string_view raw, std::string& out);

}  // namespace npuscope::chrome
