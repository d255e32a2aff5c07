#include "report/html/profile_columns.hpp"

#include <algorithm>
#include <unordered_map>

#include "analysis/timeline/stages.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/names.hpp"
#include "report/html/column_bytes.hpp"
#include "report/html/path_columns.hpp"
#include "report/html/placed_spans.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;
using Json = nlohmann::ordered_json;
using Delta = ColumnBytes::Delta;
using Values = std::vector<std::int64_t>;

constexpr std::int64_t most_exact = std::int64_t{1} << 53;  // of JavaScript's numbers

std::int64_t place_or_none(std::uint32_t index, std::size_t count) {
  return index < count ? std::int64_t(index) : -1;
}

// Texts that columns refer to by their place, each once. The first is the empty one, which stands
// for what is not known.
class Texts {
 public:
  Texts() { place_of(""); }
  std::int64_t place_of(std::string_view text) {
    const auto [found, is_new] = place_of_.try_emplace(std::string(text), list_.size());
    if (is_new) list_.push_back(found->first);
    return std::int64_t(found->second);
  }
  const Json& list() const { return list_; }

 private:
  std::unordered_map<std::string, std::size_t> place_of_;
  Json list_ = Json::array();
};

template <class Enum>
Json names_of() {
  Json list = Json::array();
  for (const char* name : stable_names(Enum{})) list.push_back(name);
  return list;
}

class Columns {
 public:
  Columns(const Analysis& analysis, const ColumnLimits& limits, std::size_t first_offset)
      : analysis_(analysis),
        profile_(analysis.profile()),
        limits_(limits),
        placed_(analysis, limits.max_spans),
        columns_(first_offset) {}

  ProfileColumns make(const std::vector<OpRows>& op_rows, const std::vector<FindingPlace>& places);

 private:
  void find_extent();
  std::int64_t since_begin(std::int64_t time) const {
    return saturating_subtract(time, extent_.begin);
  }
  Json units() const;
  void add_spans();
  void add_ops(const std::vector<OpRows>& op_rows);
  void add_edges();
  void add_flows(Json& head);
  Json counters();
  Json bandwidth() const;
  void add_findings(const std::vector<FindingPlace>& places);

  const Analysis& analysis_;
  const Profile& profile_;
  const ColumnLimits& limits_;
  PlacedSpans placed_;
  ColumnBytes columns_;
  Texts texts_;
  Interval extent_;
};

