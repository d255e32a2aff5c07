#include "analysis/findings/context.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "analysis/inference_times.hpp"
#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

using Platform = Provenance::Platform;

}  // namespace

Vocabulary vocabulary_of(Platform platform) {
  if (platform == Platform::sigmastar_ipu) return Vocabulary::sigmastar_ipu;
  const bool is_qualcomm = platform == Platform::hexagon || platform == Platform::cloud_ai_100;
  return is_qualcomm ? Vocabulary::usual : Vocabulary::neutral;
}

const Rules& kernel_rules() {
  static const Rules rules = Rules::builtin("kernels").value_or(Rules());
  return rules;
}

const Placement& FindingContext::placement() {
  return placement_.get([&] {
    const OpTraffic& traffic = analysis_.traffic();
    const auto is_known = [&](Route route) { return traffic.total(route).best().has_value(); };
    constexpr Route routes[] = {Route::ddr_read, Route::ddr_write, Route::vtcm_read,
                                Route::vtcm_write};
    if (!std::any_of(std::begin(routes), std::end(routes), is_known)) return Placement();
    MemoryOptions options;
    options.peaks = options_.peaks;
    options.rate = options_.rate;
    options.grouping = MemoryGrouping::kind;
    options.active_of_rows = false;
    return analysis_.memory(options).placement;
  });
}

OpTable FindingContext::table_of_kinds(bool active_and_span) const {
  OpOptions options;
  options.grouping = Grouping::kind;
  options.top = ~std::size_t{0};
  options.count_runs = false;
  options.active_and_span = active_and_span;
  options.counts = false;
  return analysis_.ops(options);
}

const OpTable& FindingContext::kinds() {
  if (active_kinds_.is_known()) return active_kinds();
  return kinds_.get([&] { return table_of_kinds(false); });
}

const OpTable& FindingContext::active_kinds() {
  return active_kinds_.get([&] { return table_of_kinds(true); });
}

const OpTable& FindingContext::kernels() {
  return kernels_.get([&] {
    OpOptions options;
    options.grouping = Grouping::rule;
    options.rules = &kernel_rules();
    options.rest = !has_timeline();  // whose shares are of all ops, not of the wall
    options.per_inference = options.rest;
    options.top = ~std::size_t{0};
    options.counts = false;
    return analysis_.ops(options);
  });
}

const std::vector<std::uint32_t>& FindingContext::kernel_of() {
  return kernel_of_.get([&] { return kernel_rules().of(profile_); });
}

const std::vector<NumberRow>& FindingContext::numbers() {
  return numbers_.get([&] { return analyse_numbers_of_role(profile_); });
}

void FindingContext::prepare() {
  // What several of the questions begin with, on all cores: a thread that asks for what another one
  // is about only waits for it.
  if (analysis_.inferences().count() < 2) analysis_.spans_by_unit();  // for path()
  analysis_.unit_busy();
  spans_by_op_ = analysis_.spans_by_op();
  analysis_.busy_together();
  const std::function<void()> questions[] = {[&] { analysis_.coarse(); },
                                             [&] {
                                               if (has_timeline()) active_kinds();
                                             },
                                             [&] { analysis_.units(); },
                                             [&] { analysis_.imbalance(); },
                                             [&] { analysis_.overlap(); },
                                             [&] {
                                               placement();
                                               analysis_.spill();
                                               analysis_.transfers();
                                             }};
  parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
}

void FindingContext::prepare_path() {
  spans_by_op_.reset();
  path();
}

bool FindingContext::has_timeline() {
  if (analysis_.coarse().wall <= 0 || !analysis_.coarse().has_parts()) return false;
  const auto& engines = analysis_.units().engines;
  return std::any_of(engines.begin(), engines.end(),
                     [](const EngineRow& row) { return is_of_device(domain_of(row.engine)); });
}

std::string FindingContext::no_timeline() {
  return active_share(Engine::host) > 0 ? "work of the NPU on the timeline: all of it is the host's"
                                        : "a timeline of units";
}

bool FindingContext::is_cold() {
  using Temperature = Provenance::Temperature;
  const Temperature temperature = profile_.provenance.temperature;
  const bool begins_cold =
      temperature == Temperature::cold || temperature == Temperature::cold_then_warm;
  return begins_cold && analysis_.coarse().inferences.count <= 1;
}

double FindingContext::hvx_threads() {
  std::vector<std::uint64_t> cores;
  for (const Unit& unit : profile_.units) {
    if (unit.engine == Engine::hvx) cores.push_back(std::uint64_t(unit.device) << 32 | unit.core);
  }
  const std::size_t threads = cores.size();
  std::sort(cores.begin(), cores.end());
  const auto distinct = std::unique(cores.begin(), cores.end()) - cores.begin();
  double max = distinct > 0 ? double(threads) / double(distinct) : 0;
  for (const NumberRow& row : numbers()) {
    if (row.meaning.role == NumberRole::hvx_threads) {
      max = std::max(max, row.values.first);
    }
  }
  return max;
}

double FindingContext::domain(Engine engine) {
  for (const EngineRow& row : analysis_.units().engines) {
    if (row.engine == engine) return double(row.domain);
  }
  return 0;
}

double FindingContext::active_share(Engine engine) {
  for (const EngineRow& row : analysis_.units().engines) {
    if (row.engine == engine) return wall() > 0 ? double(row.active) / wall() : 0;
  }
  return 0;
}

