#include "fleet/questions/changes.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "fleet/questions/statistics.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet {
namespace {

std::string both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return fmt::format("(\n{}\n) AND (\n{}\n)", a, b);
}

std::string either(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? "" : fmt::format("(\n{}\n) OR (\n{}\n)", a, b);
}

std::vector<double> values_of(const std::vector<RunMedian>& medians) {
  std::vector<double> values;
  values.reserve(medians.size());
  for (const RunMedian& each : medians) values.push_back(each.value);
  return values;
}

struct Sides {
  RunMedians a, b;
  CommonClock clock;
};

Result<ChosenRuns> side_of(Store& store, const Choice& choice, const std::string& where) {
  auto runs = ChosenRuns::of(store, {both(choice.where, where), {}});
  if (runs && runs->runs() == 0) {
    return usage_error("no run is where {}; see what there is with fleet ls", where);
  }
  return runs;
}

OpName op_name_of(Id op, const RunMedians& side) {
  const auto name = side.names.find(op);
  return name != side.names.end() ? name->second : OpName{};
}

std::vector<double> values_of(Id op, const RunMedians& side) {
  const auto found = side.ops.find(op);
  return found != side.ops.end() ? values_of(found->second) : std::vector<double>{};
}

// What is `op_a` in the runs of A and `op_b` in those of B; one of them may be in none.
ComparedOp compared(Id op_a, Id op_b, const Sides& sides) {
  const std::vector<double> a = values_of(op_a, sides.a), b = values_of(op_b, sides.b);
  const auto [name, kind] = b.empty() ? op_name_of(op_a, sides.a) : op_name_of(op_b, sides.b);
  ComparedOp row;
  row.op = b.empty() ? op_a : op_b;
  row.name = name, row.kind = kind;
  row.runs_a = a.size(), row.runs_b = b.size();
  if (!a.empty()) row.a = analysis::median_of(a);
  if (!b.empty()) row.b = analysis::median_of(b);
  if (!a.empty() && !b.empty()) {
    row.p = analysis::rank_test(a, b);
    if (op_a != op_b) row.former_op = op_a, row.former_kind = op_name_of(op_a, sides.a).kind;
  }
  return row;
}

// Ops of one side alone by the names of their nodes; 0 where a node has several.
std::map<std::string, Id> only_in(const RunMedians& side, const RunMedians& other) {
  std::map<std::string, Id> ops;
  for (const auto& [op, unused] : side.ops) {
    const std::string name = op_name_of(op, side).name;
    if (name.empty() || other.ops.contains(op)) continue;
    const auto [found, is_new] = ops.try_emplace(name, op);
    if (!is_new) found->second = 0;
  }
  return ops;
}

std::vector<ComparedOp> compared_ops(const Sides& sides) {
  const auto only_a = only_in(sides.a, sides.b), only_b = only_in(sides.b, sides.a);
  // The same node's op on the other side, else `op`.
  const auto partner = [](Id op, const RunMedians& side, const std::map<std::string, Id>& own,
                          const std::map<std::string, Id>& others) {
    const std::string name = op_name_of(op, side).name;
    const auto mine = own.find(name), theirs = others.find(name);
    const bool is_pair =
        mine != own.end() && mine->second == op && theirs != others.end() && theirs->second != 0;
    return is_pair ? theirs->second : op;
  };
  std::vector<ComparedOp> rows;
  rows.reserve(sides.a.ops.size());
  for (const auto& [op, unused] : sides.a.ops) {
    rows.push_back(compared(op, partner(op, sides.a, only_a, only_b), sides));
  }
  for (const auto& [op, unused] : sides.b.ops) {
    const bool is_compared = sides.a.ops.contains(op) || partner(op, sides.b, only_b, only_a) != op;
    if (!is_compared) rows.push_back(compared(op, op, sides));
  }
  return rows;
}

// Over all ops that both sides have; the whole inference is no op.
void judge(std::vector<ComparedOp>& rows, const ChangeRequest& request) {
  std::vector<double> p;
  std::vector<ComparedOp*> tested;
  for (ComparedOp& row : rows) {
    if (!row.p) continue;
    if (row.op == 0) {
      row.q = row.p;
    } else {
      p.push_back(*row.p);
      tested.push_back(&row);
    }
  }
  const std::vector<double> q = q_values(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->q = q[i];
  for (ComparedOp& row : rows) {
    row.is_change =
        row.q && *row.q <= request.max_q && std::abs(row.relative()) >= request.min_change;
  }
}

void count(OpChanges& answer) {
  for (const ComparedOp& row : answer.rows) {
    if (row.op == 0) continue;
    if (!row.a || !row.b) {
      (row.a ? answer.only_a : answer.only_b) += 1;
    } else if (!row.is_change) {
      answer.same += 1;
    } else {
      (row.delta() > 0 ? answer.slower : answer.faster) += 1;
    }
  }
}

}  // namespace

Result<OpChanges> compare_ops(Store& store, const Choice& choice, const std::string& where_a,
                              const std::string& where_b, const ChangeRequest& request) {
  const auto a = side_of(store, choice, where_a), b = side_of(store, choice, where_b);
  if (!a || !b) return tl::unexpected(a ? b.error() : a.error());
  const auto all = ChosenRuns::of(store, {both(choice.where, either(where_a, where_b)), {}});
  if (!all) return tl::unexpected(all.error());
  TRY_AS(clock, common_clock(store, *all));
  OpChanges answer;
  answer.where_a = where_a, answer.where_b = where_b;
  answer.clock = *clock;
  answer.runs_a = a->runs(), answer.runs_b = b->runs();
  answer.remarks = all->remarks();
  if (a->runs() + b->runs() > all->runs()) {
    answer.remarks.push_back(counted(a->runs() + b->runs() - all->runs(),
                                     "run is on both sides and hides",
                                     "runs are on both sides and hide") +
                             " what changed");
  }
  const auto warm_a = has_warm_ops(store, *a, request.measure);
  const auto warm_b = has_warm_ops(store, *b, request.measure);
  if (!warm_a || !warm_b) return tl::unexpected(warm_a ? warm_b.error() : warm_a.error());
  const bool cold = !*warm_a && !*warm_b;
  if (!cold && !(*warm_a && *warm_b)) {
    return usage_error(
        "the inferences of one side are cold, those of the other warm; they are not "
        "compared");
  }
  if (cold) answer.remarks.push_back("all inferences are cold");
  auto of_a = run_medians(store, *a, *clock, request.measure, cold);
  auto of_b = run_medians(store, *b, *clock, request.measure, cold);
  if (!of_a || !of_b) return tl::unexpected(of_a ? of_b.error() : of_a.error());
  const Sides sides{std::move(*of_a), std::move(*of_b), *clock};
  answer.rows = compared_ops(sides);
  judge(answer.rows, request);
  count(answer);
  const auto place = [](const ComparedOp& row) {
    return std::tuple(row.op != 0, !row.is_change, row.a && row.b, -std::abs(row.delta()));
  };
  sort_rows(answer.rows.begin(), answer.rows.end(),
            [&](const ComparedOp& x, const ComparedOp& y) { return place(x) < place(y); });
  return answer;
}

}  // namespace npuscope::fleet