// All that has a time; what is too far from the first for exact numbers is cut off by the reader.
void Columns::find_extent() {
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

Json Columns::units() const {
  Json list = Json::array();
  for (std::size_t i = 0; i + 1 < placed_.first_of_unit.size(); ++i) {
    const bool is_unit = i < profile_.units.size();
    const std::size_t first = placed_.first_of_unit[i];
    const std::size_t spans = placed_.first_of_unit[i + 1] - first;
    if (!is_unit && spans == 0) continue;
    const Unit unit = is_unit ? profile_.units[i] : Unit{};
    const auto id = UnitId(std::uint32_t(i));
    list.push_back({{"name", unit_path(profile_, id).name},
                    {"path", path_of(profile_, id)},
                    {"engine", stable_name(unit.engine)},
                    {"device", unit.device},
                    {"core", unit.core},
                    {"parent", place_or_none(index_of(unit.parent), profile_.units.size())},
                    {"first_span", first},
                    {"spans", spans}});
  }
  return list;
}

void Columns::add_spans() {
  const Spans& spans = profile_.spans;
  const std::vector<PlacedSpan>& placed = placed_.spans;
  Values values(placed.size());
  const auto add = [&](const char* name, Delta delta, const auto& value_of) {
    std::ranges::transform(placed, values.begin(), value_of);
    columns_.add(name, values, delta);
  };
  add("span.start", Delta::yes, [&](const PlacedSpan& span) { return since_begin(span.begin); });
  add("span.duration", Delta::no,
      [](const PlacedSpan& span) { return saturating_subtract(span.end, span.begin); });
  add("span.op", Delta::yes, [&](const PlacedSpan& span) {
    return place_or_none(index_of(spans.op[span.row]), profile_.ops.size());
  });
  add("span.kind", Delta::no,
      [&](const PlacedSpan& span) { return std::int64_t(spans.kind[span.row]); });
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

void Columns::add_ops(const std::vector<OpRows>& op_rows) {
  const std::vector<Op>& ops = profile_.ops;
  Values values(ops.size());
  const auto add = [&](const char* name, const auto& text_of) {
    std::ranges::transform(ops, values.begin(),
                           [&](const Op& op) { return texts_.place_of(text_of(op)); });
    columns_.add(name, values, Delta::yes);
  };
  add("op.name", [&](const Op& op) { return profile_.text(op.name); });
  add("op.kind", [&](const Op& op) { return profile_.text(op.kind); });
  add("op.node", [&](const Op& op) { return profile_.text(op.node); });
  add("op.shape", [&](const Op& op) { return profile_.text(op.shape); });
  add("op.types", [&](const Op& op) { return profile_.text(op.types); });
  add("op.engine", [&](const Op& op) { return std::string_view(stable_name(op.engine)); });
  add("op.layer", [&](const Op& op) { return stage_of(profile_.text(op.label())); });
  for (const OpRows& each : op_rows) {
    columns_.add("op.row_" + each.grouping, each.row_of_op, Delta::yes);
  }
}

void Columns::add_edges() {
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

void Columns::add_flows(Json& head) {
  const bool too_many = profile_.flows.size() > limits_.max_flows;
  head["flows_left_out"] = too_many ? profile_.flows.size() : 0;
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

Json Columns::counters() {
  const Counters& counters = profile_.counters;
  std::vector<std::vector<std::uint32_t>> samples(counters.series.size());
  for (std::uint32_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] < samples.size()) samples[counters.of[i]].push_back(i);
  }
  Json list = Json::array();
  Values times;
  std::vector<double> values;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const CounterSeries& series = counters.series[i];
    sort_rows(samples[i], {}, [&](std::uint32_t at) { return counters.time[at]; });
    list.push_back({{"name", profile_.text(series.name)},
                    {"part", profile_.text(series.part)},
                    {"quantity", profile_.text(series.quantity)},
                    {"unit", place_or_none(index_of(series.unit), profile_.units.size())},
                    {"first_sample", times.size()},
                    {"samples", samples[i].size()}});
    for (const std::uint32_t at : samples[i]) {
      times.push_back(since_begin(counters.time[at]));
      values.push_back(counters.value[at]);
    }
  }
  columns_.add("counter.time", times, Delta::yes);
  columns_.add_numbers("counter.value", values);
  return list;
}

Json Columns::bandwidth() const {
  const BandwidthSeries series = analysis_.bandwidth(limits_.max_buckets);
  Json routes = Json::array();
  for (const Route route : {Route::ddr_read, Route::ddr_write}) {
    const auto& bytes = series.bytes[std::size_t(route)];
    if (!bytes.empty()) routes.push_back({{"name", name_of(route)}, {"bytes", bytes}});
  }
  if (routes.empty()) return nullptr;
  return {{"begin", since_begin(series.timeline.begin)},
          {"width", series.width},
          {"routes", std::move(routes)}};
}

void Columns::add_findings(const std::vector<FindingPlace>& places) {
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

ProfileColumns Columns::make(const std::vector<OpRows>& op_rows,
                             const std::vector<FindingPlace>& places) {
  find_extent();
  Json head = Json::object();
  head["begin"] = std::to_string(extent_.begin);
  head["length"] = length_of(extent_);
  const Coarse& coarse = analysis_.coarse();
  head["timeline_begin"] = coarse.wall > 0 ? since_begin(coarse.timeline.begin) : 0;
  head["timeline_length"] = coarse.wall > 0 ? coarse.wall : length_of(extent_);
  head["span_total"] = profile_.spans.size();
  head["merged_spans"] = placed_.merged;
  head["merge_ticks"] = placed_.merge_ticks;
  head["kinds"] = names_of<SpanKind>();
  Json reasons = Json::array();
  for (std::size_t i = 0; i < reason_count; ++i) reasons.push_back(name_of(Reason(i)));
  head["reasons"] = std::move(reasons);
  add_spans();
  add_ops(op_rows);
  head["strings"] = texts_.list();
  head["units"] = units();
  add_edges();
  add_flows(head);
  head["counters"] = counters();
  head["bandwidth"] = bandwidth();
  add_findings(places);
  add_path_columns(analysis_, placed_, extent_.begin, limits_.max_path_nodes, head, columns_);
  head["columns"] = columns_.heads();
  return {std::move(head), columns_.bytes()};
}

}  // namespace

ProfileColumns profile_columns(const Analysis& analysis, const std::vector<OpRows>& op_rows,
                               const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                               std::size_t first_offset) {
  return Columns(analysis, limits, first_offset).make(op_rows, places);
}

}  // namespace npuscope::report