bool FindingContext::knows_bandwidth() {
  return domain(Engine::dma) > 0 || placement().of(Resource::ddr).has_value();
}

std::string FindingContext::why_no_bandwidth() {
  return profile_.provenance.platform == Platform::hexagon
             ? "the DDR's peak, which no file of a Hexagon NPU names (--target htp-v75, "
               "--ddr-peak)"
             : "transfers of DMA engines, or the DDR's peak (--target)";
}

std::vector<KernelTime> FindingContext::kernel_times(const std::vector<std::string_view>& names) {
  const std::vector<bool> ops = ops_of(names);
  if (std::find(ops.begin(), ops.end(), true) == ops.end()) return {};
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
  const Result<PathAnalysis>& path = analysis_.path();
  return path ? &*path : nullptr;
}

std::optional<Gain> FindingContext::gain_of_path(double after, const std::string& how) {
  const double before = path_wall_.get([&] { return path()->wall_if({}); });
  if (!(before > 0)) return std::nullopt;
  Gain gain;
  gain.ticks = std::max(0.0, before - after);
  gain.share = gain.ticks / before;
  gain.of = path()->basis().instances > 1 ? "a median inference" : "the wall";
  gain.how = "by longest path: " + how;
  return gain;
}

std::vector<std::optional<Gain>> FindingContext::gains_if(std::vector<TriedFactors> tried) {
  std::vector<std::optional<Gain>> gains(tried.size());
  const PathAnalysis* paths = tried.empty() ? nullptr : path();
  if (paths == nullptr) return gains;
  std::vector<Scaling> scalings(tried.size());
  for (std::size_t i = 0; i < tried.size(); ++i) {
    scalings[i].of_op = std::move(tried[i].of_op);
    scalings[i].of_op.resize(profile_.ops.size() + 1, 1.0);
  }
  const std::vector<double> walls = paths->walls_if(scalings);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    gains[i] = gain_of_path(walls[i], tried[i].how);
    if (gains[i]) relate_to_call(*gains[i], warm_ticks_of(scalings[i].of_op));
  }
  return gains;
}

std::optional<Gain> FindingContext::gain_of_overlap(Engine a, Engine b, const std::string& how) {
  const PathAnalysis* paths = path();
  if (paths == nullptr || !paths->basis().knows_dependencies()) return std::nullopt;
  auto gain = gain_of_path(paths->wall_with_overlap(a, b), how);
  if (gain) relate_to_call(*gain, std::nullopt);
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
  // Of a timeline of several inferences the gain of one, as that of the longest path is.
  const std::uint64_t inferences = of ? 1 : analysis_.coarse().inferences.count;
  if (inferences > 1) {
    gain.ticks /= double(inferences);
    gain.of = "an inference";
  }
  relate_to_call(gain, std::nullopt);
  return gain;
}

// Of the nodes that the ops belong to, no more than what they take when warm can be gained.
std::optional<double> FindingContext::warm_ticks_of(const std::vector<double>& factors) {
  const auto cycles = warm_node_cycles(profile_);
  std::map<StringId, double> max;  // by node
  for (std::size_t op = 0; op < cycles.size(); ++op) {
    if (factors[op] >= 1) continue;
    if (!cycles[op]) return std::nullopt;
    const Op& of = profile_.ops[op];
    double& node = max[of.label()];
    node = std::max(node, *cycles[op] * (1 - factors[op]));
  }
  double sum = 0;
  for (const auto& [node, ticks] : max) sum += ticks;
  return sum;
}

// What a cold inference loses a warm one does not have: of that no more can be gained than its
// graph takes.
void FindingContext::relate_to_call(Gain& gain, std::optional<double> warm_ticks) {
  if (is_cold() && gain.of == "the wall") gain.of = "the cold wall";
  const auto& known = analysis_.call();
  if (!known || !known->warm) return;
  const std::size_t base = index_of(profile_.base_clock);
  double hertz = options_.rate                   ? options_.rate->value
                 : base < profile_.clocks.size() ? profile_.clocks[base].rate.value
                                                 : 0;
  double ticks = gain.ticks;
  if (is_cold()) {
    if (!known->graph_ticks) return;
    if (gain.ticks > *known->graph_ticks) {
      gain.share *= *known->graph_ticks / gain.ticks;
      gain.ticks = *known->graph_ticks;
      gain.how += "; no more than a warm graph takes";
    }
    ticks = std::min(gain.ticks, warm_ticks.value_or(gain.ticks));
    hertz = *known->graph_hertz;
  }
  if (!(hertz > 0)) return;
  const double seconds = std::min(ticks / hertz, known->device_seconds());
  gain.of_call = GainOfCall{seconds, seconds / known->seconds()};
}

std::optional<Gain> FindingContext::gain_by_hiding(double ticks, const std::string& how) {
  std::int64_t busiest = 0;
  for (const UnitRow& row : analysis_.units().units) busiest = std::max(busiest, row.busy);
  const double left = wall() - double(busiest);
  return gain_of_wall(
      std::min(ticks, left),
      ticks > left ? how + "; no more than the busiest unit leaves of the wall" : how);
}

std::string FindingContext::why_no_path() {
  if (has_timeline()) return "the profile has no critical path to compute it on";
  return active_share(Engine::host) > 0 ? "all work on the timeline is the host's"
                                        : "the profile has no timeline to compute it on";
}

}  // namespace npuscope::analysis
