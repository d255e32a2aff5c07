#include "fleet/questions/ops.hpp"

#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "fleet/questions/statistics.hpp"

namespace npuscope::fleet {
namespace {

using OpOfGroup = std::pair<std::vector<Value>, Id>;

// Totals of all ops: which rows are the costliest, and of what their share is. Ticks are added up,
// which are whole numbers, so that the sum is the same in whatever order a store adds.
class Totals {
 public:
  Totals(Store& store, const ChosenRuns& runs, const FleetOps& answer)
      : store_(store), runs_(runs), answer_(answer) {}

  Result<std::vector<FleetOp>> ask() {
    const bool has_rates = answer_.clock.unit == CommonClock::Unit::seconds;
    const bool by_rate = has_rates && !answer_.clock.hertz;
    const std::string group = runs_.groups_and() + "op" + (by_rate ? ", hertz" : "");
    const std::string rate = by_rate ? "hertz" : "1";
    const std::size_t at = runs_.by().size();
    TRY_AS(
        rows,
        answer_of(store_, at + 5,
                  fmt::format(
                      "SELECT {}op, name, kind, total, rate FROM (SELECT {}, sum({}) AS total, "
                      "max({}) AS rate FROM {} GROUP BY {}) AS costs JOIN (SELECT id AS op, name, "
                      "kind FROM ops) AS named USING (op) ORDER BY rate",
                      runs_.groups_and(), group, answer_.measure, rate,
                      runs_.facts("op_runs", warm_or_cold(answer_)), group)));
    std::map<OpOfGroup, FleetOp> ops;
    for (const AnswerRow& row : *rows) {
      FleetOp& op = ops[{first_of(row, at), integer_at(row, at)}];
      op.name = text_at(row, at + 1);
      op.kind = text_at(row, at + 2);
      const auto hertz = by_rate ? number_at(row, at + 4) : answer_.clock.hertz;
      op.total += number_at(row, at + 3).value_or(0) / (has_rates ? hertz.value_or(1) : 1);
    }
    return costliest_first(std::move(ops));
  }

  static std::string warm_or_cold(const FleetOps& answer) {
    return fmt::format("cold = {} AND {} IS NOT NULL", int(answer.cold_only), answer.measure);
  }

 private:
  static std::vector<FleetOp> costliest_first(std::map<OpOfGroup, FleetOp>&& ops) {
    std::map<std::vector<Value>, double> totals;
    std::vector<FleetOp> sorted;
    for (auto& [key, op] : ops) {
      std::tie(op.by, op.op) = key;
      totals[op.by] += op.total;
      sorted.push_back(std::move(op));
    }
    for (FleetOp& op : sorted) op.share = totals[op.by] > 0 ? op.total / totals[op.by] : 0;
    sort_rows(sorted.begin(), sorted.end(), [](const FleetOp& a, const FleetOp& b) {
      return std::tie(b.total, a.name, a.kind) < std::tie(a.total, b.name, b.kind);
    });
    return sorted;
  }

  Store& store_;
  const ChosenRuns& runs_;
  const FleetOps& answer_;
};

// Percentiles cost more than sums do, so only those of rows that are wanted are asked for.
Status ask_percentiles(Store& store, const ChosenRuns& runs, FleetOps& answer) {
  constexpr std::size_t max_ids = 10'000;  // of a list in SQL
  std::set<Id> ids;
  std::map<OpOfGroup, FleetOp*> places;
  for (FleetOp& op : answer.rows) {
    ids.insert(op.op);
    places[{op.by, op.op}] = &op;
  }
  std::string condition = Totals::warm_or_cold(answer);
  if (answer.row_count > answer.rows.size() && ids.size() <= max_ids) {
    condition += fmt::format(" AND op IN ({})", fmt::join(ids, ", "));
  }
  const auto of_measure = store.percentiles(answer.clock.value_of(answer.measure), {50, 95});
  const auto p50 = [&](const char* column) {
    return store.percentile(answer.clock.value_of(column), 50);
  };
  const std::string group = runs.groups_and() + "op";
  const std::size_t at = runs.by().size();
  TRY_AS(
      rows,
      answer_of(store, at + 9,
                fmt::format(
                    "SELECT {}, count(DISTINCT run), count(*), {}, {}, {}, {}, {}, {} FROM {} "
                    "GROUP BY {}",
                    group, of_measure[0], of_measure[1], p50("active"), p50("waiting"),
                    p50("dominant_path"), store.percentile("ddr_read_bytes + ddr_write_bytes", 50),
                    runs.facts("op_runs", condition), group)));
  for (const AnswerRow& row : *rows) {
    const auto place = places.find({first_of(row, at), integer_at(row, at)});
    if (place == places.end()) continue;
    FleetOp& op = *place->second;
    op.runs = std::uint64_t(integer_at(row, at + 1));
    op.inferences = std::uint64_t(integer_at(row, at + 2));
    op.p50 = number_at(row, at + 3).value_or(0);
    op.p95 = number_at(row, at + 4).value_or(0);
    op.active_p50 = number_at(row, at + 5);
    op.waiting_p50 = number_at(row, at + 6);
    op.path_p50 = number_at(row, at + 7);
    op.ddr_bytes_p50 = number_at(row, at + 8);
  }
  return {};
}

}  // namespace

const std::vector<std::string>& op_measures() {
  static const std::vector<std::string> names{"work", "active", "waiting", "dominant_path"};
  return names;
}

Result<FleetOps> ops_of(Store& store, const Choice& choice, const OpsRequest& request) {
  TRY_AS(runs, ChosenRuns::of(store, choice));
  if (runs->runs() == 0) return usage_error("no run is chosen; see what there is with fleet ls");
  TRY_AS(clock, common_clock(store, *runs));
  FleetOps answer;
  answer.by = runs->by();
  answer.measure = request.measure;
  answer.clock = *clock;
  answer.runs = runs->runs();
  answer.remarks = runs->remarks();
  TRY_AS(warm, has_warm_ops(store, *runs, request.measure));
  answer.cold_only = !*warm;
  if (answer.cold_only) answer.remarks.push_back("all inferences are cold");
  TRY_AS(rows, Totals(store, *runs, answer).ask());
  answer.rows = std::move(*rows);
  answer.row_count = answer.rows.size();
  if (answer.rows.size() > request.top) answer.rows.resize(request.top);
  TRY(ask_percentiles(store, *runs, answer));
  return answer;
}

}  // namespace npuscope::fleet
