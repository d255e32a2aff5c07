#include "npu/targets/ipu/simulate.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>

namespace npuscope::npu::ipu {
namespace {

// The DDR that a few DMA engines share, in whole cycles: with n transfers under way each moves
// min(limit of one, total / n) a cycle, kept in 1/65536 of a byte so that nothing is rounded twice.
//
//   Ddr ddr(total, limit);
//   ddr.begin(engine, bytes);
//   const std::int64_t cycles = *ddr.next_end();      until the first transfer is complete
//   ddr.pass(cycles);
//   ddr.is_complete(engine)
class Ddr {
 public:
  // Bytes a cycle.
  Ddr(double total, double limit_of_one, std::size_t engines)
      : total_(fixed(total)), limit_(fixed(limit_of_one)), left_(engines, 0) {}

  void begin(std::size_t engine, std::uint64_t bytes) { left_[engine] = bytes << fraction_bits; }
  bool is_complete(std::size_t engine) const { return left_[engine] == 0; }

  std::optional<std::int64_t> next_end() const {
    std::optional<std::int64_t> min;
    const std::uint64_t rate = rate_of_one();
    for (const std::uint64_t left : left_) {
      if (left == 0) continue;
      const auto cycles = std::int64_t((left + rate - 1) / rate);
      min = std::min(min.value_or(cycles), cycles);
    }
    return min;
  }

  void pass(std::int64_t cycles) {
    const std::uint64_t moved = rate_of_one() * std::uint64_t(cycles);
    for (std::uint64_t& left : left_) left -= std::min(left, moved);
  }

 private:
  static constexpr int fraction_bits = 16;
  static std::uint64_t fixed(double bytes_a_cycle) {
    return std::max<std::uint64_t>(1, std::uint64_t(bytes_a_cycle * (1 << fraction_bits)));
  }
  std::uint64_t rate_of_one() const {
    const auto active =
        std::uint64_t(std::ranges::count_if(left_, [](std::uint64_t left) { return left > 0; }));
    return std::max<std::uint64_t>(1,
                                   std::min(limit_, total_ / std::max<std::uint64_t>(1, active)));
  }

  std::uint64_t total_, limit_;
  std::vector<std::uint64_t> left_;  // of each engine's transfer
};

using sigmastar::LogEngine;
using sigmastar::LogInterval;
using sigmastar::ProgramLayer;
using sigmastar::ProgramTile;

constexpr std::size_t stages = 4;
constexpr std::array<LogEngine, stages> engine_of_stage{LogEngine::dma_load, LogEngine::conv,
                                                        LogEngine::vector, LogEngine::dma_store};
constexpr std::size_t load = 0, store = 3;
constexpr std::uint32_t buffers = 2;  // between two engines
constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

bool moves_data(std::size_t stage) { return stage == load || stage == store; }

// A tile in the order of its core.
struct Step {
  std::uint32_t layer = 0;
  std::uint32_t tile = 0;
  std::array<std::uint32_t, stages> amount{};  // bytes or cycles
  std::array<bool, stages> done{};

  std::size_t after(std::size_t stage) const { return present(stage + 1); }
  std::size_t present(std::size_t stage) const {
    while (stage < stages && amount[stage] == 0) ++stage;
    return stage;
  }
  std::size_t before(std::size_t stage) const {
    while (stage-- > 0)
      if (amount[stage] > 0) return stage;
    return nothing;
  }
};

struct EngineState {
  enum class Phase : std::uint8_t { free, fixed, moving, logging };
  Phase phase = Phase::free;
  std::size_t step = 0;        // under way, or the next to begin
  std::int64_t begin = 0;      // of what is under way
  std::int64_t phase_end = 0;  // where the phase has a fixed length
};

struct Core {
  std::vector<Step> steps;
  std::array<EngineState, stages> engines;
  std::vector<std::size_t> first_step;  // by layer; nothing: no part in it
  CoreRun run;
};

class Machine {
 public:
  Machine(const sigmastar::Program& program, const Target& target, bool logging)
      : target_(target),
        ddr_(target.ddr_bytes_per_s / target.clock_hz,
             target.ddr_bytes_per_s_per_engine / target.clock_hz, program.cores * stages),
        record_cycles_(logging ? 2 * std::int64_t{target.record_cycles} : 0),
        cores_(program.cores),
        left_(program.layers.size()) {
    for (std::uint32_t layer = 0; layer < program.layers.size(); ++layer) {
      add_layer(program.layers[layer], layer);
    }
  }

  Inference run() {
    now_ = last_end_ = target_.start_cycles;
    skip_done_layers();
    for (Core& core : cores_) skip_absent(core);
    while (true) {
      start_engines();
      const std::int64_t next = next_event();
      if (next == std::numeric_limits<std::int64_t>::max()) break;
      ddr_.pass(next - now_);
      now_ = next;
      for (std::size_t core = 0; core < cores_.size(); ++core) {
        for (std::size_t stage = 0; stage < stages; ++stage) advance(core, stage);
      }
    }
    result_.cycles = last_end_ + target_.end_cycles;
    for (Core& core : cores_) {
      finish(core);
      result_.cores.push_back(std::move(core.run));
    }
    return std::move(result_);
  }

 private:
  void add_layer(const ProgramLayer& layer, std::uint32_t number) {
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      Core& core = cores_[c];
      const std::size_t first = core.steps.size();
      const auto tiles = c < layer.cores.size() ? layer.cores[c].size() : 0;
      for (std::uint32_t tile = 0; tile < tiles; ++tile) {
        const ProgramTile& each = layer.cores[c][tile];
        Step step{number,
                  tile,
                  {each.load_bytes, each.conv_cycles, each.vector_cycles, each.store_bytes},
                  {}};
        if (step.present(0) == stages) continue;
        for (const std::uint32_t amount : step.amount) left_[number] += amount > 0;
        result_.load_bytes += each.load_bytes;
        result_.store_bytes += each.store_bytes;
        core.steps.push_back(step);
      }
      core.first_step.push_back(core.steps.size() > first ? first : nothing);
    }
  }

