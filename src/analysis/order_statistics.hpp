// The k-th smallest of values and the one after it. Medians and quartiles of hundreds of samples
// are asked for by the ten thousand: instead of partitioning, which is hundreds of branches that
// nobody can foresee, this counts how many values lie in each of many stretches, and looks closer
// at one.
//
//   std::vector<double> samples{5, 1, 4};
//   smallest_at(samples, 1)                     // {4, 5}
//
// Values must be finite; they are gone afterwards.
#pragma once

#include <cstddef>
#include <span>

namespace npuscope::analysis {

struct Neighbours {
  double at = 0;    // place k of the sorted values
  double next = 0;  // place k + 1; `at` where that is the last
};

// k < values.size()
Neighbours smallest_at(std::span<double> values, std::size_t k);

}  // namespace npuscope::analysis
