#include "npuscope/analysis/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "analysis/order_statistics.hpp"

namespace npuscope::analysis {

namespace {

Neighbours by_partition(std::span<double> values, std::size_t k) {
  const auto at = values.begin() + std::ptrdiff_t(k);
  std::nth_element(values.begin(), at, values.end());
  if (k + 1 == values.size()) return {*at, *at};
  return {*at, *std::min_element(at + 1, values.end())};
}

struct Extent {
  double min, max;
  bool is_finite;  // all of them
};

// Four at a time: each comparison waits for the one before it.
Extent extent_of(std::span<const double> values) {
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> min, max, odd{};
  min.fill(values[0]);
  max.fill(values[0]);
  const auto take = [&](double value, std::size_t lane) {
    min[lane] = value < min[lane] ? value : min[lane];
    max[lane] = max[lane] < value ? value : max[lane];
    odd[lane] += value - value;
  };
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) take(values[i + lane], lane);
  }
  for (; i < values.size(); ++i) take(values[i], 0);
  const double nothing = odd[0] + odd[1] + odd[2] + odd[3];
  return {*std::min_element(min.begin(), min.end()), *std::max_element(max.begin(), max.end()),
          nothing == 0};
}

// Keeps the values of those stretches alone in which places k and k + 1 lie, and how many values
// come before them in `before`. False: that is no help.
bool narrow(std::span<double>& values, std::size_t k, std::size_t& before) {
  constexpr std::size_t stretches = 256;
  const auto [min, max, is_finite] = extent_of(values);
  if (!is_finite) return false;
  if (min == max) {
    before = k;
    values = values.first(1);
    return true;
  }
  const double scale = double(stretches - 1) / (max - min);
  if (!std::isfinite(max - min) || !std::isfinite(scale)) return false;
  // Rounding keeps order: no value lies in an earlier stretch than a smaller one.
  const auto stretch_of = [&](double value) { return std::uint32_t((value - min) * scale); };
  std::array<std::uint32_t, stretches> count{};
  for (const double value : values) count[stretch_of(value)] += 1;
  before = 0;
  std::uint32_t first = 0;
  while (before + count[first] <= k) before += count[first++];
  std::uint32_t last = first;
  for (std::size_t until = before + count[first]; until <= k + 1 && until < values.size();) {
    until += count[++last];
  }
  std::size_t kept = 0;
  for (const double value : values) {
    values[kept] = value;
    const std::uint32_t stretch = stretch_of(value);
    kept += std::size_t(stretch >= first) & std::size_t(stretch <= last);
  }
  values = values.first(kept);
  return true;
}

}  // namespace

Neighbours smallest_at(std::span<double> values, std::size_t k) {
  constexpr std::size_t few = 48;
  constexpr int max_rounds = 3;  // of outliers, all others lie in one stretch at first
  for (int round = 0; round < max_rounds && values.size() > few; ++round) {
    std::size_t before = 0;
    if (values.size() > ~std::uint32_t{0} || !narrow(values, k, before)) break;
    k -= before;
  }
  return by_partition(values, k);
}

double median_of(std::vector<double> samples) {
  if (samples.empty()) return 0;
  if (samples.size() % 2 == 1) return smallest_at(samples, samples.size() / 2).at;
  const auto [below, above] = smallest_at(samples, samples.size() / 2 - 1);
  return (below + above) / 2;
}

double percentile_of(std::vector<double> samples, double percent) {
  if (samples.empty()) return 0;
  const double place = std::clamp(percent, 0.0, 100.0) / 100 * double(samples.size() - 1);
  const auto below = std::size_t(place);
  const bool is_last = below + 1 >= samples.size();
  const auto [at, above] = smallest_at(samples, below);
  return is_last ? at : at + (place - double(below)) * (above - at);
}

