#include "analysis/memory/memory_analysis.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/inference_times.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr double max_hvx_threads = 4'096;  // for a forged number

}  // namespace

std::vector<Route> MemoryAnalysis::routes_of_spans() const {
  std::vector<Route> routes;
  for (std::size_t route = 0; route < route_count; ++route) {
    if (traffic_.of_spans_known(Route(route))) routes.push_back(Route(route));
  }
  return routes;
}

// A track of several threads is one unit.
void MemoryAnalysis::find_threads_of_units() {
  threads_of_unit_.assign(profile_.units.size(), 1);
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::unit) continue;
    if (measure.subject_id >= threads_of_unit_.size() || !(measure.value > 1)) continue;
    if (measure.meaning.role != NumberRole::threads) continue;
    threads_of_unit_[measure.subject_id] = std::uint32_t(std::min(measure.value, max_hvx_threads));
  }
}

void MemoryAnalysis::find_engines() {
  find_threads_of_units();
  std::unordered_map<std::uint32_t, Precision> known;
  for (const Op& op : profile_.ops) {
    const auto [place, is_new] = known.try_emplace(index_of(op.types));
    if (is_new) place->second = precision_of(profile_.text(op.types));
    precision_of_op_.push_back(place->second);
  }
  struct Part {
    std::vector<std::array<bool, engine_count>> used;  // by unit
    std::array<std::uint64_t, engine_count> spans{};
    std::array<std::array<std::int64_t, route_count>, engine_count> bytes{};
  };
  const Spans& spans = profile_.spans;
  const std::vector<RowRange> ranges =
      ranges_of(spans.size(), std::max<std::size_t>(65'536, 8 * profile_.units.size()));
  std::vector<Part> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    Part& part = parts[i];
    part.used.resize(profile_.units.size());
    for (std::size_t row = ranges[i].first; row < ranges[i].last; ++row) {
      if (role_of(spans.kind[row]) != Role::work) continue;
      const std::size_t unit = index_of(spans.unit[row]);
      const Engine engine = engines_.of(row);
      if (unit < part.used.size()) part.used[unit][std::size_t(engine)] = true;
      part.spans[std::size_t(engine)] += 1;
      for (const Route route : routes_) {
        std::int64_t& bytes = part.bytes[std::size_t(engine)][std::size_t(route)];
        bytes = saturating_add(bytes, traffic_.of_span(route, row));
      }
    }
  });
  std::vector<std::array<bool, engine_count>> used(profile_.units.size());
  std::array<EngineTraffic, engine_count> of_engine{};
  for (const Part& part : parts) {
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      for (std::size_t unit = 0; unit < used.size(); ++unit) {
        used[unit][engine] = used[unit][engine] || part.used[unit][engine];
      }
      of_engine[engine].spans += part.spans[engine];
      if (part.spans[engine] == 0) continue;
      for (const Route route : routes_) {
        add(of_engine[engine].bytes[std::size_t(route)], part.bytes[engine][std::size_t(route)]);
      }
    }
  }
  for (std::size_t unit = 0; unit < used.size(); ++unit) {
    const auto uses = [&](Engine engine) { return used[unit][std::size_t(engine)]; };
    hvx_units_ += uses(Engine::hvx) ? threads_of_unit_[unit] : 0;
    hmx_units_ += uses(Engine::hmx) ? threads_of_unit_[unit] : 0;
    dma_units_ += uses(Engine::dma_issue) || uses(Engine::dma);
  }
  for (std::size_t i = 0; i < of_engine.size(); ++i) {
    of_engine[i].engine = Engine(i);
    if (of_engine[i].spans > 0) table_.engines.push_back(of_engine[i]);
  }
}

// A program may leave threads without work: they count as there, where the target or the files
// tell.
void MemoryAnalysis::find_threads() {
  if (hvx_units_ == 0) return;
  const double of_target = double(options_.peaks.hvx_threads) * table_.roofs.cores;
  hvx_units_ = std::max(hvx_units_, std::uint32_t(std::min(of_target, max_hvx_threads)));
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::profile || !(measure.value > 0)) continue;
    if (measure.meaning.role != NumberRole::hvx_threads) continue;
    hvx_units_ = std::max(hvx_units_, std::uint32_t(std::min(measure.value, max_hvx_threads)));
  }
}

void MemoryAnalysis::find_inferences() {
  const Spans& spans = profile_.spans;
  has_instances_ = spans.instance.size() == spans.size() && spans.size() > 0;
  table_.timeline = analysis_.timeline_extent();
  const std::vector<InferenceExtent>& extents = analysis_.extents().inferences;
  for (const InferenceExtent& extent : extents) {
    const bool is_outside = extent.number == every_instance && extents.size() > 1;
    if (!extent.runs || is_outside) continue;
    table_.inferences.push_back({extent.number, length_of(extent.wall), {}});
  }
  if (table_.inferences.empty() && spans.size() > 0) {
    table_.inferences.push_back({0, length_of(table_.timeline), {}});
  }
  std::vector<double> walls;
  for (const auto& inference : table_.inferences) walls.push_back(double(inference.wall));
  table_.walls = spread_of(walls);
  table_.first_apart = walls.size() > 1;
  table_.wall = walls.size() > 1 ? table_.walls.median_of_rest : table_.walls.first;
}

