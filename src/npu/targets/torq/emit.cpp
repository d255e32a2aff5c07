// Stages become tasks: what a call needs and LRAM does not hold comes in, the slice starts, and
// while it computes the constants of the next call come in; then it is waited for and results that
// nobody reads in LRAM go out.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npu/targets/torq/lowering.hpp"
#include "npu/targets/torq/stages.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t first_code_bytes = 72;  // that the host copies: it loads the first block

// Adds tasks to a program. The NSS runs blocks of a few tasks, the last of which loads the next.
class TaskList {
 public:
  TaskList(Compilation& out, const Target& target) : out_(out), target_(target) {}

  bool in_program() const { return in_program_; }
  void begin_program() {
    out_.program.nss_programs.push_back({});
    in_program_ = true;
  }
  void end_program() { in_program_ = false; }

  void of_operation(std::uint32_t operation) { operation_ = operation; }

  void add(std::initializer_list<Step> steps) {
    if (tasks_in_block_ + 1 == target_.nss.block_tasks) load_block();
    push(steps);
    ++tasks_in_block_;
  }

  // The block behind the last task of this one.
  void load_block() {
    push({start_of(Unit::dma_in, target_.nss.block_bytes), {.unit = Unit::dma_in}});
    begins_block_ = true;
    tasks_in_block_ = 0;
  }

  void transfer(Unit unit, std::uint64_t bytes) {
    if (bytes > 0) add({start_of(unit, bytes), {.unit = unit}});
  }

 private:
  static Step start_of(Unit unit, std::uint64_t bytes) {
    return {.unit = unit, .starts = true, .bytes = bytes};
  }

  void push(std::initializer_list<Step> steps) {
    Program& program = out_.program;
    program.tasks.push_back({std::uint32_t(steps.size()), std::exchange(begins_block_, false)});
    program.steps.insert(program.steps.end(), steps);
    out_.task_operations.push_back(operation_);
    ++program.nss_programs.back().tasks;
  }

  Compilation& out_;
  const Target& target_;
  std::uint32_t operation_ = 0;
  std::uint64_t tasks_in_block_ = 0;
  bool begins_block_ = false;
  bool in_program_ = false;
};

// Which buffers LRAM holds, and for how long somebody needs them.
class Lram {
 public:
  Lram(const Stages& stages, const Target& target)
      : stages_(stages), room_(target.lram_for_data()), readers_(stages.buffers.size()) {
    for (const Stage& stage : stages.stages) {
      for (const Read& read : stage.reads) ++readers_[read.buffer];
    }
  }

  bool holds(std::uint32_t buffer) const { return held_.contains(buffer); }
  std::uint64_t room() const { return room_ > used_ ? room_ - used_ : 0; }

  void hold(std::uint32_t buffer) {
    if (readers_[buffer] > 0 && held_.insert(buffer).second) used_ += stages_.buffers[buffer].bytes;
  }
  void drop(std::uint32_t buffer) {
    if (held_.erase(buffer) > 0) used_ -= stages_.buffers[buffer].bytes;
  }
  // After a stage that read them.
  void release(const std::vector<Read>& reads) {
    for (const Read& read : reads) {
      if (--readers_[read.buffer] == 0) drop(read.buffer);
    }
  }

  // Copies of what is in XRAM serve one operation.
  void drop_copies() {
    std::vector<std::uint32_t> copies;
    for (const std::uint32_t each : held_) {
      if (stages_.buffers[each].outside && !stages_.buffers[each].constant) copies.push_back(each);
    }
    for (const std::uint32_t each : copies) drop(each);
  }
  // A buffer that came in part by part, if others want it again.
  void hold_for_others(std::uint32_t buffer) {
    if (readers_[buffer] > 1 && stages_.buffers[buffer].bytes <= room()) hold(buffer);
  }

  // The largest that the stage does not read.
  std::optional<std::uint32_t> to_evict(const Stage& stage) const {
    std::optional<std::uint32_t> largest;
    for (const std::uint32_t each : held_) {
      const bool is_used =
          each == stage.result ||
          std::ranges::any_of(stage.reads, [&](const Read& read) { return read.buffer == each; });
      if (is_used) continue;
      if (!largest || stages_.buffers[each].bytes > stages_.buffers[*largest].bytes) largest = each;
    }
    return largest;
  }

 private:
  const Stages& stages_;
  std::uint64_t room_, used_ = 0;
  std::vector<std::uint32_t> readers_;
  std::set<std::uint32_t> held_;
};

class Emitter {
 public:
  Emitter(const Lowering& lowering, const Graph& graph, const Target& target, const Stages& stages,
          Compilation& out)
      : lowering_(lowering),
        graph_(graph),
        target_(target),
        stages_(stages),
        out_(out),
        tasks_(out, target),
        lram_(stages, target),
        running_(target.slices.count),
        in_xram_(stages.buffers.size()),
        fetched_(stages.stages.size()) {}

