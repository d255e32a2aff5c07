#include "npu/targets/nsp/compile/best_cores.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "npu/graph/parts/parts.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/images.hpp"

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

// Faster, or next to as fast with less spill: other activations on the card want the DDR, too.
bool is_better(const Merit& now, const Merit& before) {
  constexpr double for_less_spill = 1.03;
  return now.seconds < (now.spill_bytes < before.spill_bytes ? for_less_spill : 1) * before.seconds;
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

// Besides what the user chose.
struct Ways : CompileOptions {
  bool grouped_heads = false;
};

LoweredProgram lower_for(const Graph& graph, const Target& target, const Ways& options,
                         bool log_accesses, const TaskGraph::Size& expected = {}) {
  std::optional<Graph> remade;
  if (!target.session) {
    remade = with_query_blocks(
        graph, [&](const Tensor& scores) { return query_blocks(scores, target, options); });
  }
  if (options.grouped_heads) {
    if (auto grouped = with_grouped_heads(remade ? *remade : graph)) remade = std::move(grouped);
  }
  const auto lowered = [&](std::optional<Graph> own) {
    if (target.sorts_places) {
      if (auto sorted = with_sorted_places(own ? *own : graph)) own = std::move(sorted);
    }
    LoweredNetwork network = lower(own ? *own : graph, target, options, log_accesses, expected);
    Schedule schedule = schedule_tasks(network.tasks, target);
    return LoweredProgram{std::move(own), std::move(network), std::move(schedule)};
  };
  const std::optional<Graph> whole = remade;
  LoweredProgram layers = lowered(std::move(remade));
  const bool goes_deep = !options.layer_by_layer && !target.session && options.slices == 1;
  if (!goes_deep || layers.network.spills.empty()) return layers;
  std::optional<Graph> bands =
      with_image_bands(whole ? *whole : graph, band_limits(target, options));
  if (!bands) return layers;
  try {
    LoweredProgram deep = lowered(std::move(bands));
    if (is_better(merit_of(deep, target, options), merit_of(layers, target, options))) return deep;
  } catch (const LoweringFailure&) {
    // Layer by layer it has found its place.
  }
  return layers;
}

// As good as the fastest: all cores are used where that costs next to nothing, as estimates go.
constexpr double as_good = 1.015;

// No number of cores that is less than this program's can be faster than `seconds`: what its units
// have to do, shared by one core less.
bool are_fewer_surely_slower(double seconds, const TaskGraph& tasks, const Target& target) {
  constexpr double kept = 0.9;  // of the work, at least, on fewer cores: less padding, fewer copies
  double hmx = 0, hvx = 0, bytes = 0;
  for (const TaskSpec& task : tasks.tasks()) {
    if (task.group == qaic::ThreadGroup::hmx) hmx += double(task.cycles);
    if (task.group == qaic::ThreadGroup::hvx) hvx += double(task.cycles);
    bytes += double(task.ddr_read + task.ddr_write);
  }
  const double fewer = tasks.cores() - 1;
  const double ddr_rate = std::min(target.ddr_bytes_per_s * target.ddr_efficiency,
                                   target.ddr_bytes_per_s_per_core * fewer);
  const double computed = kept * std::max(hmx, hvx) / (target.core_hz * fewer);
  return seconds <= as_good * std::max(computed, bytes / ddr_rate);
}

// That of the most cores that is as good as any with fewer, by the estimate.
const Merit& best_of(std::span<const Merit> by_cores) {
  const Merit* best = &by_cores.front();
  double seconds = best->seconds;
  for (const Merit& next : by_cores) {
    if (next.seconds > as_good * seconds || next.spill_bytes > best->spill_bytes) continue;
    seconds = std::min(seconds, next.seconds);
    best = &next;
  }
  return *best;
}

// Of how many nodes, in their order, a search is enough: in layers of a transformer one is like the
// others, and of those that convolve the first have large images, the last large weights.
std::size_t nodes_of_sample(const Graph& graph) {
  std::vector<std::size_t> working;
  std::size_t convolutions = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpClass kind = classify(graph, graph.nodes[i]);
    if (kind != OpClass::folded) working.push_back(i);
    convolutions += kind == OpClass::convolution ? 1 : 0;
  }
  const std::size_t enough = convolutions > 8 ? 720 : 180;
  return working.size() > enough + enough / 4 ? working[enough] : graph.nodes.size();
}

// Nothing where all are needed.
std::optional<Graph> first_nodes(const Graph& graph) {
  const std::size_t enough = nodes_of_sample(graph);
  if (enough == graph.nodes.size()) return std::nullopt;
  Graph sample = graph;
  sample.nodes.resize(enough);
  for (Tensor& tensor : sample.tensors) {
    std::erase_if(tensor.consumers, [&](NodeId id) { return std::size_t(id) >= enough; });
  }
  std::erase_if(sample.outputs, [&](TensorId id) {
    const NodeId producer = sample[id].producer;
    return producer != NodeId::none && std::size_t(producer) >= enough;
  });
  return sample;
}

