#include "analysis/memory/ddr_use.hpp"

#include <algorithm>

namespace npuscope::analysis {

DdrUse::DdrUse(const BandwidthSeries& series)
    : timeline_(series.timeline), width_(std::max<double>(1, double(series.width))) {
  until_.assign(series.buckets() + 1, 0);
  for (const Route route : {Route::ddr_read, Route::ddr_write}) {
    const std::vector<std::int64_t>& bytes = series.bytes[std::size_t(route)];
    for (std::size_t i = 0; i < bytes.size(); ++i) until_[i + 1] += double(bytes[i]);
  }
  for (std::size_t i = 1; i < until_.size(); ++i) until_[i] += until_[i - 1];
}

double DdrUse::until(std::int64_t time) const {
  const std::int64_t after = length_of({timeline_.begin, std::min(time, timeline_.end)});
  const double place = double(after) / width_;
  const auto bucket = std::min(std::size_t(place), until_.size() - 1);
  const auto next = std::min(bucket + 1, until_.size() - 1);
  return until_[bucket] + (until_[next] - until_[bucket]) * (place - double(bucket));
}

}  // namespace npuscope::analysis
