#include <algorithm>
#include <ranges>
#include <span>

#include "analysis/ops/row_names.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/names.hpp"
#include "report/html/columns.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;
using Delta = ColumnBytes::Delta;
using Values = ColumnBytes::Values;

constexpr std::size_t max_coarse_samples = 50'000;
constexpr std::int64_t most_exact = std::int64_t{1} << 53;  // of JavaScript's numbers

class Columns {
 public:
  Columns(const Analysis& analysis, const ColumnLimits& limits, bool is_coarse,
          std::size_t first_offset)
      : analysis_(analysis),
        profile_(analysis.profile()),
        limits_(limits),
        is_coarse_(is_coarse),
        placed_(analysis, is_coarse ? limits.coarse_spans : limits.max_spans),
        columns_(first_offset) {}

  ProfileColumns make(const std::vector<OpRows>& op_rows, const std::vector<FindingPlace>& places) {
    find_extent();
    add_spans();
    add_ops(op_rows);
    if (!is_coarse_) add_edges(), add_flows();
    const bool has_counters = !is_coarse_ || profile_.counters.size() <= max_coarse_samples;
    const std::vector<std::size_t> samples =
        has_counters ? add_counters() : std::vector<std::size_t>();
    add_findings(places);
    const PathHead path = is_coarse_ ? PathHead()
                                     : add_path_columns(analysis_, placed_, extent_.begin,
                                                        limits_.max_path_nodes, columns_);
    const Coarse& coarse = analysis_.coarse();
    const bool has_wall = coarse.wall > 0;
    std::string head;
    Json json(head, compact_layout());
    json.object([&] {
      if (is_coarse_) json.member("coarse", true);
      json.member("begin", std::to_string(extent_.begin));
      json.member("length", length_of(extent_));
      json.member("timeline_begin", has_wall ? since_begin(coarse.timeline.begin) : 0);
      json.member("timeline_length", has_wall ? coarse.wall : length_of(extent_));
      json.member("span_total", profile_.spans.size());
      json.member("merged_spans", placed_.merged);
      json.member("merge_ticks", placed_.merge_ticks);
      json.array("kinds", stable_names(SpanKind{}), [&](const char* name) { json.value(name); });
      json.array("reasons", std::views::iota(std::size_t{0}, reason_count),
                 [&](std::size_t reason) { json.value(name_of(Reason(reason))); });
      json.array("strings", std::views::iota(0u, std::uint32_t(texts_.size())),
                 [&](std::uint32_t text) { json.value(texts_[StringId(text)]); });
      json.key("units"), json.begin_array(), write_units(json), json.end_array();
      json.member("flows_left_out", flows_left_out());
      json.key("counters"), json.begin_array(), write_counters(json, samples), json.end_array();
      json.key("bandwidth");
      write_bandwidth(json);
      json.member("path_left_out", path.left_out);
      json.member("wall", path.wall);
      json.member("path_begin", path.begin);
      json.key("columns");
      columns_.write_heads(json);
    });
    return {std::move(head), columns_.bytes()};
  }

 private:
  // All that has a time; what is too far from the first for exact numbers is cut off by the reader.
  void find_extent() {
    extent_ = analysis_.coarse().timeline;
    bool any = analysis_.coarse().wall > 0;
    const auto take = [&](Interval time) {
      if (!any) extent_ = time;
      any = true;
      extent_.begin = std::min(extent_.begin, time.begin);
      extent_.end = std::max(extent_.end, time.end);
    };
    for (const PlacedSpan& span : placed_.spans) take({span.begin, span.end});
    for (const std::int64_t time : profile_.counters.time) take({time, time});
  }

  std::int64_t since_begin(std::int64_t time) const {
    return saturating_subtract(time, extent_.begin);
  }

  // Traces have a device's queues as threads, whose work tells.
  bool is_device(const Unit& unit, std::size_t first, std::size_t count) const {
    if (unit.engine != Engine::host && unit.engine != Engine::process &&
        unit.engine != Engine::thread) {
      return true;
    }
    const auto spans = std::span(placed_.spans).subspan(first, count);
    return std::ranges::any_of(spans, [&](const PlacedSpan& span) {
      return analysis::role_of(profile_.spans.kind[span.row]) == analysis::Role::work &&
             analysis::is_of_device(analysis::domain_of(profile_, span.row));
    });
  }

