#include "profile/far_spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "npuscope/profile/filter.hpp"
#include "npuscope/profile/span_roles.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope {
namespace {

bool is_part_of_wall(SpanKind kind) {
  return role_of(kind) != Role::overlay && kind != SpanKind::profiler;
}

// Of all that counts for the wall; and of what has a duration or begins after 0.
struct Extents {
  Interval all = no_extent, recorded = no_extent;
};

Extents extents_of(const Spans& spans) {
  Extents extents;
  std::mutex mutex;
  const std::vector<RowRange> parts = ranges_of(spans.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    Interval recorded = no_extent, others = no_extent;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (!is_part_of_wall(spans.kind[row])) continue;
      const Interval interval = interval_of(spans, row);
      const bool is_recorded = interval.begin > 0 || interval.end > interval.begin;
      extend_by(is_recorded ? recorded : others, interval);
    }
    const std::lock_guard lock(mutex);
    extend_by(extents.recorded, recorded);
    extend_by(extents.all, recorded);
    extend_by(extents.all, others);
  });
  return extents;
}

// "'sgemm' on device 0 > stream 7 at 0 s", of the first few.
std::string names_of(const Profile& profile, const std::vector<std::uint32_t>& rows) {
  constexpr std::size_t max_named = 3;
  const Spans& spans = profile.spans;
  const Hertz rate = profile.clocks[index_of(profile.base_clock)].rate;
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), max_named); ++i) {
    const std::uint32_t row = rows[i];
    const std::size_t op = index_of(spans.op[row]);
    const double start = double(spans.start[row]);
    text += fmt::format(
        "{}'{}' on {} at {}", i == 0 ? "" : ", ",
        op < profile.ops.size() ? profile.text(profile.ops[op].name) : std::string_view(),
        path_of(profile, spans.unit[row]),
        rate.value > 0 ? fmt::format("{:.9g} s", start / rate.value)
                       : fmt::format("{} ticks", spans.start[row]));
  }
  return rows.size() > max_named ? text + ", ..." : text;
}

void note(Profile& profile, std::string message, std::size_t count) {
  const auto& files = profile.provenance.files;
  profile.notes.push_back(
      {Severity::warning, files.empty() ? "" : files.front(), 0, std::move(message), count});
}

// Whether it has moved any.
bool place_unrecorded(Profile& profile, const Extents& extents) {
  constexpr std::int64_t part = 8;  // of what was recorded, between it and 0
  const Interval recorded = extents.recorded;
  const std::int64_t gap = saturating_subtract(recorded.begin, extents.all.begin);
  if (recorded.begin > recorded.end || recorded.begin <= 0 || extents.all.begin > 0) return false;
  if (gap < length_of(recorded) / part) return false;
  Spans& spans = profile.spans;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const bool unrecorded = spans.start[row] <= 0 && spans.duration[row] <= 0;
    if (unrecorded && is_part_of_wall(spans.kind[row])) rows.push_back(row);
  }
  if (rows.empty()) return false;
  std::string message = fmt::format(
      "spans without a duration at time 0 or before, which the recorder did not measure: placed at "
      "the first start of the others ({})",
      names_of(profile, rows));
  for (const std::uint32_t row : rows) spans.start[row] = recorded.begin;
  note(profile, std::move(message), rows.size());
  return true;
}

// Spans next to one another, and how many.
struct Cluster {
  Interval extent;
  std::size_t spans = 0;
};

// Apart by more than that, in the order of time.
std::vector<Cluster> clusters_of(const Spans& spans, std::int64_t gap) {
  std::vector<Interval> intervals;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (is_part_of_wall(spans.kind[row])) intervals.push_back(interval_of(spans, row));
  }
  std::sort(intervals.begin(), intervals.end(),
            [](Interval a, Interval b) { return a.begin < b.begin; });
  std::vector<Cluster> clusters;
  for (const Interval& each : intervals) {
    if (clusters.empty() || saturating_subtract(each.begin, clusters.back().extent.end) > gap) {
      clusters.push_back({each, 0});
    }
    extend_by(clusters.back().extent, each);
    clusters.back().spans += 1;
  }
  return clusters;
}