struct Search {
  std::vector<Merit> by_cores;
  std::optional<LoweredProgram> with_all_cores;
};

Search search(const Graph& graph, const Target& target, const Ways& options, bool log_accesses) {
  constexpr std::size_t max_tasks_tried = 500'000;  // then the search ends
  Ways own = options;
  Search result;
  std::vector<Merit>& merits = result.by_cores;
  std::optional<LoweringFailure> failure;
  std::size_t tried = 0;
  double fastest = std::numeric_limits<double>::infinity();
  for (; own.cores >= 1 && tried < max_tasks_tried; --own.cores) {
    try {
      LoweredProgram candidate =
          lower_for(graph, target, own, log_accesses,
                    merits.empty() ? TaskGraph::Size{} : merits.front().size);
      tried += candidate.network.tasks.tasks().size();
      merits.insert(merits.begin(), merit_of(candidate, target, options));
      fastest = std::min(fastest, merits.front().seconds);
      const bool found = merits.front().spill_bytes == 0 &&
                         are_fewer_surely_slower(fastest, candidate.network.tasks, target);
      if (own.cores == options.cores) result.with_all_cores = std::move(candidate);
      if (found) break;
    } catch (const LoweringFailure& now) {
      if (!failure) failure = now;
    }
  }
  if (merits.empty()) throw *failure;
  return result;
}

// Of a graph whose first nodes alone were searched.
class WholeGraph {
 public:
  WholeGraph(const Graph& graph, const Graph& sample, const Target& target, const Ways& options,
             bool log_accesses)
      : graph_(graph),
        more_(1.1 * double(graph.nodes.size()) / double(sample.nodes.size())),
        target_(target),
        options_(options),
        log_accesses_(log_accesses) {}

  // The first layers can be wrong by the little that decides: whether fewer cores do better is
  // looked at in all of them, unless they are very many.
  LoweredProgram lower(std::span<const Merit> by_cores) const {
    constexpr std::size_t max_tasks_compared = 100'000;
    const Merit* best = &best_of(by_cores);
    LoweredProgram program = lower(*best);
    while (best != by_cores.data() && program.network.tasks.size().tasks < max_tasks_compared) {
      const Merit& other = best_of(by_cores.first(std::size_t(best - by_cores.data())));
      LoweredProgram fewer = lower(other);
      const std::array<Merit, 2> both{merit_of(fewer, target_, options_),
                                      merit_of(program, target_, options_)};
      if (&best_of(both) == &both[1]) break;
      program = std::move(fewer);
      best = &other;
    }
    return program;
  }

 private:
  LoweredProgram lower(const Merit& of_sample) const {
    Ways own = options_;
    own.cores = of_sample.cores;
    const TaskGraph::Size expected{std::size_t(double(of_sample.size.tasks) * more_),
                                   std::size_t(double(of_sample.size.needs) * more_)};
    return lower_for(graph_, target_, own, log_accesses_, expected);
  }

  const Graph& graph_;
  const double more_;
  const Target& target_;
  const Ways& options_;
  const bool log_accesses_;
};

LoweredProgram lower_best(const Graph& graph, const Target& target, const Ways& options,
                          bool log_accesses) {
  if (const std::optional<Graph> sample = first_nodes(graph)) {
    const Search found = search(*sample, target, options, log_accesses);
    return WholeGraph(graph, *sample, target, options, log_accesses).lower(found.by_cores);
  }
  Search found = search(graph, target, options, log_accesses);
  Ways own = options;
  own.cores = best_of(found.by_cores).cores;
  if (own.cores == options.cores) return std::move(*found.with_all_cores);
  return lower_for(graph, target, own, log_accesses, best_of(found.by_cores).size);
}

LoweredProgram lower_in_one_form(const Graph& graph, const Target& target, const Ways& options,
                                 bool log_accesses) {
  return options.cores == 1 ? lower_for(graph, target, options, log_accesses)
                            : lower_best(graph, target, options, log_accesses);
}

}  // namespace

LoweredProgram lower_for_best_cores(const Graph& graph, const Target& target,
                                    const CompileOptions& options, bool log_accesses) {
  if (options.slices > 1 || target.session)
    return lower_for(graph, target, {options}, log_accesses);
  LoweredProgram program = lower_in_one_form(graph, target, {options}, log_accesses);
  if (with_grouped_heads(graph)) {
    try {
      LoweredProgram other = lower_in_one_form(graph, target, {options, true}, log_accesses);
      if (is_better(merit_of(other, target, options), merit_of(program, target, options)))
        program = std::move(other);
    } catch (const LoweringFailure&) {
      // With repeated heads it has found its place.
    }
  }
  program.network.tasks.add_idle_cores(options.cores);
  program.network.metrics.cores.resize(options.cores);
  program.schedule.queues.resize(std::size_t(options.cores) * qaic::thread_groups);
  return program;
}

}  // namespace npuscope::npu::nsp
