#include "base/has_text.hpp"

#include <cstring>

namespace npuscope {

// As find() goes while the first letter is rare: it stops at each one, of which the head of a file
// of JSON has thousands. memmem, for those, looks at every byte.
bool has_text(std::string_view text, std::string_view part) {
  if (part.empty()) return true;
  constexpr std::size_t bytes_a_stop = 64, free_stops = 4;
  std::size_t at = 0;
  for (std::size_t stops = 0; stops < free_stops + at / bytes_a_stop; ++stops, ++at) {
    at = text.find(part.front(), at);
    if (at == text.npos || text.size() - at < part.size()) return false;
    if (std::memcmp(text.data() + at, part.data(), part.size()) == 0) return true;
  }
  return ::memmem(text.data() + at, text.size() - at, part.data(), part.size()) != nullptr;
}

}  // namespace npuscope
