// Names by the patterns of shells:
//
//   matches_glob("outer/net.bin", "*.bin")     // true: * is any text, ? a character, [a-z] one of
//   these
#pragma once

#include <string>

namespace npuscope {

bool matches_glob(const std::string& name, const std::string& pattern);

}  // namespace npuscope