  Status run() {
    describe_operations();
    for (at_ = 0; at_ < stages_.stages.size(); ++at_) {
      const Stage& stage = stages_.stages[at_];
      if (stage.kind == StageKind::host_program) {
        host_program(stage);
        continue;
      }
      begin_program();
      prefetch();
      stage.follows ? release() : wait_for_all();
      if (at_ > 0 && stages_.stages[at_ - 1].operation != stage.operation) lram_.drop_copies();
      tasks_.of_operation(stage.operation);
      make_room(stage);
      switch (stage.kind) {
        case StageKind::slices: slices(stage); break;
        case StageKind::css: css(stage); break;
        default: move(stage); break;
      }
      read_ = stage.reads;
      TRY(check_room());
    }
    end_program();
    return {};
  }

 private:
  void describe_operations() {
    std::uint64_t most = 0;
    std::string heaviest = lowering_.operations.front().kernel;
    for (const Operation& operation : lowering_.operations) {
      CompiledOperation& compiled = out_.operations.emplace_back();
      compiled.kernel = operation.kernel;
      compiled.executor = name_of(operation.executor);
      for (const NodeId id : operation.nodes) compiled.nodes.push_back(graph_[id].name);
      const std::uint64_t products = multiply_accumulates(graph_, graph_[operation.nodes.front()]);
      if (products <= most) continue;
      most = products;
      heaviest = operation.kernel;
    }
    for (const std::uint32_t operation : stages_.on_host) {
      out_.operations[operation].kernel = "host";
      out_.operations[operation].executor = name_of(Executor::host_program);
    }
    out_.warnings.insert(out_.warnings.end(), stages_.warnings.begin(), stages_.warnings.end());
    std::ranges::replace(heaviest, '-', '_');
    out_.program.dispatches.push_back({"main_dispatch_0_" + heaviest, 0});
  }

  // The host copies the code of the first program, which loads a block of the second.
  void begin_program() {
    if (tasks_.in_program()) return;
    tasks_.of_operation(stages_.stages[at_].operation);
    if (out_.program.nss_programs.empty()) {
      add_action({ActionKind::host_copy, first_code_bytes, 1});
      start_program();
      tasks_.load_block();
      tasks_.end_program();
    }
    start_program();
  }

  void start_program() {
    add_action({ActionKind::start_nss});
    add_action({ActionKind::wait_nss});
    tasks_.begin_program();
  }

  // The last task of a program loads the block that the next begins with.
  void end_program() {
    if (!tasks_.in_program()) return;
    wait_for_all();
    const bool goes_on = std::any_of(
        stages_.stages.begin() + std::ptrdiff_t(std::min(at_ + 1, stages_.stages.size())),
        stages_.stages.end(),
        [](const Stage& each) { return each.kind != StageKind::host_program; });
    if (goes_on) tasks_.load_block();
    tasks_.end_program();
  }

  void host_program(const Stage& stage) {
    end_program();
    out_.program.host_programs.push_back(
        {stage.calls.front().elements,
         stage.calls.front().products > 0
             ? multiply_accumulates(graph_,
                                    graph_[lowering_.operations[stage.operation].nodes.front()])
             : 0});
    add_action({ActionKind::start_host});
    add_action({ActionKind::wait_host});
  }

  void add_action(Action action) {
    out_.program.actions.push_back(action);
    out_.action_operations.push_back(stages_.stages[at_].operation);
    ++out_.program.dispatches.back().actions;
  }

  // Constants of the next call while slices compute and LRAM has room; those of calls further on
  // where they come in before the slices end, and are not of one slice alone.
  void prefetch() {
    constexpr std::size_t stages_ahead = 8;
    if (std::ranges::none_of(running_, [](const Running& each) { return each.stage != nullptr; }))
      return;
    std::uint64_t cycles = 0;
    for (std::size_t i = at_; i < std::min(at_ + stages_ahead, stages_.stages.size()); ++i) {
      const Stage& stage = stages_.stages[i];
      if (stage.kind == StageKind::host_program) continue;
      if (stage.kind != StageKind::slices) return;
      if (fetched_[i] || (i > at_ && stage.calls.size() > 1)) continue;
      const std::vector<std::uint64_t> constants = constants_of(stage);
      std::uint64_t bytes = 0;
      for (const std::uint64_t each : constants) {
        bytes += each;
        cycles += dma_cycles(each, target_, Direction::in);
      }
      if (bytes + in_use_ + fetched_bytes_ > lram_.room() || (i > at_ && cycles > computing_))
        return;
      tasks_.of_operation(stage.operation);
      for (const std::uint64_t each : constants) tasks_.transfer(Unit::dma_in, each);
      for (const Read& read : stage.reads) {
        if (stages_.buffers[read.buffer].constant && read.whole) lram_.hold(read.buffer);
      }
      fetched_bytes_ += bytes;
      fetched_[i] = true;
    }
  }

