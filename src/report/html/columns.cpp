#include "report/html/columns.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "analysis/path/path_graph.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// A merged span is at most so many times as long as the spans in it may be.
constexpr std::int64_t max_merged = 4;

std::int64_t ticks_of(const SpanOfUnit& span) { return saturating_subtract(span.end, span.begin); }

// The spans of one unit after the other, merged.
class Merger {
 public:
  Merger(std::int64_t merge_ticks, std::vector<PlacedSpan>& out, std::vector<std::uint32_t>& of_row)
      : merge_ticks_(merge_ticks), out_(out), of_row_(of_row) {}

  void add(const SpanOfUnit& span) {
    if (merge_ticks_ == 0 || ticks_of(span) >= merge_ticks_) return begin(span);
    std::size_t& open = open_[std::size_t(role_of(span.kind))];
    if (open == none || !fits(out_[open], span)) {
      open = out_.size();
      return begin(span);
    }
    PlacedSpan& merged = out_[open];
    merged.active += length_of(Interval{std::max(span.begin, merged.end), span.end});
    merged.end = std::max(merged.end, span.end);
    const std::int64_t longest = longest_[open - first_];
    if (ticks_of(span) > longest) {
      merged.row = span.row;
      longest_[open - first_] = ticks_of(span);
    }
    ++merged.count;
    of_row_[span.row] = std::uint32_t(open);
  }

  void next_unit() {
    std::ranges::fill(open_, none);
    first_ = out_.size();
    longest_.clear();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  bool fits(const PlacedSpan& merged, const SpanOfUnit& span) const {
    return saturating_subtract(span.begin, merged.end) < merge_ticks_ &&
           saturating_subtract(span.end, merged.begin) <= max_merged * merge_ticks_;
  }
  void begin(const SpanOfUnit& span) {
    of_row_[span.row] = std::uint32_t(out_.size());
    out_.push_back({span.begin, span.end, ticks_of(span), span.row, 1});
    longest_.push_back(ticks_of(span));
  }

  std::int64_t merge_ticks_;
  std::vector<PlacedSpan>& out_;
  std::vector<std::uint32_t>& of_row_;
  std::vector<std::int64_t> longest_;  // of the unit's spans
  std::size_t first_ = 0;              // the unit's first
  std::size_t open_[std::size_t(Role::overlay) + 1] = {none, none, none, none};  // by role
};

// Merged, spans of each role begin in an order of their own: those of a unit sorted anew, and where
// each of `spans` is then.
void sort_unit(std::vector<PlacedSpan>& spans, std::size_t first, std::size_t last,
               std::vector<std::uint32_t>& new_place) {
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    if (spans[a].begin != spans[b].begin) return spans[a].begin < spans[b].begin;
    return spans[a].end > spans[b].end;
  };
  std::vector<std::uint32_t> order(last - first);
  std::iota(order.begin(), order.end(), std::uint32_t(first));
  if (!std::ranges::is_sorted(order, is_before)) std::ranges::stable_sort(order, is_before);
  const std::vector<PlacedSpan> before(spans.begin() + std::ptrdiff_t(first),
                                       spans.begin() + std::ptrdiff_t(last));
  for (std::size_t i = 0; i < order.size(); ++i) {
    new_place[order[i]] = std::uint32_t(first + i);
    spans[first + i] = before[order[i] - first];
  }
}

}  // namespace

