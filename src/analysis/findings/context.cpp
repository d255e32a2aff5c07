#include "analysis/findings/context.hpp"

#include <algorithm>

#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {

const Rules& kernel_rules() {
  static const Rules rules = Rules::builtin("kernels").value_or(Rules());
  return rules;
}

const SpansByUnit& FindingContext::by_unit() {
  if (options_.known.by_unit != nullptr) return *options_.known.by_unit;
  return by_unit_.get([&] { return SpansByUnit(profile_); });
}

const std::vector<std::int64_t>& FindingContext::own() {
  if (options_.known.own != nullptr) return *options_.known.own;
  return own_.get([&] { return own_durations(profile_, by_unit()); });
}

const Coarse& FindingContext::coarse() {
  if (options_.known.coarse != nullptr) return *options_.known.coarse;
  return coarse_.get([&] { return analyse_coarse(profile_, by_unit(), own()); });
}

const std::vector<UnitBusy>& FindingContext::unit_busy() {
  return unit_busy_.get([&] { return busy_of_units(profile_, by_unit(), own()); });
}

const UnitTable& FindingContext::units() {
  if (options_.known.units != nullptr) return *options_.known.units;
  return units_.get([&] { return analyse_units(profile_, unit_busy()); });
}

const UnitNumbers& FindingContext::unit_numbers() {
  return unit_numbers_.get([&] { return analyse_unit_numbers(profile_); });
}

const Overlap& FindingContext::overlap() {
  if (options_.known.overlap != nullptr) return *options_.known.overlap;
  return overlap_.get([&] { return analyse_overlap(unit_busy()); });
}

const std::vector<PhaseRow>& FindingContext::phases() {
  return phases_.get([&] { return analyse_phases(profile_); });
}

const std::vector<NumberRow>& FindingContext::numbers() {
  return numbers_.get([&] { return analyse_numbers(profile_); });
}

const std::vector<ImbalanceRow>& FindingContext::imbalance() {
  return imbalance_.get([&] { return analyse_imbalance(profile_, by_unit(), own()); });
}

const std::vector<OneCoreOp>& FindingContext::one_core() {
  return one_core_.get([&] { return one_core_ops(profile_, by_unit(), own()); });
}

const OpTraffic& FindingContext::traffic() {
  return traffic_.get([&] { return OpTraffic(profile_); });
}

const MemoryTable& FindingContext::memory() {
  return memory_.get([&] {
    MemoryOptions options;
    options.peaks = options_.peaks;
    options.rate = options_.rate;
    options.grouping = MemoryGrouping::kind;
    options.active_of_rows = false;
    return analyse_memory(profile_, traffic(), options);
  });
}

const Spill& FindingContext::spill() {
  return spill_.get([&] { return analyse_spill(profile_, traffic()); });
}

const std::vector<TransferSize>& FindingContext::transfers() {
  return transfers_.get([&] { return analyse_transfers(profile_, traffic()); });
}

const OpTable& FindingContext::kinds() {
  return kinds_.get([&] {
    OpOptions options;
    options.grouping = Grouping::kind;
    options.top = ~std::size_t{0};
    options.count_runs = false;
    return analyse_ops(profile_, by_unit(), own(), options);
  });
}

const OpTable& FindingContext::kernels() {
  return kernels_.get([&] {
    OpOptions options;
    options.grouping = Grouping::rule;
    options.rules = &kernel_rules();
    options.rest = !has_timeline();  // whose shares are of all ops, not of the wall
    options.top = ~std::size_t{0};
    return analyse_ops(profile_, by_unit(), own(), options);
  });
}

const std::vector<std::uint32_t>& FindingContext::kernel_of() {
  return kernel_of_.get([&] { return kernel_rules().of(profile_); });
}

const OpGraph& FindingContext::graph() {
  return graph_.get([&] { return op_graph(profile_); });
}

const OpTimes& FindingContext::op_times() {
  return op_times_.get([&] { return analysis::op_times(profile_); });
}

void FindingContext::prepare() {
  own();  // and by_unit(), which the others share
  const std::function<void()> basis[] = {[&] { coarse(); },
                                         [&] {
                                           unit_busy();  // which overlap() looks at too
                                           units();
                                         }};
  parallel_for(std::size(basis), [&](std::size_t i) { basis[i](); });
  if (!has_timeline()) return;
  const std::function<void()> questions[] = {[&] { path(); },
                                             [&] { kinds(); },
                                             [&] { one_core(); },
                                             [&] { imbalance(); },
                                             [&] { overlap(); },
                                             [&] { kernels(); },
                                             [&] {
                                               memory();
                                               spill();
                                               transfers();
                                             }};
  parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
}

