#include "npuscope/analysis/bandwidth.hpp"

#include <algorithm>

#include "analysis/answers.hpp"

namespace npuscope::analysis {
namespace {

// bytes x part / whole, rounded down; part <= whole.
std::int64_t share_of(std::int64_t bytes, std::int64_t part, std::int64_t whole) {
  __extension__ typedef __int128 Wide;
  return std::int64_t(Wide(bytes) * part / whole);
}

// One route's buckets. What covers whole buckets adds to differences between neighbours, so that a
// span costs the same however long it is.
class Buckets {
 public:
  Buckets(Interval timeline, std::int64_t width, std::size_t count)
      : timeline_(timeline), width_(width), sums_(count, 0), steps_(count + 1, 0) {}

  void spread(Interval span, std::int64_t bytes) {
    const std::size_t first = bucket_of(span.begin);
    const std::int64_t duration = length_of(span);
    const std::size_t last = duration > 0 ? bucket_of(span.end - 1) : first;
    if (first == last) {
      put(first, bytes);
      return;
    }
    const std::int64_t head = saturating_subtract(end_of(first), span.begin);
    const std::int64_t in_first = share_of(bytes, head, duration);
    const std::int64_t whole = share_of(bytes, width_, duration);
    const auto between = std::int64_t(last - first - 1);
    const std::int64_t tail = duration - head - between * width_;
    const std::int64_t in_last = share_of(bytes, tail, duration);
    // Less than one byte for each bucket is left: one each, from the first on.
    std::int64_t left = bytes - in_first - in_last - between * whole;
    const std::int64_t for_first = std::min<std::int64_t>(left, 1);
    left -= for_first;
    const std::int64_t for_whole = std::min(left, between);
    step(first + 1, whole);
    step(last, -whole);
    step(first + 1, 1);
    step(first + 1 + std::size_t(for_whole), -1);
    put(first, in_first + for_first);
    put(last, in_last + left - for_whole);
  }

  std::vector<std::int64_t> finish() {
    std::int64_t level = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      level = saturating_add(level, steps_[i]);
      put(i, level);
    }
    return std::move(sums_);
  }

 private:
  void put(std::size_t bucket, std::int64_t bytes) {
    sums_[bucket] = saturating_add(sums_[bucket], bytes);
  }
  void step(std::size_t bucket, std::int64_t bytes) {
    steps_[bucket] = saturating_add(steps_[bucket], bytes);
  }
  std::size_t bucket_of(std::int64_t time) const {
    const std::int64_t after = saturating_subtract(time, timeline_.begin);
    const auto bucket = std::size_t(std::max<std::int64_t>(0, after) / width_);
    return std::min(bucket, sums_.size() - 1);
  }
  std::int64_t end_of(std::size_t bucket) const {
    return saturating_add(timeline_.begin, std::int64_t(bucket + 1) * width_);
  }

  Interval timeline_;
  std::int64_t width_;
  std::vector<std::int64_t> sums_, steps_;
};

}  // namespace

std::size_t BandwidthSeries::buckets() const {
  for (const auto& of_route : bytes) {
    if (!of_route.empty()) return of_route.size();
  }
  return 0;
}

BandwidthSeries find_bandwidth(const Analysis& analysis, std::size_t buckets) {
  const Profile& profile = analysis.profile();
  const OpTraffic& traffic = analysis.traffic();
  BandwidthSeries series;
  series.timeline = analysis.timeline_extent();
  const std::int64_t length = length_of(series.timeline);
  if (length <= 0) return series;
  const auto wanted = std::int64_t(std::max<std::size_t>(1, buckets));
  series.width = length / wanted + (length % wanted != 0);
  const auto count = std::size_t(length / series.width + (length % series.width != 0));
  const Spans& spans = profile.spans;
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic.of_spans_known(Route(route))) continue;
    Buckets of_route(series.timeline, series.width, count);
    bool any = false;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const std::int64_t bytes = traffic.of_span(Route(route), row);
      if (bytes == 0) continue;
      any = true;
      const Interval span = interval_of(spans, row);
      const Interval inside{std::clamp(span.begin, series.timeline.begin, series.timeline.end),
                            std::clamp(span.end, series.timeline.begin, series.timeline.end)};
      of_route.spread(inside, bytes);
    }
    if (any) series.bytes[route] = of_route.finish();
  }
  return series;
}

std::vector<TransferSize> find_transfers(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const OpTraffic& traffic = analysis.traffic();
  constexpr std::int64_t kib = 1024, mib = 1024 * kib;
  std::vector<TransferSize> sizes;
  std::int64_t min = 1;
  for (const std::int64_t below : {small_transfer, 64 * kib, mib, 16 * mib, std::int64_t{0}}) {
    sizes.push_back({min, below, 0, 0, 0});
    min = below;
  }
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (role_of(spans.kind[row]) != Role::work) continue;
    std::int64_t bytes = 0;
    for (const Route route : {Route::ddr_read, Route::ddr_write}) {
      bytes = saturating_add(bytes, traffic.of_span(route, row));
    }
    if (bytes == 0 || domain_of(profile, row) != Domain::movement) continue;
    const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const TransferSize& it) {
      return it.below == 0 || bytes < it.below;
    });
    size->transfers += 1;
    size->bytes = saturating_add(size->bytes, bytes);
    size->ticks = saturating_add(size->ticks, length_of(interval_of(spans, row)));
  }
  std::erase_if(sizes, [](const TransferSize& size) { return size.transfers == 0; });
  return sizes;
}

}  // namespace npuscope::analysis
