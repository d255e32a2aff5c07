// A profile as its tables see it: with what is derived from it only when a query asks.
#pragma once

#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "profile/schema_table.hpp"

namespace npuscope::query {

class Source : public schema::Source {
 public:
  explicit Source(const Profile& with);

  // Asked for row by row, so that the analysis is not.
  const Column<std::int64_t>& self_times() const {
    if (self_times_ == nullptr) self_times_ = &analysis_.self_times();
    return *self_times_;
  }
  const std::vector<analysis::UnitRow>& unit_times() const { return analysis_.units().units; }

  // The spans' bytes of one of Traffic::routes; null where the profile has none.
  const MeasureColumn* traffic(analysis::Route route) const { return traffic_[std::size_t(route)]; }

 private:
  analysis::Analysis analysis_;
  const MeasureColumn* traffic_[std::size(analysis::Traffic::routes)] = {};
  mutable const Column<std::int64_t>* self_times_ = nullptr;
};

}  // namespace npuscope::query
