// What each op costs over the chosen runs: percentiles over warm inferences.
//
//   const auto ops = ops_of(store, {.where = "model='resnet50'"}, {.top = 10});
//   ops->rows[0].name      // "Conv_12"
//   ops->rows[0].p50       // 1_204 cycles, in half of all inferences less
//   ops->rows[0].share     // of what all ops took together
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct FleetOp {
  std::vector<Value> by;
  Id op = 0;
  std::string name, kind;
  std::uint64_t runs = 0, inferences = 0;
  double p50 = 0, p95 = 0, total = 0;
  double share = 0;  // of the total of its group
  std::optional<double> active_p50, waiting_p50, path_p50;
  std::optional<double> ddr_bytes_p50;
};

struct FleetOps {
  std::vector<std::string> by;
  std::string measure;  // the column of op_runs
  CommonClock clock;
  bool cold_only = false;
  std::uint64_t runs = 0, row_count = 0;
  std::vector<FleetOp> rows;  // the costliest first
  std::vector<std::string> remarks;
};

struct OpsRequest {
  std::string measure = "work";
  std::size_t top = 20;
};
// work, active, waiting, dominant_path.
const std::vector<std::string>& op_measures();

Result<FleetOps> ops_of(Store& store, const Choice& choice, const OpsRequest& request);

}  // namespace npuscope::fleet