  // All layers before layers_done_ have ended.
  void skip_done_layers() {
    while (layers_done_ < left_.size() && left_[layers_done_] == 0) ++layers_done_;
  }

  void skip_absent(Core& core) const {
    for (std::size_t stage = 0; stage < stages; ++stage) skip_absent(core, stage);
  }
  void skip_absent(Core& core, std::size_t stage) const {
    std::size_t& step = core.engines[stage].step;
    while (step < core.steps.size() && core.steps[step].amount[stage] == 0) ++step;
  }

  // The step of `core` that is `tile` of the same layer as the one at `at`, which is later.
  static const Step* earlier_tile(const Core& core, std::size_t at, std::uint32_t tile) {
    const std::uint32_t layer = core.steps[at].layer;
    while (at > 0 && core.steps[at - 1].layer == layer && core.steps[at - 1].tile >= tile) --at;
    const Step& found = core.steps[at];
    return found.layer == layer && found.tile == tile ? &found : nullptr;
  }

  bool may_begin(const Core& core, std::size_t at, std::size_t stage) const {
    const Step& step = core.steps[at];
    if (step.tile == 0) return true;
    if (layers_done_ < step.layer) return false;
    const std::size_t before = step.before(stage);
    if (before != nothing && !step.done[before]) return false;
    if (stage != load) {  // weights that were loaded ahead
      const Step& first = core.steps[core.first_step[step.layer]];
      if (first.tile == 0 && !first.done[load]) return false;
    }
    if (step.tile <= buffers) return true;
    const Step* earlier = earlier_tile(core, at, step.tile - buffers);
    if (earlier == nullptr || earlier->amount[stage] == 0) return true;
    const std::size_t taker = earlier->after(stage);
    return taker == stages || earlier->done[taker];
  }

  void start_engines() {
    for (Core& core : cores_) {
      for (std::size_t stage = 0; stage < stages; ++stage) {
        EngineState& engine = core.engines[stage];
        if (engine.phase != EngineState::Phase::free || engine.step == core.steps.size() ||
            !may_begin(core, engine.step, stage)) {
          continue;
        }
        engine.phase = EngineState::Phase::fixed;
        engine.begin = now_;
        engine.phase_end =
            now_ + (moves_data(stage)
                        ? std::int64_t{target_.dma_issue_cycles} + target_.ddr_latency_cycles
                        : std::int64_t{core.steps[engine.step].amount[stage]});
      }
    }
  }

  std::int64_t next_event() const {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const Core& core : cores_) {
      for (const EngineState& engine : core.engines) {
        const bool has_end = engine.phase == EngineState::Phase::fixed ||
                             engine.phase == EngineState::Phase::logging;
        if (has_end) next = std::min(next, engine.phase_end);
      }
    }
    if (const auto moved = ddr_.next_end()) next = std::min(next, now_ + *moved);
    return next;
  }

  void advance(std::size_t core, std::size_t stage) {
    EngineState& engine = cores_[core].engines[stage];
    const std::size_t client = core * stages + stage;
    using Phase = EngineState::Phase;
    if (engine.phase == Phase::fixed && engine.phase_end == now_) {
      if (!moves_data(stage)) return end_work(cores_[core], stage);
      engine.phase = Phase::moving;
      ddr_.begin(client, cores_[core].steps[engine.step].amount[stage]);
    } else if (engine.phase == Phase::moving && ddr_.is_complete(client)) {
      end_work(cores_[core], stage);
    } else if (engine.phase == Phase::logging && engine.phase_end == now_) {
      engine.phase = Phase::free;
    }
  }

  void end_work(Core& core, std::size_t stage) {
    EngineState& engine = core.engines[stage];
    Step& step = core.steps[engine.step];
    core.run.intervals.push_back({engine.begin, now_, step.layer, engine_of_stage[stage],
                                  std::uint16_t(step.tile),
                                  moves_data(stage) ? step.amount[stage] : 0});
    step.done[stage] = true;
    --left_[step.layer];
    last_end_ = std::max(last_end_, now_);
    skip_done_layers();
    ++engine.step;
    skip_absent(core, stage);
    engine.phase = record_cycles_ > 0 ? EngineState::Phase::logging : EngineState::Phase::free;
    engine.phase_end = now_ + record_cycles_;
  }

  static void finish(Core& core) {
    auto& intervals = core.run.intervals;
    std::ranges::sort(intervals, [](const LogInterval& a, const LogInterval& b) {
      return std::tie(a.begin, a.engine) < std::tie(b.begin, b.engine);
    });
    for (const LogInterval& each : intervals) {
      if (each.tile == 0) continue;
      auto& layers = core.run.layers;
      if (layers.empty() || layers.back().layer != each.layer) {
        layers.push_back({each.begin, each.end, each.layer, LogEngine::layer, 0, 0});
      }
      layers.back().end = std::max(layers.back().end, each.end);
    }
  }

  const Target& target_;
  Ddr ddr_;
  std::int64_t record_cycles_;
  std::vector<Core> cores_;
  std::vector<std::uint64_t> left_;  // by layer: intervals that have not ended
  std::uint32_t layers_done_ = 0;
  std::int64_t now_ = 0, last_end_ = 0;
  Inference result_;
};

}  // namespace

Inference simulate(const sigmastar::Program& program, const Target& target, bool logging) {
  return Machine(program, target, logging).run();
}

}  // namespace npuscope::npu::ipu
