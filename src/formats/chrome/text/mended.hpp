// What writers of traces get wrong without a doubt of what they meant: control characters in
// strings as they are, and a comma before a closing bracket.
//
//   mended("{\"name\":\"a\nb\",\"args\":[1,]}")  // {"name":"a\u000ab","args":[1]}
#pragma once

#include <string>
#include <string_view>

namespace npuscope::chrome {

// Of a value that a lenient JsonChecker passes. Escapes that JSON does not know stay.
std::string mended(std::string_view value);

}  // namespace npuscope::chrome
