#include "analysis/compare/schedule_change.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::analysis {
namespace {

bool says_why(const MetricChange& metric) {
  const NumberRole role = metric.meaning.role;
  return role == NumberRole::code_fetches || role == NumberRole::kept_on_chip ||
         role == NumberRole::vtcm_peak || role == NumberRole::ddr_read ||
         role == NumberRole::ddr_write;
}

}  // namespace

std::optional<ScheduleChange> find_schedule_change(const Comparison& comparison) {
  const auto named = [&](std::string_view name) {
    const auto found = std::find_if(comparison.metrics.begin(), comparison.metrics.end(),
                                    [&](const MetricChange& each) { return each.name == name; });
    return found == comparison.metrics.end() ? nullptr : &*found;
  };
  const auto of_role = [&](NumberRole role) {
    const auto found =
        std::find_if(comparison.metrics.begin(), comparison.metrics.end(),
                     [&](const MetricChange& each) { return each.meaning.role == role; });
    return found == comparison.metrics.end() ? nullptr : &*found;
  };
  const MetricChange *wall = named("wall"), *active = named("active"), *work = named("work");
  const bool is_of_estimates = wall == nullptr || !wall->repeats;
  if (is_of_estimates) {
    wall = of_role(NumberRole::schedule_wall);
    active = of_role(NumberRole::schedule_active);
    work = of_role(NumberRole::schedule_work);
  }
  const MetricChange* exposed = of_role(NumberRole::exposed_transfer);
  const MetricChange* hidden = of_role(NumberRole::hidden_transfer);
  for (const MetricChange* each : {wall, active, work, exposed, hidden}) {
    if (each == nullptr || !each->repeats || each->unit != wall->unit) return std::nullopt;
  }
  if (wall->estimate.delta() == 0) return std::nullopt;
  ScheduleChange change{.is_of_estimates = is_of_estimates,
                        .unit = wall->unit,
                        .wall_a = wall->estimate.a,
                        .wall_b = wall->estimate.b,
                        .transfers_a = exposed->estimate.a + hidden->estimate.a,
                        .transfers_b = exposed->estimate.b + hidden->estimate.b,
                        .work_a = work->estimate.a,
                        .work_b = work->estimate.b};
  const MetricChange* read = of_role(NumberRole::ddr_read);
  const MetricChange* written = of_role(NumberRole::ddr_write);
  if (read != nullptr) {
    const bool writes = written != nullptr;
    change.bytes_a = read->estimate.a + (writes ? written->estimate.a : 0);
    change.bytes_b = read->estimate.b + (writes ? written->estimate.b : 0);
  }
  using What = SchedulePart::What;
  const Estimate &moves = exposed->estimate, &any = active->estimate;
  change.parts = {{What::compute, any.a - moves.a, any.b - moves.b},
                  {What::exposed_transfer, moves.a, moves.b},
                  {What::idle, change.wall_a - any.a, change.wall_b - any.b}};
  // What goes the way of the wall comes first.
  const double sign = change.wall_delta() < 0 ? -1 : 1;
  std::stable_sort(change.parts.begin(), change.parts.end(),
                   [&](const SchedulePart& x, const SchedulePart& y) {
                     return sign * x.delta() > sign * y.delta();
                   });
  for (const MetricChange& metric : comparison.metrics) {
    if (says_why(metric) && metric.estimate.delta() != 0) change.numbers.push_back(&metric);
  }
  return change;
}

}  // namespace npuscope::analysis