  void write_units(Json& json) const {
    for (std::size_t i = 0; i + 1 < placed_.first_of_unit.size(); ++i) {
      const bool is_unit = i < profile_.units.size();
      const std::size_t first = placed_.first_of_unit[i];
      const std::size_t spans = placed_.first_of_unit[i + 1] - first;
      if (!is_unit && spans == 0) continue;
      const Unit unit = is_unit ? profile_.units[i] : Unit{};
      const auto id = UnitId(std::uint32_t(i));
      json.object([&] {
        json.member("name", unit_path(profile_, id).name);
        json.member("path", path_of(profile_, id));
        json.member("engine", stable_name(unit.engine));
        json.member("is_device", is_device(unit, first, spans));
        json.member("device", unit.device);
        json.member("core", unit.core);
        json.member("parent", or_none(index_of(unit.parent), profile_.units.size()));
        json.member("first_span", first);
        json.member("spans", spans);
      });
    }
  }

  void add_spans() {
    const Spans& spans = profile_.spans;
    const std::vector<PlacedSpan>& placed = placed_.spans;
    Values values(placed.size());
    const auto add = [&](const char* name, Delta delta, const auto& value_of) {
      std::ranges::transform(placed, values.begin(), value_of);
      columns_.add(name, values, delta);
    };
    Values starts(placed.size());
    std::ranges::transform(placed, starts.begin(),
                           [&](const PlacedSpan& span) { return since_begin(span.begin); });
    std::ranges::transform(placed, values.begin(), [](const PlacedSpan& span) {
      return saturating_subtract(span.end, span.begin);
    });
    columns_.add_times("span", starts, values);
    add("span.op", Delta::yes, [&](const PlacedSpan& span) {
      return or_none(index_of(spans.op[span.row]), profile_.ops.size());
    });
    std::ranges::transform(placed, values.begin(), [&](const PlacedSpan& span) {
      return std::int64_t(spans.kind[span.row]);
    });
    columns_.add_planes("span.kind", values);
    if (!spans.instance.empty()) {
      add("span.inference", Delta::yes, [&](const PlacedSpan& span) -> std::int64_t {
        const std::uint32_t instance = spans.instance[span.row];
        return instance == every_instance ? -1 : std::int64_t(instance);
      });
    }
    if (placed_.merged > 0) {
      add("span.count", Delta::no, [](const PlacedSpan& span) { return std::int64_t(span.count); });
      add("span.active", Delta::no, [](const PlacedSpan& span) { return span.active; });
    }
    const OpTraffic& traffic = analysis_.traffic();
    Values bytes(placed.size(), 0);
    bool any = false;
    for (const Route route : {Route::ddr_read, Route::ddr_write}) {
      if (!traffic.of_spans_known(route)) continue;
      for (std::size_t row = 0; row < spans.size(); ++row) {
        const std::int64_t more = traffic.of_span(route, row);
        any = any || more > 0;
        std::int64_t& sum = bytes[placed_.place_of_row[row]];
        sum = std::min(most_exact, sum + std::min(more, most_exact));
      }
    }
    if (any) columns_.add("span.bytes", bytes);
  }

  void add_ops(const std::vector<OpRows>& op_rows) {
    const std::vector<Op>& ops = profile_.ops;
    Values values(ops.size());
    const auto add = [&](const char* name, const auto& text_of) {
      std::ranges::transform(ops, values.begin(),
                             [&](const Op& op) { return index_of(texts_.intern(text_of(op))); });
      columns_.add(name, values, Delta::yes);
    };
    add("op.name", [&](const Op& op) { return profile_.text(op.name); });
    add("op.kind", [&](const Op& op) { return profile_.text(op.kind); });
    add("op.engine", [&](const Op& op) { return std::string_view(stable_name(op.engine)); });
    if (is_coarse_) return add_rows(op_rows);
    add("op.node", [&](const Op& op) { return profile_.text(op.node); });
    add("op.shape", [&](const Op& op) { return profile_.text(op.shape); });
    add("op.types", [&](const Op& op) { return profile_.text(op.types); });
    add("op.layer", [&](const Op& op) { return stage_of(profile_.text(op.label())); });
    add_rows(op_rows);
  }

  void add_rows(const std::vector<OpRows>& op_rows) {
    for (const OpRows& each : op_rows) {
      columns_.add("op.row_" + each.grouping, each.row_of_op, Delta::yes);
    }
  }

  void add_edges() {
    Values from, to, kind;
    for (const Edge& edge : profile_.edges) {
      if (index_of(edge.from) >= profile_.ops.size() || index_of(edge.to) >= profile_.ops.size()) {
        continue;
      }
      from.push_back(index_of(edge.from));
      to.push_back(index_of(edge.to));
      kind.push_back(std::int64_t(edge.kind));
    }
    columns_.add("edge.from", from, Delta::yes);
    columns_.add("edge.to", to, Delta::yes);
    columns_.add("edge.kind", kind);
  }