PlacedSpans::PlacedSpans(const Analysis& analysis, std::size_t max_spans) {
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  const std::size_t total = by_unit.all().size();
  const auto place = [&] {
    spans.clear();
    first_of_unit.clear();
    place_of_row.assign(analysis.profile().spans.size(), 0);
    Merger merger(merge_ticks, spans, place_of_row);
    for (std::size_t group = 0; group < by_unit.groups(); ++group) {
      first_of_unit.push_back(spans.size());
      merger.next_unit();
      for (const SpanOfUnit& span : by_unit.spans_of(UnitId(std::uint32_t(group)))) {
        merger.add(span);
      }
    }
    first_of_unit.push_back(spans.size());
  };
  place();
  constexpr std::int64_t max_ticks = std::int64_t{1} << 52;
  // In the first try a merged span is no longer than 2^-20 of the wall, of few spans than 2^-14.
  constexpr std::size_t few = 50'000;
  const int details = max_spans > few ? 22 : 16;
  merge_ticks = std::max<std::int64_t>(1, analysis.coarse().wall >> details);
  while (spans.size() > max_spans && merge_ticks < max_ticks) {
    merge_ticks *= 2;
    place();
  }
  std::vector<std::uint32_t> new_place(spans.size());
  for (std::size_t unit = 0; unit + 1 < first_of_unit.size(); ++unit) {
    sort_unit(spans, first_of_unit[unit], first_of_unit[unit + 1], new_place);
  }
  for (std::uint32_t& at : place_of_row) at = at < new_place.size() ? new_place[at] : at;
  if (spans.size() == total) merge_ticks = 0;
  for (const PlacedSpan& span : spans) merged += span.count > 1 ? span.count : 0;
}

namespace {

std::uint64_t zigzag(std::int64_t value) {
  return std::uint64_t(value) << 1 ^ std::uint64_t(value >> 63);
}

std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) {
  return std::int64_t(std::uint64_t(a) - std::uint64_t(b));
}

void add_varint(std::string& out, std::int64_t value) {
  std::uint64_t bits = zigzag(value);
  while (bits >= 0x80) {
    out += char(bits | 0x80);
    bits >>= 7;
  }
  out += char(bits);
}

}  // namespace

void ColumnBytes::add_head(std::string_view name, const char* encoding, Delta delta,
                           std::size_t count, std::size_t begin) {
  heads_.push_back({std::string(name), encoding, delta == Delta::yes, count, first_offset_ + begin,
                    bytes_.size() - begin});
}

void ColumnBytes::add(std::string_view name, std::span<const std::int64_t> values, Delta delta) {
  const std::size_t begin = bytes_.size();
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    add_varint(bytes_, wrapped_difference(value, before));
    if (delta == Delta::yes) before = value;
  }
  add_head(name, "varint", delta, values.size(), begin);
}

void ColumnBytes::add_numbers(std::string_view name, std::span<const double> values) {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t begin = bytes_.size();
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  add_head(name, "f64", Delta::no, values.size(), begin);
}

void ColumnBytes::add_planes(std::string_view name, std::span<const std::int64_t> values) {
  const std::size_t begin = bytes_.size();
  std::uint64_t all = values.empty() ? 0 : 1;  // a byte each where all are 0
  for (const std::int64_t value : values) all |= zigzag(value);
  for (int shift = 0; shift < 64 && all >> shift != 0; shift += 8) {
    for (const std::int64_t value : values) bytes_ += char(zigzag(value) >> shift);
  }
  add_head(name, "planes", Delta::no, values.size(), begin);
}

void ColumnBytes::add_times(const std::string& table, std::span<const std::int64_t> starts,
                            std::span<const std::int64_t> durations) {
  add_planes(table + ".duration", durations);
  const std::size_t begin = bytes_.size();
  std::int64_t end = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    add_varint(bytes_, wrapped_difference(starts[i], end));
    end = std::int64_t(std::uint64_t(starts[i]) + std::uint64_t(durations[i]));
  }
  add_head(table + ".start", "varint", Delta::yes, starts.size(), begin);
  heads_.back().after = table + ".duration";
}

void ColumnBytes::write_heads(Json& json) const {
  json.array(heads_, [&](const Head& head) {
    json.object([&] {
      json.member("name", head.name);
      json.member("encoding", head.encoding);
      json.member("delta", head.delta);
      if (!head.after.empty()) json.member("after", head.after);
      json.member("count", head.count);
      json.member("offset", head.offset);
      json.member("bytes", head.bytes);
    });
  });
}