bool FindingContext::has_timeline() {
  if (coarse().wall <= 0 || !coarse().has_parts()) return false;
  const auto& engines = units().engines;
  return std::any_of(engines.begin(), engines.end(), [](const EngineRow& row) {
    const Domain domain = domain_of(row.engine);
    return domain == Domain::compute || domain == Domain::movement;
  });
}

double FindingContext::domain(Engine engine) {
  for (const EngineRow& row : units().engines) {
    if (row.engine == engine) return double(row.domain);
  }
  return 0;
}

bool FindingContext::knows_bandwidth() {
  return domain(Engine::dma) > 0 || memory().placement.of(Resource::ddr).has_value();
}

std::string FindingContext::why_no_bandwidth() {
  return profile_.provenance.device == "HTP"
             ? "the DDR's peak: an HTP's files do not name its version (--target htp-v75, "
               "--ddr-peak)"
             : "transfers of DMA engines, or the DDR's peak (--target)";
}

std::vector<KernelTime> FindingContext::kernel_times(const std::vector<std::string_view>& names) {
  const OpTable& table = kernels();
  if (table.columns.empty()) return {};
  const auto active = has_timeline() ? table.place_of("active") : std::nullopt;
  const std::size_t place = active.value_or(table.ranked_by);
  const OpColumn& column = table.columns[place];
  const double whole = active ? wall() : column.whole.value_or(column.total);
  std::vector<KernelTime> times;
  for (const OpRow& row : table.rows) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    const double time = row.values[place].value_or(0);
    if (!(time > 0) || !(whole > 0)) continue;
    times.push_back({row.name, row.runs, time, time / whole, column.kind,
                     active ? profile_.base_clock : column.clock});
  }
  return times;
}

std::vector<bool> FindingContext::ops_of(const std::vector<std::string_view>& names) {
  const auto& rule_of = kernel_of();
  std::vector<bool> ops(rule_of.size(), false);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (rule_of[op] == kernel_rules().size()) continue;
    const std::string& name = kernel_rules().name(rule_of[op]);
    ops[op] = std::find(names.begin(), names.end(), name) != names.end();
  }
  return ops;
}

const PathAnalysis* FindingContext::path() {
  const auto& path = path_.get([&]() -> std::optional<PathAnalysis> {
    auto made = PathAnalysis::create(profile_, std::nullopt);
    return made ? std::optional(std::move(*made)) : std::nullopt;
  });
  return path ? &*path : nullptr;
}

std::optional<Gain> FindingContext::gain_if(const std::vector<bool>& ops, double factor,
                                            const std::string& how) {
  const PathAnalysis* paths = path();
  if (paths == nullptr) return std::nullopt;
  if (!path_wall_) path_wall_ = paths->wall_if({});
  Scaling scaling;
  scaling.of_op.assign(profile_.ops.size() + 1, 1.0);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops[op]) scaling.of_op[op] = factor;
  }
  const double gained = std::max(0.0, *path_wall_ - paths->wall_if(scaling));
  if (!(*path_wall_ > 0)) return std::nullopt;
  Gain gain;
  gain.ticks = gained;
  gain.share = gained / *path_wall_;
  gain.of = paths->basis().instances > 1 ? "a median inference" : "the wall";
  gain.how = "by longest path: " + how;
  return gain;
}

std::optional<Gain> FindingContext::gain_of_wall(double ticks, const std::string& how,
                                                 std::optional<double> of) {
  const double whole = of.value_or(wall());
  if (!(whole > 0)) return std::nullopt;
  Gain gain;
  gain.ticks = std::clamp(ticks, 0.0, whole);
  gain.share = gain.ticks / whole;
  gain.of = "the wall";
  gain.how = how;
  return gain;
}

std::optional<Gain> FindingContext::gain_by_hiding(double ticks, const std::string& how) {
  std::int64_t busiest = 0;
  for (const UnitRow& row : units().units) busiest = std::max(busiest, row.busy);
  const double left = wall() - double(busiest);
  return gain_of_wall(
      std::min(ticks, left),
      ticks > left ? how + "; no more than the busiest unit leaves of the wall" : how);
}

std::string FindingContext::why_no_path() {
  return has_timeline() ? "there is no critical path to try it on"
                        : "there is no timeline to try it on";
}

}  // namespace npuscope::analysis
