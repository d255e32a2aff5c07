// Tries the identities that artifacts of one run obey (checks.cpp says which there are).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qnn/assemble/assembly.hpp"

namespace npuscope::qnn {

class Checker {
 public:
  Checker(const ArtifactSet& set, const Profile& profile);

  std::vector<Check> run();

 private:
  void add(std::string_view name, bool passed, std::string detail);
  void impossible(std::string_view name, std::string_view why);
  bool cut(const std::vector<QhasSum>& table, std::int64_t count) const;
  std::optional<std::int64_t> dominant_path() const;
  const RunPhase* phase_of(std::string_view name, std::uint32_t inference) const;
  std::optional<std::int64_t> viewer_value(std::string_view label, std::uint32_t execute) const;

  void check_sums();
  void check_idle();
  void check_shares();
  void check_utilization();
  void check_timeline();
  void check_times();
  void check_counts();
  void check_viewer_cycles();
  void check_viewer_time();
  void check_node_sums();
  void check_ownership();
  void check_instances();
  void check_traffic();
  void check_peak();
  void check_inside();
  void check_graph_cycles();
  void check_estimated_cycles();
  void check_estimated_traffic();
  void check_estimated_ids();

  const Profile& profile_;
  const Qhas* qhas_;
  const RunTrace* run_;
  const HtpGraph* graph_;
  const ViewerOutput* viewer_;
  const OpTrace* trace_;
  const Estimate* estimate_;
  const EstimateRows* rows_;  // of the estimate
  const Schematic* schematic_;
  const QhasCore* core_ = nullptr;  // of QHAS, where it is of one core
  std::vector<Check> checks_;
};

// "-1,234".
std::string signed_thousands(std::int64_t value);

// Percentages are printed in full but counted in single precision.
bool nearly(double a, double b);

}  // namespace npuscope::qnn