// Some rows, evenly spread, show whether most lie within a small part of all.
bool may_be_far(const Spans& spans, Interval all) {
  constexpr std::size_t looked_at = 64;
  constexpr std::int64_t part = 32;
  std::vector<std::int64_t> starts;
  const std::size_t step = std::max<std::size_t>(1, spans.size() / looked_at);
  for (std::size_t row = 0; row < spans.size(); row += step) {
    if (is_part_of_wall(spans.kind[row])) starts.push_back(spans.start[row]);
  }
  if (starts.size() < 3) return true;
  std::sort(starts.begin(), starts.end());
  const std::size_t eighth = starts.size() / 8;
  const Interval middle{starts[eighth], starts[starts.size() - 1 - eighth]};
  return starts.size() < looked_at / 2 || length_of(middle) <= length_of(all) / part;
}

// Whether a cluster next to others is there by mistake: at time 0, or by another clock.
bool is_lost(const Profile& profile, const Cluster& cluster, const Cluster& others) {
  constexpr std::int64_t far_from_zero = 100, far = 1'000;  // times what the others last
  constexpr double min_seconds = 60;
  constexpr std::size_t part = 4;
  if (cluster.spans > others.spans / part) return false;
  const bool before = cluster.extent.end <= others.extent.begin;
  const std::int64_t gap = before ? saturating_subtract(others.extent.begin, cluster.extent.end)
                                  : saturating_subtract(cluster.extent.begin, others.extent.end);
  const std::int64_t times = gap / std::max<std::int64_t>(1, length_of(others.extent));
  const double rate = profile.clocks[index_of(profile.base_clock)].rate.value;
  if (!(rate > 0) || double(gap) / rate < min_seconds) return false;
  return times >= (before && cluster.extent.begin <= 0 ? far_from_zero : far);
}

// The extent of the largest cluster and of those that are not lost beside it.
Interval extent_of_run(const Profile& profile, const std::vector<Cluster>& clusters) {
  const auto largest =
      std::max_element(clusters.begin(), clusters.end(),
                       [](const Cluster& a, const Cluster& b) { return a.spans < b.spans; });
  Cluster run = *largest;
  auto left = largest, right = largest + 1;  // the run is from left to right
  for (bool grows = true; grows;) {
    grows = false;
    const auto take = [&](const Cluster& next) {
      if (is_lost(profile, next, run)) return false;
      extend_by(run.extent, next.extent);
      run.spans += next.spans;
      return grows = true;
    };
    if (left != clusters.begin() && take(left[-1])) --left;
    if (right != clusters.end() && take(*right)) ++right;
  }
  return run.extent;
}

void leave_out_far(Profile& profile, Interval all) {
  const Spans& spans = profile.spans;
  if (length_of(all) == 0 || !may_be_far(spans, all)) return;
  constexpr std::int64_t part = 1'024;
  std::vector<Cluster> clusters = clusters_of(spans, length_of(all) / part);
  if (clusters.size() < 2) return;
  // With instants and what else is on no wall as far as the next span that is left out.
  const Interval run = extent_of_run(profile, clusters);
  Interval window{std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max()};
  for (const Cluster& each : clusters) {
    if (each.extent.end < run.begin) window.begin = saturating_add(each.extent.end, 1);
    if (each.extent.begin > run.end) window.end = std::min(window.end, each.extent.begin);
  }
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const Interval interval = interval_of(spans, row);
    if (interval.begin >= window.end || interval.end < window.begin) rows.push_back(row);
  }
  if (rows.empty()) return;
  std::string message =
      fmt::format("spans far from all others in time, left out ({})", names_of(profile, rows));
  Filter filter;
  filter.window = window;
  Profile rest = filtered(profile, filter);
  rest.notes = std::move(profile.notes);
  profile = std::move(rest);
  note(profile, std::move(message), rows.size());
}

}  // namespace

void set_far_spans_apart(Profile& profile) {
  if (profile.spans.size() == 0 || index_of(profile.base_clock) >= profile.clocks.size()) return;
  Extents extents = extents_of(profile.spans);
  if (place_unrecorded(profile, extents)) extents = extents_of(profile.spans);
  if (extents.all.begin > extents.all.end) return;
  leave_out_far(profile, extents.all);
}

}  // namespace npuscope