namespace {

// Vigna's splitmix64: a few lines that give the same numbers everywhere, as std::… distributions
// do not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint32_t below(std::uint32_t bound) { return std::uint32_t((next() >> 32) * bound >> 32); }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

// A percentile of resamples, as the places in the sorted samples of the two values between which it
// lies; how far is the same for all resamples of a size.
struct Places {
  std::uint32_t samples = 0;
  double percent = -1;
  double part = 0;  // of the way from the lower to the upper
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of;
};

// The k-th least of n draws from n: for many n its place is normal with standard deviation
// sqrt(n q (1 - q)), where q is k / n (a binomial number of draws lies below any place).
constexpr std::uint32_t max_drawn = 500;

void place_many(Places& places, Random& random) {
  const double samples = places.samples, q = places.percent / 100;
  for (std::size_t i = 0; i < resample_count; ++i) {
    constexpr std::uint32_t grain = 1 << 20;
    double normal = -6;  // the sum of twelve uniform numbers, less its mean
    for (int k = 0; k < 12; ++k) normal += (double(random.below(grain)) + 0.5) / grain;
    const double place = (samples - 1) * q + normal * std::sqrt(samples * q * (1 - q));
    const double kept = std::clamp(std::round(place), 0.0, samples - 1);
    places.of.push_back({std::uint32_t(kept), std::uint32_t(kept)});
  }
}

Places places_of(std::uint32_t samples, double percent, std::uint64_t seed) {
  Random random(seed);
  Places places{samples, percent, 0, {}};
  if (samples > max_drawn) {
    place_many(places, random);
    return places;
  }
  const double middle = percent / 100 * double(samples - 1);
  const auto below = std::uint32_t(middle);
  places.part = middle - below;
  std::vector<std::uint32_t> draws(samples);
  for (std::size_t i = 0; i < resample_count; ++i) {
    for (std::uint32_t& draw : draws) draw = random.below(samples);
    const auto at = draws.begin() + std::ptrdiff_t(below);
    std::nth_element(draws.begin(), at, draws.end());
    const std::uint32_t lower = *at;
    const bool between = places.part > 0 && below + 1 < samples;
    places.of.push_back({lower, between ? *std::min_element(at + 1, draws.end()) : lower});
  }
  return places;
}

// Resampling many pairs of sets of the same sizes draws once.
std::shared_ptr<const Places> kept_places(std::uint32_t samples, double percent, int stream) {
  constexpr std::size_t max_kept = 64;  // of 16 kB
  static std::mutex mutex;
  static std::map<std::tuple<std::uint32_t, double, int>, std::shared_ptr<const Places>> kept;
  const std::tuple key{samples, percent, stream};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
  }
  auto drawn = std::make_shared<const Places>(
      places_of(samples, percent, stream == 0 ? 0x6e70757363 : 0x6f7065));
  const std::lock_guard lock(mutex);
  if (kept.size() == max_kept) kept.clear();
  return kept.try_emplace(key, std::move(drawn)).first->second;
}

double value_at(const std::vector<double>& sorted, const Places& places, std::size_t resample) {
  const auto& [lower, upper] = places.of[resample];
  if (lower == upper) return sorted[lower];
  if (places.part == 0.5) return (sorted[lower] + sorted[upper]) / 2;
  return sorted[lower] + places.part * (sorted[upper] - sorted[lower]);
}

// The value before which k others come, where k is few: a heap of the first k + 1 is hardly ever
// touched again, which selecting by parts cannot say.
template <class Before>
double value_after(const std::vector<double>& values, std::size_t k, const Before& before) {
  std::vector<double> first(values.begin(), values.begin() + std::ptrdiff_t(k + 1));
  std::make_heap(first.begin(), first.end(), before);
  for (std::size_t i = k + 1; i < values.size(); ++i) {
    if (!before(values[i], first.front())) continue;
    std::pop_heap(first.begin(), first.end(), before);
    first.back() = values[i];
    std::push_heap(first.begin(), first.end(), before);
  }
  return first.front();
}

