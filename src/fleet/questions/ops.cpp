#include "fleet/questions/ops.hpp"

#include <algorithm>
#include <map>

#include "fleet/questions/run_medians.hpp"

namespace npuscope::fleet {
namespace {

std::string statement(Store& store, const ChosenRuns& runs, const FleetOps& answer) {
  const std::string value = answer.clock.value_of(answer.measure);
  const auto p50 = [&](const char* column) {
    return store.percentile(answer.clock.value_of(column), 50);
  };
  const std::string group = runs.groups_and() + "op";
  return fmt::format(
      "SELECT {}op, name, kind, runs, inferences, p50, p95, total, active, waiting, path, bytes "
      "FROM (SELECT {}, count(DISTINCT run) AS runs, count(*) AS inferences, {} AS p50, {} AS p95, "
      "sum({}) AS total, {} AS active, {} AS waiting, {} AS path, {} AS bytes FROM op_runs "
      "JOIN {} USING (run) WHERE cold = {} AND {} IS NOT NULL GROUP BY {}) "
      "JOIN (SELECT id AS op, name, kind FROM ops) USING (op) ORDER BY total DESC, name, kind",
      runs.groups_and(), group, store.percentile(value, 50), store.percentile(value, 95), value,
      p50("active"), p50("waiting"), p50("dominant_path"),
      store.percentile("ddr_read_bytes + ddr_write_bytes", 50), runs.sql(), int(answer.cold_only),
      answer.measure, group);
}

FleetOp op_of(const AnswerRow& row, std::size_t groups) {
  FleetOp op;
  op.by = {row.begin(), row.begin() + std::ptrdiff_t(groups)};
  op.op = integer_at(row, groups);
  op.name = text_at(row, groups + 1);
  op.kind = text_at(row, groups + 2);
  op.runs = std::uint64_t(integer_at(row, groups + 3));
  op.inferences = std::uint64_t(integer_at(row, groups + 4));
  op.p50 = number_at(row, groups + 5).value_or(0);
  op.p95 = number_at(row, groups + 6).value_or(0);
  op.total = number_at(row, groups + 7).value_or(0);
  op.active_p50 = number_at(row, groups + 8);
  op.waiting_p50 = number_at(row, groups + 9);
  op.path_p50 = number_at(row, groups + 10);
  op.ddr_bytes_p50 = number_at(row, groups + 11);
  return op;
}

}  // namespace

const std::vector<std::string>& op_measures() {
  static const std::vector<std::string> names{"work", "active", "waiting", "dominant_path"};
  return names;
}

Result<FleetOps> ops_of(Store& store, const Choice& choice, const OpsRequest& request) {
  const auto runs = ChosenRuns::of(store, choice);
  if (!runs) return tl::unexpected(runs.error());
  if (runs->runs() == 0) return usage_error("no run is chosen; see what there is with fleet ls");
  const auto clock = common_clock(store, *runs);
  if (!clock) return tl::unexpected(clock.error());
  FleetOps answer;
  answer.by = runs->by();
  answer.measure = request.measure;
  answer.clock = *clock;
  answer.runs = runs->runs();
  answer.remarks = runs->remarks();
  const auto warm = has_warm_ops(store, *runs, request.measure);
  if (!warm) return tl::unexpected(warm.error());
  answer.cold_only = !*warm;
  if (answer.cold_only) answer.remarks.push_back("all inferences are cold");
  const auto rows = answer_of(store, statement(store, *runs, answer));
  if (!rows) return tl::unexpected(rows.error());
  std::map<std::vector<Value>, double> totals;
  for (const AnswerRow& row : *rows) answer.rows.push_back(op_of(row, runs->by().size()));
  for (const FleetOp& op : answer.rows) totals[op.by] += op.total;
  for (FleetOp& op : answer.rows) op.share = totals[op.by] > 0 ? op.total / totals[op.by] : 0;
  answer.row_count = answer.rows.size();
  if (answer.rows.size() > request.top) answer.rows.resize(request.top);
  return answer;
}

}  // namespace npuscope::fleet
