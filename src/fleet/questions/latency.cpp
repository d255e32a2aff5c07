#include "fleet/questions/latency.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::fleet {
namespace {

class Asking {
 public:
  Asking(Store& store, const ChosenRuns& runs) : store_(store), runs_(runs) {}

  Result<FleetLatency> ask(const LatencyRequest& request);

 private:
  // Of inferences with a value, cold or warm.
  std::string from(bool cold) const {
    return "FROM " + runs_.facts("inferences", fmt::format("cold = {} AND {} IS NOT NULL",
                                                           int(cold), answer_.measure));
  }
  std::string grouped(const char* more = "") const {
    const std::string groups = runs_.groups() + more;
    return groups.empty() ? "" : " GROUP BY " + groups;
  }
  Status find_measure(const LatencyRequest& request);
  Status ask_groups(bool cold);
  Status ask_cold();
  Status ask_clock();
  Status ask_median_runs();
  LatencyGroup* group_of(const AnswerRow& row);

  Store& store_;
  const ChosenRuns& runs_;
  FleetLatency answer_;
};

Status Asking::find_measure(const LatencyRequest& request) {
  std::string counts;
  for (const std::string& measure : latency_measures()) {
    counts +=
        fmt::format("{}count({}), count(DISTINCT CASE WHEN {} IS NULL THEN NULL ELSE run END)",
                    counts.empty() ? "" : ", ", measure, measure);
  }
  TRY_AS(row, row_of(store_, 2 * latency_measures().size(),
                     fmt::format("SELECT {} FROM {}", counts, runs_.facts("inferences"))));
  std::uint64_t with = 0;
  for (std::size_t i = 0; i < latency_measures().size(); ++i) {
    const bool is_wanted = request.measure.empty() || request.measure == latency_measures()[i];
    const auto have = std::uint64_t(integer_at(*row, 2 * i + 1));
    if (!is_wanted || have <= with) continue;
    answer_.measure = latency_measures()[i];
    answer_.in_ticks = answer_.measure == "wall";
    with = have;
  }
  if (with > 0) {
    if (with < runs_.runs()) {
      answer_.remarks.push_back(fmt::format("{} of {} runs have no {}",
                                            thousands(runs_.runs() - with), thousands(runs_.runs()),
                                            answer_.measure));
    }
    return {};
  }
  if (runs_.runs() == 0) return usage_error("no run is chosen; see what there is with fleet ls");
  return usage_error("none of {} chosen runs has {}; fleet ops and findings may have something",
                     runs_.runs(),
                     request.measure.empty() ? "a latency or a timeline" : request.measure);
}

Status Asking::ask_groups(bool cold) {
  const auto p = store_.percentiles(answer_.measure, {50, 90, 99});
  const std::size_t at = runs_.by().size();
  TRY_AS(rows,
         answer_of(store_, at + 7,
                   fmt::format(
                       "SELECT {}count(DISTINCT run), count(*), {}, {}, {}, min({}), max({}) {}{}",
                       runs_.groups_and(), p[0], p[1], p[2], answer_.measure, answer_.measure,
                       from(cold), grouped())));
  for (const AnswerRow& row : *rows) {
    LatencyGroup group;
    group.by = first_of(row, at);
    group.runs = std::uint64_t(integer_at(row, at));
    group.inferences = std::uint64_t(integer_at(row, at + 1));
    if (group.inferences == 0) continue;
    double* const into[] = {&group.p50, &group.p90, &group.p99, &group.min, &group.max};
    for (std::size_t i = 0; i < std::size(into); ++i) {
      *into[i] = number_at(row, at + 2 + i).value_or(0);
    }
    answer_.groups.push_back(std::move(group));
  }
  sort_rows(answer_.groups.begin(), answer_.groups.end(),
            [](const LatencyGroup& a, const LatencyGroup& b) {
              return a.p50 != b.p50 ? a.p50 > b.p50 : a.by < b.by;
            });
  return {};
}

LatencyGroup* Asking::group_of(const AnswerRow& row) {
  const auto by = first_of(row, runs_.by().size());
  const auto found = std::find_if(answer_.groups.begin(), answer_.groups.end(),
                                  [&](const LatencyGroup& group) { return group.by == by; });
  return found == answer_.groups.end() ? nullptr : &*found;
}

Status Asking::ask_cold() {
  const auto p = store_.percentiles(answer_.measure, {50, 90});
  const std::size_t at = runs_.by().size();
  TRY_AS(rows, answer_of(store_, at + 3,
                         fmt::format("SELECT {}count(*), {}, {} {}{}", runs_.groups_and(), p[0],
                                     p[1], from(true), grouped())));
  for (const AnswerRow& row : *rows) {
    LatencyGroup* group = group_of(row);
    if (group == nullptr) continue;
    group->cold_inferences = std::uint64_t(integer_at(row, at));
    group->cold_p50 = number_at(row, at + 1);
    group->cold_p90 = number_at(row, at + 2);
  }
  return {};
}

Status Asking::ask_clock() {
  TRY_AS(rows, answer_of(store_, runs_.by().size() + 1,
                         fmt::format("SELECT {}{} {}{}", runs_.groups_and(),
                                     store_.percentile("clock_hertz", 50), from(answer_.cold_only),
                                     grouped())));
  for (const AnswerRow& row : *rows) {
    if (LatencyGroup* group = group_of(row)) group->clock_hertz = number_at(row, runs_.by().size());
  }
  return {};
}

// The run whose own median is nearest the group's; of several the one with the least id.
Status Asking::ask_median_runs() {
  const std::size_t at = runs_.by().size();
  TRY_AS(rows, answer_of(store_, at + 2,
                         fmt::format("SELECT {}run, {} {} GROUP BY {}run", runs_.groups_and(),
                                     store_.percentile(answer_.measure, 50),
                                     from(answer_.cold_only), runs_.groups_and())));
  std::map<LatencyGroup*, std::pair<double, Id>> nearest;
  for (const AnswerRow& row : *rows) {
    LatencyGroup* group = group_of(row);
    const auto median = number_at(row, at + 1);
    if (group == nullptr || !median) continue;
    const std::pair candidate{std::abs(*median - group->p50), integer_at(row, at)};
    const auto [found, is_new] = nearest.try_emplace(group, candidate);
    if (!is_new) found->second = std::min(found->second, candidate);
  }
  std::vector<Id> ids;
  for (const auto& [group, found] : nearest) ids.push_back(found.second);
  TRY_AS(files, files_of(store_, ids));
  for (const auto& [group, found] : nearest) {
    for (const MedianRun& run : *files) {
      if (run.run == found.second) group->median_run = run;
    }
  }
  return {};
}

Result<FleetLatency> Asking::ask(const LatencyRequest& request) {
  answer_.by = runs_.by();
  answer_.runs = runs_.runs();
  answer_.remarks = runs_.remarks();
  Status done = find_measure(request);
  if (done && answer_.in_ticks) {
    TRY(common_clock(store_, runs_));
  }
  if (done) done = ask_groups(false);
  if (done && answer_.groups.empty()) {
    answer_.cold_only = true;
    answer_.remarks.push_back("all inferences are cold");
    done = ask_groups(true);
  }
  if (done && !answer_.cold_only) done = ask_cold();
  if (done) done = ask_clock();
  if (done) done = ask_median_runs();
  if (!done) return tl::unexpected(done.error());
  return std::move(answer_);
}

}  // namespace

const std::vector<std::string>& latency_measures() {
  static const std::vector<std::string> names{"latency_seconds", "device_latency_seconds",
                                              "wall_seconds", "wall"};
  return names;
}

Result<std::vector<MedianRun>> files_of(Store& store, const std::vector<Id>& runs) {
  std::vector<MedianRun> files;
  if (runs.empty()) return files;
  TRY_AS(rows, answer_of(store, 2,
                         fmt::format("SELECT id, files FROM runs WHERE id IN ({})",
                                     fmt::join(runs, ", "))));
  for (const AnswerRow& row : *rows) files.push_back({integer_at(row, 0), text_at(row, 1)});
  return files;
}

Result<FleetLatency> latency_of(Store& store, const Choice& choice, const LatencyRequest& request) {
  TRY_AS(runs, ChosenRuns::of(store, choice));
  return Asking(store, *runs).ask(request);
}

}  // namespace npuscope::fleet
