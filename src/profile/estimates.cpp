#include "profile/estimates.hpp"

#include <algorithm>
#include <iterator>

namespace npuscope {

bool times_are_estimates(const Provenance& provenance) {
  constexpr std::string_view formats[] = {"Torq compile-time timeline", "Torq debug information",
                                          "OpenVINO compile-time schedule"};
  return std::find(std::begin(formats), std::end(formats), provenance.format) != std::end(formats);
}

}  // namespace npuscope
