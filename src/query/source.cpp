#include "query/source.hpp"

namespace npuscope::query {

Source::Source(const Profile& with) : schema::Source(with), analysis_(with) {
  const char* names[] = {"ddr read bytes", "ddr write bytes", "vtcm read bytes",
                         "vtcm write bytes"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto id = profile.strings.find(names[i]);
    if (id) traffic_[i] = profile.spans.measure(*id);
  }
}

}  // namespace npuscope::query
