#include "npu/targets/nsp/compile/best_cores.hpp"

#include <algorithm>

#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu::nsp {
namespace {

std::uint64_t hoisted_room(const Target& target) {
  return std::uint64_t(double(target.vtcm_bytes - target.vtcm_reserved_bytes) *
                       target.hoisted_share);
}

// Only of such programs is it known that a card keeps constants (targets/aic100.toml).
bool has_retained_state(const Graph& graph, const CompileOptions& options) {
  if (!options.retained_state) return false;
  const std::vector<bool> retained = find_retained_state(graph);
  return std::ranges::find(retained, true) != retained.end();
}

// Twice where that leaves room for constants to stay in VTCM: how much room there is shows only
// when everything has found its place.
LoweredNetwork lower(const Graph& graph, const Target& target, const CompileOptions& options,
                     bool log_accesses, const TaskGraph::Size& expected) {
  const auto lowered = [&](std::uint64_t hoisted, bool& leaves_room) {
    Lowering lowering(graph, target, options, hoisted);
    if (log_accesses) lowering.log_accesses();
    lowering.expect(expected);
    LoweredNetwork network = lowering.run();
    leaves_room = lowering.has_space_for(hoisted_room(target));
    return network;
  };
  bool leaves_room = false;
  LoweredNetwork first = lowered(0, leaves_room);
  if (hoisted_room(target) == 0 || !leaves_room || !has_retained_state(graph, options))
    return first;
  try {
    LoweredNetwork second = lowered(hoisted_room(target), leaves_room);
    if (second.spills.empty()) return second;
  } catch (const LoweringFailure&) {
    // Whatever found no room there did without.
  }
  return first;
}

// Into how many blocks of queries attention is cut whose scores are more than one core of so many
// holds: a core holds a block of scores, what becomes of it, and the keys and values.
std::int64_t query_blocks(const Tensor& scores, const Target& target,
                          const CompileOptions& options) {
  constexpr std::int64_t min_rows = 32;  // of the HMX
  const std::uint64_t vtcm = target.vtcm_bytes - target.vtcm_reserved_bytes;
  const std::uint64_t bytes =
      device_bytes(scores.elements(), device_type(scores.type, options.convert_to_fp16));
  std::int64_t extent = 1;  // of the dimension that the cores share
  for (std::size_t axis = 0; axis + 1 < scores.shape.size(); ++axis) {
    if (extent < std::int64_t(options.cores)) extent = std::max(extent, scores.shape[axis]);
  }
  const std::uint64_t slice = bytes / std::uint64_t(extent) * share(extent, 1, 0, options.cores);
  if (slice <= vtcm * 2 / 5) return 1;
  const auto blocks = std::int64_t(divide_up(slice, vtcm / 6));
  const std::int64_t rows = scores.shape[scores.shape.size() - 2];
  return std::min(blocks, (rows + min_rows - 1) / min_rows);
}

// What decides between candidates.
struct Merit {
  std::uint32_t cores = 0;
  double seconds = 0;
  TaskGraph::Size size;
  std::uint64_t spill_bytes = 0;  // written and read
};

Merit merit_of(const LoweredProgram& candidate, const Target& target,
               const CompileOptions& options) {
  const TaskGraph& tasks = candidate.network.tasks;
  Merit merit{tasks.cores(),
              estimated_seconds(tasks, candidate.schedule, target, options.stats_level),
              tasks.size()};
  for (const TaskSpec& task : tasks.tasks()) {
    if (task.read_purpose == TrafficPurpose::spill) merit.spill_bytes += task.ddr_read;
    if (task.write_purpose == TrafficPurpose::spill) merit.spill_bytes += task.ddr_write;
  }
  return merit;
}

BandLimits band_limits(const Target& target, const CompileOptions& options) {
  const std::uint64_t vtcm = target.vtcm_bytes - target.vtcm_reserved_bytes;
  BandLimits limits;
  limits.bytes_of = [half = options.convert_to_fp16](const Tensor& tensor) {
    return device_bytes(tensor.elements(), device_type(tensor.type, half));
  };
  // Each core has some of the images, or of a band's rows, and all weights.
  limits.resident_bytes = vtcm / 4 * options.cores;
  limits.live_bytes = vtcm * 9 / 20 * options.cores;  // the next band's rows come meanwhile
  limits.weight_bytes = vtcm / 4;
  limits.windows = 4;
  limits.trims_in_place = options.cores == 1;
  return limits;
}

LoweredProgram lower_for(const Graph& graph, const Target& target, const CompileOptions& options,
                         bool log_accesses, const TaskGraph::Size& expected = {}) {
  std::optional<Graph> blocks;
  if (!target.session) {
    blocks = with_query_blocks(
        graph, [&](const Tensor& scores) { return query_blocks(scores, target, options); });
  }
  const auto lowered = [&](std::optional<Graph> own) {
    LoweredNetwork network = lower(own ? *own : graph, target, options, log_accesses, expected);
    Schedule schedule = schedule_tasks(network.tasks, target);
    return LoweredProgram{std::move(own), std::move(network), std::move(schedule)};
  };
  std::optional<Graph> bands;
  if (!target.session && options.slices < 2)
    bands = with_image_bands(blocks ? *blocks : graph, band_limits(target, options));
  LoweredProgram layers = lowered(std::move(blocks));
  if (!bands || layers.network.spills.empty()) return layers;
  try {
    LoweredProgram deep = lowered(std::move(bands));
    const Merit by_layers = merit_of(layers, target, options);
    const Merit by_bands = merit_of(deep, target, options);
    // Other activations on the card want the DDR, too.
    constexpr double for_less_spill = 1.03;
    const double limit = by_bands.spill_bytes < by_layers.spill_bytes ? for_less_spill : 1;
    if (by_bands.seconds < limit * by_layers.seconds) return deep;
  } catch (const LoweringFailure&) {
    // Layer by layer it has found its place.
  }
  return layers;
}

// As good as the fastest: all cores are used where that costs next to nothing, as estimates go.
constexpr double as_good = 1.015;

// No number of cores that is less can be faster: what this program's units have to do, shared by
// one core less.
bool is_surely_best(const Merit& merit, const TaskGraph& tasks, const Target& target) {
  constexpr double kept = 0.9;  // of the work, at least, on fewer cores: less padding, fewer copies
  double hmx = 0, hvx = 0, bytes = 0;
  for (const TaskSpec& task : tasks.tasks()) {
    if (task.group == qaic::ThreadGroup::hmx) hmx += double(task.cycles);
    if (task.group == qaic::ThreadGroup::hvx) hvx += double(task.cycles);
    bytes += double(task.ddr_read + task.ddr_write);
  }
  const double fewer = merit.cores - 1;
  const double ddr_rate = std::min(target.ddr_bytes_per_s * target.ddr_efficiency,
                                   target.ddr_bytes_per_s_per_core * fewer);
  const double computed = kept * std::max(hmx, hvx) / (target.core_hz * fewer);
  return merit.spill_bytes == 0 && merit.seconds <= as_good * std::max(computed, bytes / ddr_rate);
}

// That of the most cores that is as good as any with fewer, by the estimate.
const Merit& best_of(const std::vector<Merit>& by_cores) {
  const Merit* best = &by_cores.front();
  double seconds = best->seconds;
  for (const Merit& next : by_cores) {
    if (next.seconds > as_good * seconds || next.spill_bytes > best->spill_bytes) continue;
    seconds = std::min(seconds, next.seconds);
    best = &next;
  }
  return *best;
}

// The first nodes of a graph: its later layers are like those.
std::optional<Graph> first_nodes(const Graph& graph) {
  constexpr std::size_t enough = 320;
  if (graph.nodes.size() <= enough + enough / 4) return std::nullopt;
  Graph sample = graph;
  sample.nodes.resize(enough);
  for (Tensor& tensor : sample.tensors) {
    std::erase_if(tensor.consumers, [](NodeId id) { return std::size_t(id) >= enough; });
  }
  std::erase_if(sample.outputs, [&](TensorId id) {
    const NodeId producer = sample[id].producer;
    return producer != NodeId::none && std::size_t(producer) >= enough;
  });
  return sample;
}

// The number of cores that is best for `graph`, and the program for it where that is at hand.
struct BestCores {
  std::uint32_t cores = 0;
  TaskGraph::Size size;  // of the program for it
  std::optional<LoweredProgram> program;
};

BestCores find_best(const Graph& graph, const Target& target, const CompileOptions& options,
                    bool log_accesses) {
  constexpr std::size_t max_tasks_tried = 500'000;  // then the search ends
  CompileOptions own = options;
  BestCores best;
  std::optional<LoweringFailure> failure;
  std::vector<Merit> merits;
  std::size_t tried = 0;
  for (; own.cores >= 1 && tried < max_tasks_tried; --own.cores) {
    try {
      LoweredProgram candidate = lower_for(graph, target, own, log_accesses);
      tried += candidate.network.tasks.tasks().size();
      merits.insert(merits.begin(), merit_of(candidate, target, options));
      const bool found = is_surely_best(merits.front(), candidate.network.tasks, target);
      if (own.cores == options.cores) best.program = std::move(candidate);
      if (found) break;
    } catch (const LoweringFailure& now) {
      if (!failure) failure = now;
    }
  }
  if (merits.empty()) throw *failure;
  best.cores = best_of(merits).cores;
  best.size = best_of(merits).size;
  if (best.cores != options.cores) best.program.reset();
  return best;
}

}  // namespace

LoweredProgram lower_for_best_cores(const Graph& graph, const Target& target,
                                    const CompileOptions& options, bool log_accesses) {
  if (options.cores == 1 || options.slices > 1 || target.session)
    return lower_for(graph, target, options, log_accesses);
  const std::optional<Graph> sample = first_nodes(graph);
  BestCores best = find_best(sample ? *sample : graph, target, options, log_accesses);
  if (best.program && !sample) return std::move(*best.program);
  CompileOptions own = options;
  own.cores = best.cores;
  // All of the graph, in proportion, and some more.
  const double more = sample ? 1.1 * double(graph.nodes.size()) / double(sample->nodes.size()) : 1;
  const TaskGraph::Size expected{std::size_t(double(best.size.tasks) * more),
                                 std::size_t(double(best.size.needs) * more)};
  LoweredProgram program = lower_for(graph, target, own, log_accesses, expected);
  program.network.tasks.add_idle_cores(options.cores);
  program.network.metrics.cores.resize(options.cores);
  program.schedule.queues.resize(std::size_t(options.cores) * qaic::thread_groups);
  return program;
}

}  // namespace npuscope::npu::nsp
