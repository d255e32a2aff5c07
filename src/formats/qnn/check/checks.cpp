// The identities that artifacts of one run obey. They were found on real files of three devices; a
// failure means a damaged file, files of different runs, or a viewer that counts otherwise.
#include <cmath>

#include "base/text.hpp"
#include "formats/qnn/check/checker.hpp"

namespace npuscope::qnn {

std::string signed_thousands(std::int64_t value) {
  return value < 0 ? "-" + thousands(std::uint64_t(-(value + 1)) + 1)
                   : thousands(std::uint64_t(value));
}

bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max({1.0, std::abs(a), std::abs(b)});
}

Checker::Checker(const ArtifactSet& set, const Profile& profile)
    : profile_(profile),
      qhas_(set.find<Qhas>()),
      run_(set.find<RunTrace>()),
      graph_(set.find<HtpGraph>()),
      viewer_(set.find<ViewerOutput>()),
      trace_(set.find<OpTrace>()) {
  // With several cores these identities hold per core, which no file that was seen has.
  if (qhas_ != nullptr && qhas_->cores.size() == 1) core_ = &qhas_->cores.front();
}

std::vector<Check> Checker::run() {
  check_sums();
  check_idle();
  check_shares();
  check_utilization();
  check_timeline();
  check_times();
  check_counts();
  check_viewer_cycles();
  check_viewer_time();
  check_node_sums();
  check_ownership();
  check_instances();
  check_traffic();
  check_peak();
  check_inside();
  check_graph_cycles();
  return std::move(checks_);
}

void Checker::add(std::string_view name, bool passed, std::string detail) {
  const auto outcome = passed ? Check::Outcome::passed : Check::Outcome::failed;
  checks_.push_back({std::string(name), outcome, std::move(detail)});
}

void Checker::impossible(std::string_view name, std::string_view why) {
  checks_.push_back({std::string(name), Check::Outcome::impossible, std::string(why)});
}

// Tables shorter than the counts that the summary gives have been cut.
bool Checker::cut(const std::vector<QhasSum>& table, std::int64_t count) const {
  return core_ != nullptr && count != missing && std::int64_t(table.size()) < count;
}

std::vector<Check> check_set(const ArtifactSet& set, const Profile& profile) {
  return Checker(set, profile).run();
}

}  // namespace npuscope::qnn