// How many values lie at either end of the middle 95 %.
constexpr std::size_t outside(std::size_t values) { return values / 40; }  // 2.5 %

// The middle 95 %, as far from one end as from the other.
Range middle_of(const std::vector<double>& values) {
  const std::size_t cut = outside(values.size());
  return {value_after(values, cut, std::less<>()), value_after(values, cut, std::greater<>())};
}

}  // namespace

namespace {

// Resamples of two sets, drawn from the sorted ones.
class Resamples {
 public:
  Resamples(std::vector<double> a, std::vector<double> b, double percent)
      : a_(std::move(a)), b_(std::move(b)) {
    for (auto* samples : {&a_, &b_}) {
      if (!std::is_sorted(samples->begin(), samples->end())) {
        std::sort(samples->begin(), samples->end());
      }
    }
    // Which set takes which stream is decided by the sets, not by their order: so swapping mirrors.
    const bool a_is_first = a_.size() != b_.size() ? a_.size() < b_.size() : a_ <= b_;
    of_a_ = kept_places(std::uint32_t(a_.size()), percent, a_is_first ? 0 : 1);
    of_b_ = kept_places(std::uint32_t(b_.size()), percent, a_is_first ? 1 : 0);
  }

  bool are_positive() const { return a_.front() > 0 && b_.front() > 0; }
  double from_a(std::size_t resample) const { return value_at(a_, *of_a_, resample); }
  double from_b(std::size_t resample) const { return value_at(b_, *of_b_, resample); }

 private:
  std::vector<double> a_, b_;
  std::shared_ptr<const Places> of_a_, of_b_;
};

}  // namespace

Contrast contrast_of(std::vector<double> a, std::vector<double> b, double percent) {
  Contrast contrast;
  if (a.size() < 2 || b.size() < 2) return contrast;
  const Resamples resamples(std::move(a), std::move(b), percent);
  std::vector<double> differences(resample_count), ratios;
  const bool has_ratio = resamples.are_positive();
  if (has_ratio) ratios.resize(resample_count);
  for (std::size_t i = 0; i < resample_count; ++i) {
    const double from_a = resamples.from_a(i), from_b = resamples.from_b(i);
    differences[i] = from_b - from_a;
    if (has_ratio) ratios[i] = from_b / from_a;
  }
  contrast.absolute = middle_of(differences);
  if (has_ratio) {
    const Range ratio = middle_of(ratios);
    contrast.relative = Range{ratio.low - 1, ratio.high - 1};
  }
  return contrast;
}

// The ends of the interval need not be found to tell on which side of zero they lie.
bool contrast_holds_zero(std::vector<double> a, std::vector<double> b, double percent) {
  if (a.size() < 2 || b.size() < 2) return false;
  const Resamples resamples(std::move(a), std::move(b), percent);
  std::size_t up_to_zero = 0, from_zero = 0;
  for (std::size_t i = 0; i < resample_count; ++i) {
    const double difference = resamples.from_b(i) - resamples.from_a(i);
    up_to_zero += difference <= 0 ? 1 : 0;
    from_zero += difference >= 0 ? 1 : 0;
  }
  return up_to_zero > outside(resample_count) && from_zero > outside(resample_count);
}

std::optional<Range> percentile_interval(std::vector<double> samples, double percent) {
  if (samples.size() < 2) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const auto places = kept_places(std::uint32_t(samples.size()), percent, 0);
  std::vector<double> values(resample_count);
  for (std::size_t i = 0; i < resample_count; ++i) values[i] = value_at(samples, *places, i);
  return middle_of(values);
}

std::size_t samples_to_bound(double percent) {
  constexpr double doubt = 0.05;
  const double inside = std::max(percent, 100 - percent) / 100;
  return std::size_t(std::ceil(std::log(doubt) / std::log(inside)));
}

