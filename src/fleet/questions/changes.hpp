// Which ops became slower, and where along the builds: two choices of runs compared, or all builds
// in their order, with the rate of false discoveries controlled over all ops.
//
//   const auto changes = compare_ops(store, {}, {"build = 16", "build = 17"}, {});
//   changes->rows[0].name          // "Conv_12": 1.31 of what it was, q 0.0001
//   const auto points = change_points(store, {}, "build", {});
//   points->rows[0].first_after    // 17
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct ChangeRequest {
  std::string measure = "work";
  double max_q = 0.05;       // rate of false discoveries
  double min_change = 0.01;  // of the median: less is no change that matters
};

struct ComparedOp {
  Id op = 0;  // 0: the whole inference, its wall
  std::string name, kind;
  // Where side A has the same node with another kernel: what it is there.
  Id former_op = 0;
  std::string former_kind;
  std::uint64_t runs_a = 0, runs_b = 0;
  std::optional<double> a, b;  // medians over runs, of each run's warm median
  std::optional<double> p, q;
  bool is_change = false;
  double relative() const { return a && b && *a > 0 ? *b / *a - 1 : 0; }
  double delta() const { return a && b ? *b - *a : 0; }
};

struct OpChanges {
  std::string where_a, where_b;
  CommonClock clock;
  std::uint64_t runs_a = 0, runs_b = 0;
  std::uint64_t slower = 0, faster = 0, same = 0, only_a = 0, only_b = 0;
  std::vector<ComparedOp> rows;  // changes first, the largest delta first; then those of one side
  std::vector<std::string> remarks;
};

// A node that has one kernel on each side, and not the same, is one row. A sample is a run. The
// rank test of diff, then q values over all ops of both sides.
Result<OpChanges> compare_ops(Store& store, const Choice& choice, const std::string& where_a,
                              const std::string& where_b, const ChangeRequest& request);

struct PointOfOp {
  Id op = 0;
  std::string name, kind;
  Value last_before, first_after;  // of the column or tag that runs are ordered by
  std::uint64_t runs_before = 0, runs_after = 0;
  double before = 0, after = 0;  // medians between this change and those next to it
  double p = 1, q = 1;
  double relative() const { return before > 0 ? after / before - 1 : 0; }
};

struct ChangePoints {
  std::string along;
  CommonClock clock;
  std::uint64_t runs = 0, places = 0, ops = 0;  // looked at
  std::vector<PointOfOp> rows;                  // the largest change first
  std::vector<std::string> remarks;
};

// Runs in the order of a column or tag; where an op changed, both sides are looked at again.
Result<ChangePoints> change_points(Store& store, const Choice& choice, const std::string& along,
                                   const ChangeRequest& request);

}  // namespace npuscope::fleet
