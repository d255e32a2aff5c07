#include "report/html/columns.hpp"

#include <fmt/format.h>
#include <bit>
#include <cstring>

#include "analysis/path/path_graph.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::report {
namespace {

void add_varint(std::string& out, std::int64_t value) {
  std::uint64_t bits = std::uint64_t(value) << 1 ^ std::uint64_t(value >> 63);  // zigzag
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
    add_varint(bytes_, std::int64_t(std::uint64_t(value) - std::uint64_t(before)));
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

void ColumnBytes::write_heads(Json& json) const {
  json.array(heads_, [&](const Head& head) {
    json.object([&] {
      json.member("name", head.name);
      json.member("encoding", head.encoding);
      json.member("delta", head.delta);
      json.member("count", head.count);
      json.member("offset", head.offset);
      json.member("bytes", head.bytes);
    });
  });
}

namespace {

using namespace analysis;
using Delta = ColumnBytes::Delta;
using Values = std::vector<std::int64_t>;

std::int64_t or_none(std::uint32_t index, std::size_t count) {
  return index < count ? std::int64_t(index) : -1;
}

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
  add("step.start", Delta::yes,
      [&](const PathStep& step) { return saturating_subtract(step.start, begin); });
  add("step.duration", Delta::no, [](const PathStep& step) { return step.duration; });
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
