// Kernel names as the vendor's tools write them: those of elementwise kernels end with a blank.
// npuscope keeps names without it.
#pragma once

#include <string_view>

namespace npuscope::qaic {

constexpr std::string_view without_trailing_blanks(std::string_view name) {
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

// Names that begin with "element" or end with "splat", in every summary known.
constexpr bool ends_with_blank(std::string_view name) {
  return name.starts_with("element") || name.ends_with("splat");
}

}  // namespace npuscope::qaic