namespace {

using namespace analysis;
using Delta = ColumnBytes::Delta;
using Values = ColumnBytes::Values;

void add_steps(const CriticalPath& path, const Profile& profile, const PlacedSpans& placed,
               std::int64_t begin, ColumnBytes& columns) {
  Values values(path.steps.size());
  const auto add = [&](const char* name, Delta delta, const auto& value_of) {
    std::ranges::transform(path.steps, values.begin(), value_of);
    columns.add(name, values, delta);
  };
  add("step.span", Delta::yes, [&](const PathStep& step) -> std::int64_t {
    return step.row < placed.place_of_row.size() ? placed.place_of_row[step.row] : -1;
  });
  add("step.op", Delta::yes,
      [&](const PathStep& step) { return or_none(index_of(step.op), profile.ops.size()); });
  add("step.unit", Delta::no,
      [&](const PathStep& step) { return or_none(index_of(step.unit), profile.units.size()); });
  Values starts(path.steps.size());
  std::ranges::transform(path.steps, starts.begin(), [&](const PathStep& step) {
    return saturating_subtract(step.start, begin);
  });
  std::ranges::transform(path.steps, values.begin(), &PathStep::duration);
  columns.add_times("step", starts, values);
  add("step.gap", Delta::no, [](const PathStep& step) { return step.gap; });
  add("step.reason", Delta::no, [](const PathStep& step) { return std::int64_t(step.reason); });
}

void add_nodes(const PathGraph& graph, ColumnBytes& columns) {
  const Profile& profile = *graph.profile;
  Values values(graph.size());
  const auto add = [&](const char* name, Delta delta, const auto& value_of) {
    for (std::uint32_t node = 0; node < graph.size(); ++node) values[node] = value_of(node);
    columns.add(name, values, delta);
  };
  add("node.kind", Delta::no, [&](std::uint32_t node) { return std::int64_t(graph.kind[node]); });
  add("node.op", Delta::yes, [&](std::uint32_t node) {
    return or_none(std::uint32_t(graph.op_of(node)), profile.ops.size());
  });
  add("node.unit", Delta::yes, [&](std::uint32_t node) {
    return or_none(std::uint32_t(graph.unit_of(node)), profile.units.size());
  });
  add("node.row", Delta::yes, [&](std::uint32_t node) { return std::int64_t(graph.row[node]); });
  add("node.start", Delta::yes, [&](std::uint32_t node) { return graph.start[node]; });
  add("node.end", Delta::yes, [&](std::uint32_t node) { return graph.end[node]; });
  add("node.delay", Delta::no, [&](std::uint32_t node) { return graph.delay[node]; });
  add("node.unit_before", Delta::yes,
      [&](std::uint32_t node) { return or_none(graph.unit_before[node], graph.size()); });
  add("node.unit_latency", Delta::no, [&](std::uint32_t node) -> std::int64_t {
    return graph.unit_before[node] == PathGraph::none ? 0 : graph.unit_latency(node);
  });
  add("node.links", Delta::no, [&](std::uint32_t node) {
    return std::int64_t(graph.first_link[node + 1]) - std::int64_t(graph.first_link[node]);
  });
}

void add_links(const PathGraph& graph, ColumnBytes& columns) {
  Values from, reason, latency, part;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      const bool is_link = link.from != PathGraph::none;
      from.push_back(is_link ? std::int64_t(link.from) : -1);
      reason.push_back(std::int64_t(link.reason));
      latency.push_back(is_link ? graph.latency_of(link) : 0);
      part.push_back(is_link && link.leaves_midst ? graph.part_of(link.from, node) : -1);
    }
  }
  columns.add("link.from", from, Delta::yes);
  columns.add("link.reason", reason);
  columns.add("link.latency", latency);
  columns.add("link.part", part);
}

}  // namespace

PathHead add_path_columns(const Analysis& analysis, const PlacedSpans& placed, std::int64_t begin,
                          std::size_t max_nodes, ColumnBytes& columns) {
  const Result<PathAnalysis>& path = analysis.path();
  if (!path) return {.left_out = path.error().message};
  const CriticalPath observed = path->observed();
  PathHead head{.wall = observed.wall, .begin = saturating_subtract(observed.begin, begin)};
  add_steps(observed, analysis.profile(), placed, begin, columns);
  const PathGraph& graph = path->graph();
  if (graph.size() > max_nodes) {
    head.left_out =
        fmt::format("{} executions are more than a page computes with; npuscope path --faster does",
                    graph.size());
    return head;
  }
  add_nodes(graph, columns);
  add_links(graph, columns);
  return head;
}

}  // namespace npuscope::report