// A summary has no timeline of its ops, but may tell how long the graph took: in ticks of the base
// clock, else in whole microseconds.
void MemoryAnalysis::take_told_wall() {
  if (table_.wall > 0) return;
  const std::size_t base = index_of(profile_.base_clock);
  const double rate = base < profile_.clocks.size() ? profile_.clocks[base].rate.value : 0;
  double converted = 0;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::profile || measure.kind != MeasureKind::wall) continue;
    if (index_of(measure.clock) >= profile_.clocks.size() || !(measure.value > 0)) continue;
    const double of_measure = profile_.clocks[index_of(measure.clock)].rate.value;
    const NumberRole role = measure.meaning.role;
    if (role == NumberRole::graph_wall && measure.clock == profile_.base_clock) {
      table_.wall = measure.value;
      return;
    }
    if (role != NumberRole::graph_execute || !(rate > 0) || !(of_measure > 0)) continue;
    if (converted == 0) converted = measure.value / of_measure * rate;
  }
  table_.wall = converted;
}

void MemoryAnalysis::sum_inferences() {
  const Spans& spans = profile_.spans;
  if (table_.inferences.empty()) return;
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  for (std::size_t i = 0; i < table_.inferences.size(); ++i) {
    place_of[table_.inferences[i].instance] = i;
  }
  if (routes_.empty()) return;
  const std::size_t inferences = table_.inferences.size();
  // The sums of a part take little beside its spans.
  const std::vector<RowRange> ranges =
      ranges_of(spans.size(), std::max<std::size_t>(65'536, 64 * inferences));
  std::vector<std::vector<RouteBytes>> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    std::vector<RouteBytes>& sums = parts[part];
    sums.resize(inferences);
    std::size_t place = 0;
    for (std::size_t row = ranges[part].first; row < ranges[part].last; ++row) {
      const std::uint32_t inference = inference_of(row);
      if (table_.inferences[place].instance != inference) {
        const auto found = place_of.find(inference);
        if (found == place_of.end()) continue;  // of an overlay only
        place = found->second;
      }
      for (const Route route : routes_) {
        add(sums[place][std::size_t(route)], traffic_.of_span(route, row));
      }
    }
  });
  for (const std::vector<RouteBytes>& sums : parts) {
    for (std::size_t place = 0; place < inferences; ++place) {
      for (const Route route : routes_) {
        const auto& bytes = sums[place][std::size_t(route)];
        if (bytes) add(table_.inferences[place].bytes[std::size_t(route)], *bytes);
      }
    }
  }
}

// A rate that the user gives is that of the cycles: a clock which counts time has its own.
void MemoryAnalysis::find_rates(bool base_counts_cycles) {
  if (profile_.provenance.simulator_slowdown > 0) return;  // seconds of the host
  const auto base = clock_rate_during(profile_, table_.timeline);
  if (base) table_.rate = base->rate;
  if (base_counts_cycles) table_.processor = base;
  for (const Clock& clock : profile_.clocks) {
    if (table_.processor || clock.kind != ClockKind::unit_cycles) continue;
    if (clock.rate.value > 0)
      table_.processor = ClockRate{clock.rate};
    else if (clock.derived_rate.value > 0)
      table_.processor = ClockRate{clock.derived_rate, Origin::derived, clock.derived_error};
  }
  if (!options_.rate) return;
  table_.processor = ClockRate{*options_.rate};
  if (base_counts_cycles || !base) table_.rate = options_.rate;
}

void MemoryAnalysis::make_roofs_of_profile() {
  const std::size_t base = index_of(profile_.base_clock);
  const bool cycles =
      base < profile_.clocks.size() && profile_.clocks[base].kind == ClockKind::unit_cycles;
  find_rates(cycles);
  Peaks peaks = options_.peaks;
  if (!cycles && table_.processor) peaks.core_hz = table_.processor->rate.value;
  // Cores that compute: by their HMX or HVX units; a summary has only the cores themselves.
  std::vector<std::uint64_t> cores;
  for (const Engine engine : {Engine::hmx, Engine::hvx, Engine::core}) {
    if (!cores.empty()) break;
    for (const Unit& unit : profile_.units) {
      if (unit.engine == engine) cores.push_back(std::uint64_t{unit.device} << 32 | unit.core);
    }
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  table_.roofs = make_roofs(peaks, table_.rate.value_or(Hertz{0}), cycles,
                            std::uint32_t(std::max<std::size_t>(1, cores.size())));
}

}  // namespace npuscope::analysis