namespace {

// Twice the mean rank of each sample among all, a's first, so that ties stay whole numbers.
struct Ranks {
  std::vector<std::uint64_t> doubled;
  double ties = 0;  // sum of t^3 - t over groups of t equal samples
};

Ranks ranks_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto less = [&](std::size_t x, std::size_t y) { return all[x] < all[y]; };
  const auto of_b = order.begin() + std::ptrdiff_t(a.size());
  if (!std::is_sorted(order.begin(), of_b, less)) std::stable_sort(order.begin(), of_b, less);
  if (!std::is_sorted(of_b, order.end(), less)) std::stable_sort(of_b, order.end(), less);
  std::inplace_merge(order.begin(), of_b, order.end(), less);
  Ranks ranks;
  ranks.doubled.resize(all.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && all[order[end]] == all[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks.doubled[order[k]] = i + end + 1;
    const double tied = double(end - i);
    ranks.ties += tied * tied * tied - tied;
    i = end;
  }
  return ranks;
}

// Of all ways to choose `chosen` of the ranks, the part whose sum is as far from the mean or
// farther.
double exact_p(const std::vector<std::uint64_t>& ranks, std::size_t chosen, std::uint64_t sum) {
  const std::uint64_t all = ranks.size() * (ranks.size() + 1);  // sum of all doubled ranks
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(all + 1, 0.0));
  ways[0][0] = 1;
  std::uint64_t reached = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    reached += ranks[i];
    for (std::size_t k = std::min(chosen, i + 1); k > 0; --k) {
      for (std::uint64_t s = reached; s + 1 > ranks[i]; --s) {
        ways[k][s] += ways[k - 1][s - ranks[i]];
      }
    }
  }
  const auto distance = [&](std::uint64_t s) {  // from the mean, times the count of samples
    return std::llabs(std::int64_t(s * ranks.size()) - std::int64_t(all * chosen));
  };
  double as_far = 0, total = 0;
  for (std::uint64_t s = 0; s <= all; ++s) {
    total += ways[chosen][s];
    if (distance(s) >= distance(sum)) as_far += ways[chosen][s];
  }
  return as_far / total;
}

double normal_p(const Ranks& ranks, double a, double b, double doubled_sum) {
  const double all = a + b;
  const double u = doubled_sum / 2 - a * (a + 1) / 2;
  const double variance = a * b / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (!(variance > 0)) return 1;  // all samples are equal
  const double distance = std::max(0.0, std::abs(u - a * b / 2) - 0.5);
  return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

}  // namespace

std::optional<double> rank_test(const std::vector<double>& a, const std::vector<double>& b) {
  const auto is_nan = [](double sample) { return std::isnan(sample); };
  if (a.empty() || b.empty()) return std::nullopt;
  if (std::any_of(a.begin(), a.end(), is_nan) || std::any_of(b.begin(), b.end(), is_nan)) {
    return std::nullopt;  // which is neither below nor above another
  }
  const Ranks ranks = ranks_of(a, b);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += ranks.doubled[i];
  if (a.size() + b.size() <= max_exact) {
    if (a.size() <= b.size()) return exact_p(ranks.doubled, a.size(), sum);
    const std::uint64_t all = ranks.doubled.size() * (ranks.doubled.size() + 1);
    return exact_p(ranks.doubled, b.size(), all - sum);
  }
  return normal_p(ranks, double(a.size()), double(b.size()), double(sum));
}

bool is_significant(double p, std::size_t a, std::size_t b) {
  constexpr double significance = 0.05;
  constexpr double rounding = 1e-9;
  return p < significance || p <= min_p(a, b) + rounding;
}

double min_p(std::size_t a, std::size_t b) {
  double ways = 1;  // to choose a of a + b; beyond 1e9 only that it is many
  for (std::size_t i = 1; i <= std::min(a, b) && ways < 1e9; ++i) {
    ways = ways * double(std::max(a, b) + i) / double(i);
  }
  return std::min(1.0, 2 / ways);
}

}  // namespace npuscope::analysis
