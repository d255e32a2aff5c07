#include "query/table.hpp"

namespace npuscope::query {

Source::Source(const Profile& with) : schema::Source(with), analysis_(with) {
  for (const MeasureColumn& column : with.spans.measures) {
    const auto route = analysis::memory_route_of(column.meaning.role);
    if (route && traffic(*route) == nullptr) traffic_[std::size_t(*route)] = &column;
  }
}

}  // namespace npuscope::query
