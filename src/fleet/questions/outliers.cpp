#include "fleet/questions/outliers.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "fleet/questions/statistics.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet {
namespace {

// Robust distances of normal samples exceed 5 once in 1.7 million, 3.5 once in 2,100: a fleet has
// thousands of runs.
constexpr double limit = 5;
constexpr double min_slowness = 0.01;  // less does not matter, however unlikely it is
constexpr double explains = 0.5;       // of the slowness

struct OneRun {
  Id run = 0;
  std::vector<Value> by;
  std::string model, graph;
  double value = 0;
  std::optional<double> clock, work, movement, idle, bytes;  // medians over inferences
  std::optional<double> hertz;                               // of the ticks
  double relative = 1;                                       // to the runs of its model
};

using Member = std::optional<double> OneRun::*;

double median_by(const std::vector<const OneRun*>& runs, auto value) {
  std::vector<double> values;
  for (const OneRun* run : runs) values.push_back(value(*run));
  return analysis::median_of(std::move(values));
}

std::optional<double> median_of_known(const std::vector<const OneRun*>& runs, Member member) {
  std::vector<double> values;
  for (const OneRun* run : runs) {
    if (run->*member) values.push_back(*(run->*member));
  }
  if (2 * values.size() <= runs.size()) return std::nullopt;
  return analysis::median_of(std::move(values));
}

std::string most_common_graph(const std::vector<const OneRun*>& runs) {
  std::map<std::string, std::size_t> counts;
  for (const OneRun* run : runs) counts[run->graph] += 1;
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// The runs of one model, and what is usual for them.
struct Model {
  std::vector<const OneRun*> runs;
  std::string graph;
  double value = 0;
  std::optional<double> clock, work, movement, idle, bytes;
};

class Comparing {
 public:
  Comparing(std::vector<OneRun> runs, FleetOutliers& answer)
      : runs_(std::move(runs)), answer_(answer) {}

  // What each run's latency is to the median of its group.
  std::unordered_map<Id, double> run() {
    for (OneRun& run : runs_) models_[run.model].runs.push_back(&run);
    for (auto& [name, model] : models_) describe(model);
    for (OneRun& run : runs_) {
      const double usual = models_[run.model].value;
      run.relative = usual > 0 ? run.value / usual : 1;
    }
    std::map<std::vector<Value>, std::vector<const OneRun*>> groups;
    for (const OneRun& run : runs_) groups[run.by].push_back(&run);
    for (const auto& [by, of] : groups) answer_.groups.push_back(group_of(by, of));
    judge_groups();
    return judge_runs(groups);
  }

 private:
  static void describe(Model& model) {
    model.graph = most_common_graph(model.runs);
    model.value = median_by(model.runs, [](const OneRun& run) { return run.value; });
    model.clock = median_of_known(model.runs, &OneRun::clock);
    model.work = median_of_known(model.runs, &OneRun::work);
    model.movement = median_of_known(model.runs, &OneRun::movement);
    model.idle = median_of_known(model.runs, &OneRun::idle);
    model.bytes = median_of_known(model.runs, &OneRun::bytes);
  }

  std::optional<double> relative_of(const std::vector<const OneRun*>& of, Member member,
                                    std::optional<double> Model::*usual) {
    std::vector<double> values;
    for (const OneRun* run : of) {
      const auto& common = models_[run->model].*usual;
      if (run->*member && common && *common > 0) values.push_back(*(run->*member) / *common);
    }
    if (2 * values.size() <= of.size()) return std::nullopt;
    return analysis::median_of(std::move(values));
  }

  SlowGroup group_of(const std::vector<Value>& by, const std::vector<const OneRun*>& of) {
    SlowGroup group;
    group.by = by;
    group.runs = of.size();
    group.relative = median_by(of, [](const OneRun& run) { return run.relative; });
    group.clock = relative_of(of, &OneRun::clock, &Model::clock);
    group.work = relative_of(of, &OneRun::work, &Model::work);
    group.movement = relative_of(of, &OneRun::movement, &Model::movement);
    group.idle = relative_of(of, &OneRun::idle, &Model::idle);
    group.bytes = relative_of(of, &OneRun::bytes, &Model::bytes);
    for (const OneRun* run : of) group.other_graph += run->graph != models_[run->model].graph;
    group.other_graph /= double(of.size());
    const OneRun* const median = *std::min_element(of.begin(), of.end(), [&](auto* a, auto* b) {
      return std::abs(a->relative - group.relative) < std::abs(b->relative - group.relative);
    });
    group.median_run.run = median->run;
    return group;
  }

  void judge_groups() {
    std::vector<double> values;
    for (const SlowGroup& group : answer_.groups) values.push_back(group.relative);
    const auto distances = robust_distances(values);
    for (std::size_t i = 0; i < answer_.groups.size(); ++i) {
      SlowGroup& group = answer_.groups[i];
      group.distance = distances ? (*distances)[i] : 0;
      group.is_outlier = group.distance > limit && group.relative > 1 + min_slowness;
      if (group.is_outlier) group.reason = reason_of(group);
    }
    sort_rows(answer_.groups.begin(), answer_.groups.end(),
              [](const SlowGroup& a, const SlowGroup& b) { return a.relative > b.relative; });
  }

  // By how much it is slower, and how much of that the clock alone would cost.
  static SlowReason reason_of(const SlowGroup& group) {
    const double slowness = std::log(group.relative);
    const auto does_explain = [&](const std::optional<double>& factor) {
      return factor && *factor > 0 && std::log(*factor) / slowness >= explains;
    };
    if (group.other_graph > 0.5) return SlowReason::graph;
    if (group.clock && *group.clock > 0 && does_explain(1 / *group.clock)) return SlowReason::clock;
    if (does_explain(group.work)) return SlowReason::work;
    if (does_explain(group.movement) || does_explain(group.idle)) return SlowReason::memory;
    return SlowReason::unknown;
  }

  std::unordered_map<Id, double> judge_runs(
      const std::map<std::vector<Value>, std::vector<const OneRun*>>& groups) {
    for (const auto& [by, of] : groups) {
      const double usual = median_by(of, [](const OneRun& run) { return run.relative; });
      for (const OneRun* run : of) {
        answer_.rows.push_back(
            {run->run, by, run->value, usual > 0 ? run->relative / usual : 1, 0, ""});
      }
    }
    std::vector<double> values;
    std::unordered_map<Id, double> relative;
    for (const OutlierRun& run : answer_.rows) {
      values.push_back(run.relative);
      relative.emplace(run.run, run.relative);
    }
    const auto distances = robust_distances(values);
    for (std::size_t i = 0; i < answer_.rows.size(); ++i) {
      answer_.rows[i].distance = distances ? (*distances)[i] : 0;
    }
    std::erase_if(answer_.rows, [](const OutlierRun& run) {
      return !(std::abs(run.distance) > limit) || !(std::abs(run.relative - 1) > min_slowness);
    });
    sort_rows(answer_.rows.begin(), answer_.rows.end(),
              [](const OutlierRun& a, const OutlierRun& b) {
                return std::abs(a.distance) > std::abs(b.distance);
              });
    return relative;
  }

  std::vector<OneRun> runs_;
  FleetOutliers& answer_;
  std::map<std::string, Model> models_;
};

std::string statement(Store& store, const ChosenRuns& runs, const std::string& measure, bool cold) {
  return fmt::format(
      "SELECT {}run, model, graph, {}, {}, {}, {}, max(hertz) FROM {} "
      "GROUP BY {}run, model, graph ORDER BY run",
      runs.groups_and(), store.percentile(measure, 50), store.percentile("clock_hertz", 50),
      store.percentile("(wall - active) / hertz", 50),
      store.percentile("ddr_read_bytes + ddr_write_bytes", 50),
      runs.facts("inferences", fmt::format("cold = {} AND {} IS NOT NULL", int(cold), measure)),
      runs.groups_and());
}

std::string text_of(const Value& value) {
  struct Text {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Text{}, value);
}

// The first `by` columns are what rows are of, the others up to `groups` what runs are compared
// within.
Result<std::vector<OneRun>> runs_of(Store& store, const std::string& sql, std::size_t by,
                                    std::size_t groups) {
  TRY_AS(rows, answer_of(store, groups + 8, sql));
  std::vector<OneRun> runs;
  for (const AnswerRow& row : *rows) {
    OneRun run;
    run.by = {row.begin(), row.begin() + std::ptrdiff_t(by)};
    run.run = integer_at(row, groups);
    run.model = text_at(row, groups + 1);
    for (std::size_t i = by; i < groups; ++i) run.model += "\n" + text_of(row[i]);
    run.graph = text_at(row, groups + 2);
    run.value = number_at(row, groups + 3).value_or(0);
    run.clock = number_at(row, groups + 4);
    run.idle = number_at(row, groups + 5);
    run.bytes = number_at(row, groups + 6);
    run.hertz = number_at(row, groups + 7);
    runs.push_back(std::move(run));
  }
  return runs;
}

// What the units of some engines worked in an inference, in ticks, by run.
Result<std::map<Id, double>> work_of(Store& store, const ChosenRuns& runs, const char* engines,
                                     bool cold) {
  const auto units =
      answer_of(store, 1, fmt::format("SELECT id FROM units WHERE engine {} ORDER BY id", engines));
  if (!units) return tl::unexpected(units.error());
  std::map<Id, double> work;
  std::vector<Id> ids;
  for (const AnswerRow& row : *units) ids.push_back(integer_at(row, 0));
  if (ids.empty()) return work;
  const std::string condition =
      fmt::format("cold = {} AND unit IN ({})", int(cold), fmt::join(ids, ", "));
  TRY_AS(rows,
         answer_of(
             store, 2,
             fmt::format("SELECT run, {} FROM (SELECT run, inference, sum(work) AS worked FROM {} "
                         "GROUP BY run, inference) AS each GROUP BY run",
                         store.percentile("worked", 50), runs.facts("unit_runs", condition))));
  for (const AnswerRow& row : *rows) work[integer_at(row, 0)] = number_at(row, 1).value_or(0);
  return work;
}

// Computing in cycles of the cores where their clock is known, so that it is not more because that
// is slower; transfers in time.
Status add_work(Store& store, const ChosenRuns& runs, bool cold, std::vector<OneRun>& each) {
  const auto computing =
      work_of(store, runs, "IN ('hvx', 'hmx', 'compute', 'core', 'thread', 'process')", cold);
  const auto moving = work_of(store, runs, "= 'dma'", cold);
  if (!computing || !moving) return tl::unexpected(computing ? moving.error() : computing.error());
  for (OneRun& run : each) {
    const auto found = computing->find(run.run), moved = moving->find(run.run);
    if (found != computing->end()) {
      run.work = found->second * (run.clock && run.hertz ? *run.clock / *run.hertz : 1);
    }
    if (moved != moving->end() && run.hertz) run.movement = moved->second / *run.hertz;
  }
  return {};
}

}  // namespace

const char* name_of(SlowReason reason) {
  constexpr const char* names[] = {"", "another graph", "clock", "work", "memory", "unknown"};
  return names[std::size_t(reason)];
}

Result<FleetOutliers> outliers_of(Store& store, Choice choice, const OutlierRequest& request) {
  if (choice.by.empty()) choice.by = {"device"};
  // What is measured, and of which inferences, as fleet latency has it.
  const auto latency = latency_of(store, {choice.where, {}}, request);
  if (!latency) return tl::unexpected(latency.error());
  const std::size_t by = choice.by.size();
  choice.by.insert(choice.by.end(), request.within.begin(), request.within.end());
  TRY_AS(runs, ChosenRuns::of(store, choice));
  FleetOutliers answer;
  answer.by = {runs->by().begin(), runs->by().begin() + std::ptrdiff_t(by)};
  answer.measure = latency->measure;
  answer.in_ticks = latency->in_ticks;
  answer.runs = runs->runs();
  answer.limit = limit;
  answer.remarks = latency->remarks;
  auto each = runs_of(store, statement(store, *runs, answer.measure, latency->cold_only), by,
                      runs->by().size());
  if (!each) return tl::unexpected(each.error());
  TRY(add_work(store, *runs, latency->cold_only, *each));
  const auto relative = Comparing(std::move(*each), answer).run();
  TRY_AS(influential, influential_tags(store, relative, choice.by));
  for (const InfluentialTag& tag : *influential) {
    answer.remarks.push_back(fmt::format(
        "{0} explains {1:.0f} % of how runs of one {2} differ (the slowest {0} takes {3:.1f} % "
        "longer than the fastest); compare within it: --within {0}",
        tag.key, 100 * tag.share, fmt::join(answer.by, " and "), 100 * (tag.slowest - 1)));
  }
  std::vector<Id> ids;
  for (const OutlierRun& run : answer.rows) ids.push_back(run.run);
  for (const SlowGroup& group : answer.groups) ids.push_back(group.median_run.run);
  TRY_AS(files, files_of(store, ids));
  for (const MedianRun& of : *files) {
    for (OutlierRun& run : answer.rows) {
      if (run.run == of.run) run.files = of.files;
    }
    for (SlowGroup& group : answer.groups) {
      if (group.median_run.run == of.run) group.median_run = of;
    }
  }
  return answer;
}

}  // namespace npuscope::fleet
