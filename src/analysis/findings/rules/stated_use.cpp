#include "analysis/findings/rules/stated_use.hpp"
#include "analysis/units/unit_numbers.hpp"

#include <algorithm>

namespace npuscope::analysis {

std::optional<StatedUse> stated_use(FindingContext& context, Engine engine) {
  const Profile& profile = context.profile();
  const UnitNumbers& numbers = context.analysis().unit_numbers();
  std::optional<StatedUse> max;
  for (std::size_t row = 0; row < numbers.row_count(); ++row) {
    for (const UnitNumber& number : numbers.row(row)) {
      const Meaning& is = numbers.columns[number.column].meaning;
      if (is.role != NumberRole::utilization) continue;
      const std::size_t unit = index_of(number.unit);
      if (unit >= profile.units.size() || profile.units[unit].engine != engine) continue;
      if (max && max->share >= number.value / 100) continue;
      max = StatedUse{number.value / 100, path_of(profile, number.unit)};
    }
  }
  return max;
}

std::optional<double> transfers_of_cores_time(FindingContext& context) {
  const Profile& profile = context.profile();
  const auto cores = std::count_if(profile.units.begin(), profile.units.end(),
                                   [](const Unit& unit) { return unit.engine == Engine::core; });
  const OpTable& kinds = context.kinds();
  if (cores == 0 || kinds.columns.empty() || !(context.wall() > 0)) return std::nullopt;
  const OpColumn& column = kinds.columns[kinds.ranked_by];
  if (column.clock != profile.base_clock || column.kind != MeasureKind::work) return std::nullopt;
  double transfers = 0;
  for (const OpRow& row : kinds.rows) {
    const bool is_copy = row.name.starts_with("aiccopy");
    if (!is_copy || row.name.starts_with("aiccopysamevtcm")) continue;
    transfers += row.values[kinds.ranked_by].value_or(0);
  }
  return transfers / (double(cores) * context.wall());
}

}  // namespace npuscope::analysis
