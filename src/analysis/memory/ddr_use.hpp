// What the DDR moved in all until each moment, whoever moved it: a row of the table may find it
// busy with the bytes of others.
//
//   const DdrUse use(series);          // of find_bandwidth()
//   use.bytes_in({100, 200})           // 6,400, read and written
//
// Bytes of a bucket are spread evenly over it.
#pragma once

#include <vector>

#include "npuscope/analysis/bandwidth.hpp"

namespace npuscope::analysis {

class DdrUse {
 public:
  explicit DdrUse(const BandwidthSeries& series);

  double bytes_in(Interval interval) const { return until(interval.end) - until(interval.begin); }

 private:
  double until(std::int64_t time) const;

  Interval timeline_;
  double width_ = 1;
  std::vector<double> until_;  // the begin of each bucket, and the end of the last
};

}  // namespace npuscope::analysis
