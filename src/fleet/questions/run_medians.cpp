#include "fleet/questions/run_medians.hpp"

namespace npuscope::fleet {

Result<RunMedians> run_medians(Store& store, const ChosenRuns& runs, const CommonClock& clock,
                               const std::string& measure, bool cold) {
  RunMedians medians;
  medians.cold_only = cold;
  const auto take = [&](const std::string& sql) -> Status {
    const auto rows = answer_of(store, sql);
    if (!rows) return tl::unexpected(rows.error());
    for (const AnswerRow& row : *rows) {
      if (const auto value = number_at(row, 2)) {
        medians.ops[integer_at(row, 0)].push_back({integer_at(row, 1), *value});
      }
    }
    return {};
  };
  Status done = take(fmt::format(
      "SELECT op, run, {} FROM op_runs JOIN {} USING (run) WHERE cold = {} AND {} IS NOT NULL "
      "GROUP BY op, run",
      store.percentile(clock.value_of(measure), 50), runs.sql(), int(cold), measure));
  if (done) {
    done =
        take(fmt::format("SELECT 0, run, {} FROM inferences JOIN {} USING (run) WHERE cold = {} "
                         "AND wall IS NOT NULL "
                         "GROUP BY run",
                         store.percentile(clock.value_of("wall"), 50), runs.sql(), int(cold)));
  }
  if (!done) return tl::unexpected(done.error());
  const auto names = answer_of(store, "SELECT id, name, kind FROM ops");
  if (!names) return tl::unexpected(names.error());
  for (const AnswerRow& row : *names) {
    if (medians.ops.contains(integer_at(row, 0))) {
      medians.names[integer_at(row, 0)] = {text_at(row, 1), text_at(row, 2)};
    }
  }
  return medians;
}

Result<bool> has_warm_ops(Store& store, const ChosenRuns& runs, const std::string& measure) {
  const auto rows = answer_of(
      store, fmt::format("SELECT sum(CASE WHEN cold = 0 THEN 1 ELSE 0 END), count(*) FROM op_runs "
                         "JOIN {} USING (run) WHERE {} IS NOT NULL",
                         runs.sql(), measure));
  if (!rows) return tl::unexpected(rows.error());
  if (integer_at((*rows)[0], 1) == 0) {
    return usage_error("none of {} chosen runs has {} of ops; fleet latency may have something",
                       runs.runs(), measure);
  }
  return integer_at((*rows)[0], 0) > 0;
}

}  // namespace npuscope::fleet