  std::vector<std::uint64_t> constants_of(const Stage& stage) const {
    std::vector<std::uint64_t> constants = stage.calls.front().constants;
    for (const Read& read : stage.reads) {
      const Buffer& buffer = stages_.buffers[read.buffer];
      if (buffer.constant && read.whole && !lram_.holds(read.buffer))
        constants.push_back(buffer.bytes);
    }
    return constants;
  }

  // What a stage needs besides buffers that LRAM holds.
  std::uint64_t needs_of(const Stage& stage) const {
    std::uint64_t bytes = 0;
    const std::size_t at_once = std::min<std::size_t>(stage.calls.size(), running_.size());
    for (std::size_t i = 0; i < stage.calls.size(); ++i) {
      const Call& call = stage.calls[i];
      const bool makes = stage.kind != StageKind::move;  // or else it goes out as it came
      if (makes && stages_.buffers[stage.result].outside) bytes += call.writes;
      for (const std::uint64_t each : call.constants) bytes += each;
      for (std::size_t k = 0; k < stage.reads.size(); ++k) {
        const std::uint64_t frame = k == 0 ? call.frame : 0;  // what was read is in it
        if (!stage.reads[k].whole && !lram_.holds(stage.reads[k].buffer))
          bytes += std::max(frame, call.reads[k]);
      }
    }
    return bytes + at_once * target_.slices.program_bytes;
  }

  void make_room(const Stage& stage) {
    std::uint64_t wanted = in_use_ = needs_of(stage);
    const auto add = [&](std::uint32_t buffer) {
      if (!lram_.holds(buffer)) wanted += stages_.buffers[buffer].bytes;
    };
    for (const Read& read : stage.reads) {
      if (read.whole) add(read.buffer);
    }
    if (!stages_.buffers[stage.result].outside) add(stage.result);
    CompiledOperation& operation = out_.operations[stage.operation];
    operation.tiles += stage.calls.size();
    operation.lram_bytes = std::max(operation.lram_bytes, wanted);
    while (wanted > lram_.room()) {
      const auto evicted = lram_.to_evict(stage);
      if (!evicted) break;
      if (!in_xram_[*evicted]) tasks_.transfer(Unit::dma_out, stages_.buffers[*evicted].bytes);
      in_xram_[*evicted] = true;
      lram_.drop(*evicted);
    }
  }

  void load(const Stage& stage, std::size_t index) {
    const Call& call = stage.calls[index];
    for (std::size_t k = 0; k < stage.reads.size(); ++k) {
      const Read& read = stage.reads[k];
      const bool is_framed = k == 0 && call.frame > 0;
      if (is_framed) tasks_.transfer(Unit::dma_out, call.frame);
      if (!lram_.holds(read.buffer)) {
        tasks_.transfer(Unit::dma_in,
                        read.whole ? stages_.buffers[read.buffer].bytes : call.reads[k]);
        if (read.whole) lram_.hold(read.buffer);
      }
      if (!is_framed) continue;
      tasks_.transfer(Unit::dma_out, call.reads[k]);
      tasks_.transfer(Unit::dma_in, call.frame);
    }
    if (index > 0 || !fetched_[at_]) {
      for (const std::uint64_t each : call.constants) tasks_.transfer(Unit::dma_in, each);
    }
  }

  void slices(const Stage& stage) {
    std::map<std::uint64_t, std::uint32_t> kernels;  // by cycles
    const std::uint32_t number = kernels_in_dispatch_++;
    if (!stages_.buffers[stage.result].outside) lram_.hold(stage.result);
    for (std::size_t i = 0; i < stage.calls.size(); ++i) {
      const std::size_t slice = i % running_.size();
      wait_for(slice);
      tasks_.of_operation(stage.operation);
      load(stage, i);
      const auto [place, is_new] = kernels.try_emplace(stage.calls[i].cycles, 0);
      if (is_new)
        place->second = add_kernel(names_of(stage.kernel).program, number, stage.calls[i].cycles);
      tasks_.transfer(Unit::dma_in, stage.code_bytes);
      tasks_.add({{.unit = Unit::slice,
                   .starts = true,
                   .slice = std::uint8_t(slice),
                   .kernel = place->second}});
      running_[slice] = {&stage, stage.calls[i].writes};
      computing_ = stage.calls[i].cycles;
    }
    fetched_bytes_ = 0;
    for (const Read& read : stage.reads) {
      if (!read.whole && !lram_.holds(read.buffer)) lram_.hold_for_others(read.buffer);
    }
  }

