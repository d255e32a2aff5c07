// What samples say: their middle, their spread, and whether two sets of them differ.
//
//   median_of({3, 1, 2})                       // 2
//   percentile_of({1, 2, 3, 4}, 95)            // 3.85
//   const Contrast contrast = contrast_of(before, after);
//   contrast.relative                          // +0.021 … +0.039: 95 % of the resampled changes
//   rank_test(before, after)                   // 0.008: how rarely chance alone parts them so
//
// The order of samples never matters, the same samples always give the same numbers, and swapping
// the two sets mirrors them. Samples must be finite.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace npuscope::analysis {

// Zero without samples.
double median_of(std::vector<double> samples);

// Between the samples linearly (the definition that R calls type 7); `percent` from 0 to 100.
double percentile_of(std::vector<double> samples, double percent);

struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};

// How the median, or another percentile, changes from `a` to `b`, as 95 % intervals of the
// percentile bootstrap: of resample_count pairs of resamples, drawn with replacement by splitmix64
// from a fixed seed, the middle 95 %. None where a side has less than two samples; the relative one
// neither where a sample is not above zero.
struct Contrast {
  std::optional<Range> absolute;  // median of b less median of a
  std::optional<Range> relative;  // that divided by the median of a
};
inline constexpr std::size_t resample_count = 2'000;
Contrast contrast_of(std::vector<double> a, std::vector<double> b, double percent = 50);

// Whether zero lies in contrast_of(a, b).absolute, in a fraction of the time; false where that is
// none.
bool contrast_holds_zero(std::vector<double> a, std::vector<double> b, double percent = 50);

// The same interval of one set's own median or percentile.
std::optional<Range> percentile_interval(std::vector<double> samples, double percent = 50);

// So many samples are needed until the largest (of a percentile below 50 the least) lies beyond the
// percentile with 95 % certainty, whatever the distribution: 5 for the median, 59 for the 95th.
// With less nothing bounds it.
std::size_t samples_to_bound(double percent);

// Two-sided p of the Mann-Whitney U test, ties by their mean rank: exact over all ways to divide
// the samples while there are at most max_exact of them, beyond that the normal approximation with
// corrections for ties and continuity. None where a side is empty or a sample is no number.
inline constexpr std::size_t max_exact = 30;
std::optional<double> rank_test(const std::vector<double>& a, const std::vector<double>& b);

// The least p that the test can give for so many samples without ties.
double min_p(std::size_t a, std::size_t b);

// Whether p says that sets of so many samples differ: it is below 0.05, or, where they are too few
// for that (less than 4 and 4), the least that it can be, which means that they do not mix at all.
bool is_significant(double p, std::size_t a, std::size_t b);

}  // namespace npuscope::analysis
