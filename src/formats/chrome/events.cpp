#include "formats/chrome/events.hpp"

namespace npuscope::chrome {

std::string_view Events::field(std::string_view name) const {
  for (const auto& [key, json] : fields) {
    if (key == name) return json;
  }
  return {};
}

}  // namespace npuscope::chrome
