// Change points of ops along the values of a column or tag.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "fleet/questions/changes.hpp"
#include "fleet/questions/statistics.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet {
namespace {

// One op's samples in the order of the runs' places.
struct Series {
  Id op = 0;
  std::vector<double> values;
  std::vector<std::size_t> places;
};

// A stretch of a series that is looked at for one change.
struct SeriesPart {
  std::size_t series = 0, begin = 0, end = 0;
  std::optional<ChangePoint> found = {};
  double q = 1;
};

double median_between(const Series& series, std::size_t begin, std::size_t end) {
  return analysis::median_of(
      {series.values.begin() + std::ptrdiff_t(begin), series.values.begin() + std::ptrdiff_t(end)});
}

class PointSearch {
 public:
  PointSearch(const std::vector<Series>& series, const ChangeRequest& request)
      : series_(series), request_(request) {}

  // Each round tests the stretches between the changes of the round before, all ops together.
  std::vector<SeriesPart> run() {
    std::vector<SeriesPart> open, changes;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      open.push_back({i, 0, series_[i].values.size()});
    }
    while (!open.empty()) {
      test(open);
      std::vector<SeriesPart> next;
      for (const SeriesPart& each : open) {
        if (!each.found || each.q > request_.max_q || !matters(each)) continue;
        changes.push_back(each);
        next.push_back({each.series, each.begin, each.begin + each.found->at});
        next.push_back({each.series, each.begin + each.found->at, each.end});
      }
      open = std::move(next);
    }
    return changes;
  }

 private:
  void test(std::vector<SeriesPart>& open) const {
    std::vector<double> p;
    for (SeriesPart& each : open) {
      const Series& of = series_[each.series];
      const auto from = std::ptrdiff_t(each.begin), to = std::ptrdiff_t(each.end);
      each.found = change_point({of.values.begin() + from, of.values.begin() + to},
                                {of.places.begin() + from, of.places.begin() + to});
      p.push_back(each.found ? each.found->p : 1);
    }
    const std::vector<double> q = q_values(p);
    for (std::size_t i = 0; i < open.size(); ++i) open[i].q = q[i];
  }

  bool matters(const SeriesPart& each) const {
    const Series& of = series_[each.series];
    const double before = median_between(of, each.begin, each.begin + each.found->at);
    const double after = median_between(of, each.begin + each.found->at, each.end);
    return before > 0 && std::abs(after / before - 1) >= request_.min_change;
  }

  const std::vector<Series>& series_;
  const ChangeRequest& request_;
};

// The runs' places: their values of the column in order.
struct Order {
  std::map<Id, std::size_t> place_of;  // by run
  std::vector<Value> values;           // by place
};

Result<Order> order_of_runs(Store& store, const ChosenRuns& runs) {
  const std::string& along = runs.groups();
  TRY_AS(rows, answer_of(store, 2,
                         fmt::format("SELECT run, {} FROM {} WHERE {} IS NOT NULL "
                                     "ORDER BY {}, run",
                                     along, runs.sql(), along, along)));
  Order order;
  for (const AnswerRow& row : *rows) {
    if (order.values.empty() || order.values.back() != row[1]) order.values.push_back(row[1]);
    order.place_of[integer_at(row, 0)] = order.values.size() - 1;
  }
  return order;
}

std::vector<Series> series_of(const RunMedians& medians, const Order& order) {
  std::vector<Series> all;
  for (const auto& [op, samples] : medians.ops) {
    std::vector<std::pair<std::size_t, double>> placed;
    for (const RunMedian& sample : samples) {
      const auto found = order.place_of.find(sample.run);
      if (found != order.place_of.end()) placed.emplace_back(found->second, sample.value);
    }
    sort_rows(placed.begin(), placed.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    Series series{op, {}, {}};
    for (const auto& [place, value] : placed) {
      series.places.push_back(place);
      series.values.push_back(value);
    }
    all.push_back(std::move(series));
  }
  return all;
}

// Levels are those between a change and its neighbours.
std::vector<PointOfOp> points_of(std::vector<SeriesPart> changes, const std::vector<Series>& all,
                                 const RunMedians& medians, const Order& order) {
  std::map<std::size_t, std::vector<std::size_t>> cuts;  // of each series
  for (const SeriesPart& each : changes) cuts[each.series].push_back(each.begin + each.found->at);
  for (auto& [series, list] : cuts) {
    list.insert(list.end(), {0, all[series].values.size()});
    std::sort(list.begin(), list.end());
  }
  std::vector<PointOfOp> points;
  for (const SeriesPart& each : changes) {
    const Series& of = all[each.series];
    const std::size_t at = each.begin + each.found->at;
    const auto cut = std::lower_bound(cuts[each.series].begin(), cuts[each.series].end(), at);
    PointOfOp point;
    point.op = of.op;
    const auto name = medians.names.find(of.op);
    if (name != medians.names.end()) point.name = name->second.name, point.kind = name->second.kind;
    point.last_before = order.values[of.places[at - 1]];
    point.first_after = order.values[of.places[at]];
    point.runs_before = at - *std::prev(cut);
    point.runs_after = *std::next(cut) - at;
    point.before = median_between(of, *std::prev(cut), at);
    point.after = median_between(of, at, *std::next(cut));
    point.p = each.found->p;
    point.q = each.q;
    points.push_back(std::move(point));
  }
  sort_rows(points.begin(), points.end(), [](const PointOfOp& a, const PointOfOp& b) {
    return std::abs(a.after - a.before) > std::abs(b.after - b.before);
  });
  return points;
}

}  // namespace

Result<ChangePoints> change_points(Store& store, const Choice& choice, const std::string& along,
                                   const ChangeRequest& request) {
  const auto runs = ChosenRuns::of(store, {choice.where, {along}});
  if (!runs) return tl::unexpected(runs.error());
  if (runs->runs() == 0) return usage_error("no run is chosen; see what there is with fleet ls");
  TRY_AS(clock, common_clock(store, *runs));
  TRY_AS(warm, has_warm_ops(store, *runs, request.measure));
  TRY_AS(order, order_of_runs(store, *runs));
  TRY_AS(medians, run_medians(store, *runs, *clock, request.measure, !*warm));
  ChangePoints answer;
  answer.along = along;
  answer.clock = *clock;
  answer.runs = order->place_of.size(), answer.places = order->values.size();
  answer.ops = medians->ops.size() - medians->ops.contains(0);
  answer.remarks = runs->remarks();
  if (!*warm) answer.remarks.push_back("all inferences are cold");
  if (order->place_of.size() < runs->runs()) {
    answer.remarks.push_back(
        fmt::format("{} no {}; left out",
                    counted(runs->runs() - order->place_of.size(), "run has", "runs have"), along));
  }
  const std::vector<Series> all = series_of(*medians, *order);
  answer.rows = points_of(PointSearch(all, request).run(), all, *medians, *order);
  return answer;
}

}  // namespace npuscope::fleet
