#include "fleet/questions/run_medians.hpp"

#include <algorithm>

namespace npuscope::fleet {

Result<RunMedians> run_medians(Store& store, const ChosenRuns& runs, const CommonClock& clock,
                               const std::string& measure, bool cold) {
  RunMedians medians;
  medians.cold_only = cold;
  const auto take = [&](const std::string& sql) -> Status {
    const auto rows = answer_of(store, 3, sql);
    if (!rows) return tl::unexpected(rows.error());
    for (const AnswerRow& row : *rows) {
      if (const auto value = number_at(row, 2)) {
        medians.ops[integer_at(row, 0)].push_back({integer_at(row, 1), *value});
      }
    }
    return {};
  };
  Status done = take(fmt::format(
      "SELECT op, run, {} FROM {} GROUP BY op, run", store.percentile(clock.value_of(measure), 50),
      runs.facts("op_runs", fmt::format("cold = {} AND {} IS NOT NULL", int(cold), measure))));
  if (done) {
    done = take(fmt::format(
        "SELECT 0, run, {} FROM {} GROUP BY run", store.percentile(clock.value_of("wall"), 50),
        runs.facts("inferences", fmt::format("cold = {} AND wall IS NOT NULL", int(cold)))));
  }
  if (!done) return tl::unexpected(done.error());
  for (auto& [op, of_runs] : medians.ops) {
    std::sort(of_runs.begin(), of_runs.end(),
              [](const RunMedian& a, const RunMedian& b) { return a.run < b.run; });
  }
  const auto names = answer_of(store, 3, "SELECT id, name, kind FROM ops");
  if (!names) return tl::unexpected(names.error());
  for (const AnswerRow& row : *names) {
    if (medians.ops.contains(integer_at(row, 0))) {
      medians.names[integer_at(row, 0)] = {text_at(row, 1), text_at(row, 2)};
    }
  }
  return medians;
}

Result<bool> has_warm_ops(Store& store, const ChosenRuns& runs, const std::string& measure) {
  // One row tells, so the store need not look at all of them.
  for (const char* condition : {"cold = 0 AND ", ""}) {
    const auto rows = answer_of(
        store, 1,
        fmt::format("SELECT op FROM {} LIMIT 1",
                    runs.facts("op_runs", fmt::format("{}{} IS NOT NULL", condition, measure))));
    if (!rows) return tl::unexpected(rows.error());
    if (!rows->empty()) return condition[0] != '\0';
  }
  return usage_error("none of {} chosen runs has {} of ops; fleet latency may have something",
                     runs.runs(), measure);
}

}  // namespace npuscope::fleet