  std::size_t flows_left_out() const {
    return profile_.flows.size() > limits_.max_flows ? profile_.flows.size() : 0;
  }

  void add_flows() {
    const bool too_many = flows_left_out() > 0;
    Values from, to;
    for (const Flow& flow : profile_.flows) {
      const std::size_t rows = placed_.place_of_row.size();
      if (too_many || index_of(flow.from) >= rows || index_of(flow.to) >= rows) continue;
      from.push_back(placed_.place_of_row[index_of(flow.from)]);
      to.push_back(placed_.place_of_row[index_of(flow.to)]);
    }
    columns_.add("flow.from", from, Delta::yes);
    columns_.add("flow.to", to, Delta::yes);
  }

  // How many samples each series has.
  std::vector<std::size_t> add_counters() {
    const Counters& counters = profile_.counters;
    std::vector<std::vector<std::uint32_t>> samples(counters.series.size());
    for (std::uint32_t i = 0; i < counters.size(); ++i) {
      if (counters.of[i] < samples.size()) samples[counters.of[i]].push_back(i);
    }
    Values times;
    std::vector<double> values;
    std::vector<std::size_t> counts;
    for (std::vector<std::uint32_t>& of_series : samples) {
      sort_rows(of_series, {}, [&](std::uint32_t at) { return counters.time[at]; });
      counts.push_back(of_series.size());
      for (const std::uint32_t at : of_series) {
        times.push_back(since_begin(counters.time[at]));
        values.push_back(counters.value[at]);
      }
    }
    columns_.add("counter.time", times, Delta::yes);
    columns_.add_numbers("counter.value", values);
    return counts;
  }

  void write_counters(Json& json, const std::vector<std::size_t>& samples) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < samples.size(); first += samples[i++]) {
      const CounterSeries& series = profile_.counters.series[i];
      json.object([&] {
        json.member("name", profile_.text(series.name));
        json.member("part", profile_.text(series.part));
        json.member("quantity", profile_.text(series.quantity));
        json.member("unit", or_none(index_of(series.unit), profile_.units.size()));
        json.member("first_sample", first);
        json.member("samples", samples[i]);
      });
    }
  }

  void write_bandwidth(Json& json) const {
    const BandwidthSeries series = analysis_.bandwidth(limits_.max_buckets);
    const auto bytes_of = [&](Route route) -> const auto& {
      return series.bytes[std::size_t(route)];
    };
    constexpr Route routes[] = {Route::ddr_read, Route::ddr_write};
    if (std::ranges::all_of(routes, [&](Route route) { return bytes_of(route).empty(); })) {
      return json.null();
    }
    json.object([&] {
      json.member("begin", since_begin(series.timeline.begin));
      json.member("width", series.width);
      json.array("routes", routes, [&](Route route) {
        if (bytes_of(route).empty()) return;
        json.object([&] {
          json.member("name", name_of(route));
          json.member("bytes", bytes_of(route));
        });
      });
    });
  }

  void add_findings(const std::vector<FindingPlace>& places) {
    Values values(places.size());
    const auto add = [&](const char* name, const auto& value_of) {
      std::ranges::transform(places, values.begin(), value_of);
      columns_.add(name, values, Delta::yes);
    };
    add("finding.of", [](const FindingPlace& place) { return place.finding; });
    add("finding.unit", [](const FindingPlace& place) { return place.unit; });
    add("finding.begin", [&](const FindingPlace& place) { return since_begin(place.time.begin); });
    add("finding.end", [&](const FindingPlace& place) { return since_begin(place.time.end); });
  }

  const Analysis& analysis_;
  const Profile& profile_;
  const ColumnLimits& limits_;
  bool is_coarse_;
  PlacedSpans placed_;
  ColumnBytes columns_;
  StringPool texts_;  // that columns refer to by their place
  Interval extent_;
};

}  // namespace

ProfileColumns profile_columns(const Analysis& analysis, const std::vector<OpRows>& op_rows,
                               const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                               std::size_t first_offset) {
  return Columns(analysis, limits, false, first_offset).make(op_rows, places);
}

ProfileColumns coarse_columns(const Analysis& analysis, const std::vector<OpRows>& op_rows,
                              const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                              std::size_t first_offset) {
  return Columns(analysis, limits, true, first_offset).make(op_rows, places);
}

}  // namespace npuscope::report
