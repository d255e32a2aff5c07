#include "profile/loss_counts.hpp"

#include <algorithm>
#include <vector>

namespace npuscope {

std::uint64_t hardware_units(const Profile& profile) {
  return std::uint64_t(
      std::count_if(profile.units.begin(), profile.units.end(), [](const Unit& unit) {
        return unit.engine != Engine::process && unit.engine != Engine::thread &&
               unit.engine != Engine::other && unit.engine != Engine::none;
      }));
}

std::uint64_t ops_without_span(const Profile& profile) {
  std::vector<bool> executed(profile.ops.size(), false);
  for (const OpId op : profile.spans.op) {
    if (index_of(op) < executed.size()) executed[index_of(op)] = true;
  }
  return std::uint64_t(std::count(executed.begin(), executed.end(), false));
}

std::uint64_t numbers_of_spans(const Profile& profile) {
  std::uint64_t numbers = 0;
  for (const MeasureColumn& column : profile.spans.measures) {
    const auto missing =
        std::count(column.values.begin(), column.values.end(), MeasureColumn::missing);
    numbers += column.values.size() - std::size_t(missing);
  }
  return numbers;
}

}  // namespace npuscope