  // Data, a place for results and parameters go to the memory of the CSS, results come back. Its
  // transfers count elements.
  void css(const Stage& stage) {
    const Call& call = stage.calls.front();
    tasks_.transfer(Unit::dma_in, stage.code_bytes);
    tasks_.transfer(Unit::cdma_lram_to_itcm, stage.code_bytes);
    for (std::size_t k = 0; k < stage.reads.size(); ++k) {
      if (!lram_.holds(stage.reads[k].buffer)) tasks_.transfer(Unit::dma_in, call.reads[k]);
      lram_.hold_for_others(stage.reads[k].buffer);
      tasks_.transfer(Unit::cdma_lram_to_dtcm,
                      call.placed.empty() ? call.elements : call.placed[k]);
    }
    for (const std::uint64_t bytes : call.constants) {
      tasks_.transfer(Unit::dma_in, bytes);
      tasks_.transfer(Unit::cdma_lram_to_dtcm, bytes / 4);
    }
    const double cycles =
        double(call.elements) * double(call.products) *
        target_.css_cycles_per_element(lowering_.operations[stage.operation].kernel);
    const std::uint32_t kernel =
        add_kernel("css", kernels_in_dispatch_++, target_.css.estimated_cycles, cycles, true);
    tasks_.add({{.unit = Unit::css, .starts = true, .kernel = kernel}});
    tasks_.add({{.unit = Unit::css}});
    tasks_.transfer(Unit::cdma_dtcm_to_lram, call.elements);
    tasks_.transfer(Unit::dma_out, call.writes);
  }

  void move(const Stage& stage) {
    for (const Call& call : stage.calls) {
      for (std::size_t k = 0; k < stage.reads.size(); ++k) {
        if (!lram_.holds(stage.reads[k].buffer)) tasks_.transfer(Unit::dma_in, call.reads[k]);
      }
      tasks_.transfer(Unit::dma_out, call.writes);
    }
  }

  void wait_for(std::size_t slice) {
    Running& running = running_[slice];
    if (running.stage == nullptr) return;
    tasks_.of_operation(running.stage->operation);
    tasks_.add({{.unit = Unit::slice, .slice = std::uint8_t(slice)}});
    if (stages_.buffers[running.stage->result].outside)
      tasks_.transfer(Unit::dma_out, running.writes);
    running = {};
  }

  void wait_for_all() {
    for (std::size_t slice = 0; slice < running_.size(); ++slice) wait_for(slice);
    release();
  }

  // What the last stage read; where one follows it, each call waits for the same one of it.
  void release() {
    lram_.release(read_);
    read_.clear();
    in_use_ = 0;
  }

  std::uint32_t add_kernel(std::string_view name, std::uint32_t number, std::uint64_t cycles,
                           std::optional<double> device_cycles = {}, bool is_css = false) {
    const double device = device_cycles.value_or(double(cycles) * (1 + target_.device.slice_stall));
    Kernel& kernel = out_.program.kernels.emplace_back();
    kernel.name = fmt::format("{}_{}", name, number);
    kernel.cycles = std::min(cycles, max_cycles + 1);  // which the check refuses
    kernel.device_cycles = std::uint64_t(std::min(std::ceil(device), double(max_cycles + 1)));
    kernel.css = is_css;
    out_.kernel_operations.push_back(stages_.stages[at_].operation);
    return std::uint32_t(out_.program.kernels.size() - 1);
  }

  Status check_room() const {
    if (out_.program.tasks.size() <= max_tasks) return {};
    return input_error(
        "{} ({}): with its tiles the program would have more than {} tasks; use a smaller model",
        printable(graph_[lowering_.operations[stages_.stages[at_].operation].nodes.front()].name),
        out_.operations[stages_.stages[at_].operation].kernel, thousands(max_tasks));
  }

  struct Running {
    const Stage* stage = nullptr;  // whose call runs
    std::uint64_t writes = 0;
  };

  const Lowering& lowering_;
  const Graph& graph_;
  const Target& target_;
  const Stages& stages_;
  Compilation& out_;
  TaskList tasks_;
  Lram lram_;
  std::vector<Running> running_;  // by slice
  std::vector<bool> in_xram_;     // buffers that had to go out
  std::vector<Read> read_;        // by the last stage
  std::size_t at_ = 0;            // the stage at hand
  std::vector<bool> fetched_;     // stages whose constants are there
  std::uint64_t fetched_bytes_ = 0;
  std::uint64_t in_use_ = 0;     // of LRAM, by the stage that runs
  std::uint64_t computing_ = 0;  // cycles of its last call
  std::uint32_t kernels_in_dispatch_ = 0;
};

}  // namespace

Status emit(const Lowering& lowering, const Graph& graph, const Target& target,
            Compilation& compilation) {
  TRY_AS(stages, stages_of(lowering, graph, target));
  return Emitter(lowering, graph, target, *stages, compilation).run();
}

}  // namespace npuscope::npu::torq
