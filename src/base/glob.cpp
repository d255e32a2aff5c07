#include "base/glob.hpp"

#include <fnmatch.h>

namespace npuscope {

bool matches_glob(const std::string& name, const std::string& pattern) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace npuscope
