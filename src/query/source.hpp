// A profile as its tables see it: with what is derived from it only when a query asks.
#pragma once

#include <optional>
#include <vector>

#include "npuscope/analysis/units.hpp"
#include "npuscope/profile/schema_table.hpp"

namespace npuscope::query {

class Source : public schema::Source {
 public:
  explicit Source(const Profile& with);

  // Less what is nested inside (analysis/timeline.hpp).
  const std::vector<std::int64_t>& own_durations() const;
  const analysis::UnitTable& unit_times() const;

  // 0 … 3: the spans' DDR bytes read and written, VTCM bytes read and written; null where the
  // profile has none.
  const MeasureColumn* traffic(std::size_t which) const { return traffic_[which]; }

 private:
  const MeasureColumn* traffic_[4] = {};
  mutable std::optional<std::vector<std::int64_t>> own_;
  mutable std::optional<analysis::UnitTable> unit_times_;
};

}  // namespace npuscope::query
