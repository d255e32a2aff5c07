#include "report/ops/op_column_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope::report {

std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column) {
  const auto same =
      std::count_if(table.columns.begin(), table.columns.end(),
                    [&](const analysis::OpColumn& other) { return other.name == column.name; });
  if (same < 2 || column.kind == MeasureKind::count ||
      index_of(column.clock) >= profile.clocks.size()) {
    return column.name;
  }
  return fmt::format("{}, {}", column.name,
                     profile.text(profile.clocks[index_of(column.clock)].name));
}

}  // namespace npuscope::report
