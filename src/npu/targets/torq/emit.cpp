#include "base/try.hpp"
#include "npu/targets/torq/lowering.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "base/text.hpp"
#include "npu/targets/torq/program.hpp"
#include "npu/targets/torq/target.hpp"
#include "npu/targets/torq/tiles.hpp"

namespace npuscope::npu::torq {
namespace {

// Adds tasks to a program, and divides its code into blocks as long as the NSS can hold.
//
//   tasks.transfer(Unit::dma_in, 4096);   one task: configure, start, wait
//   tasks.add({start_of(...)});               one task with these steps
class TaskList {
 public:
  TaskList(Program& program, const Target::Nss& nss) : program_(program), nss_(nss) {}

  void begin_program() {
    program_.nss_programs.push_back({});
    block_bytes_ = 0;
  }

  void add(std::initializer_list<Step> steps) {
    std::uint64_t bytes = 0;
    for (const Step& step : steps) {
      const bool transfer = step.starts && (is_dma(step.unit) || is_cdma(step.unit));
      bytes += nss_.step_bytes + (transfer ? nss_.configure_bytes : 0);
    }
    const bool begins_block = block_bytes_ > 0 && block_bytes_ + bytes > nss_.block_bytes;
    block_bytes_ = begins_block ? bytes : block_bytes_ + bytes;
    program_.tasks.push_back({std::uint32_t(steps.size()), begins_block});
    program_.steps.insert(program_.steps.end(), steps);
    ++program_.nss_programs.back().tasks;
  }

  void start(Unit unit, std::uint64_t bytes) { add({transfer_start(unit, bytes)}); }
  void wait(Unit unit) { add({{.unit = unit}}); }
  void transfer(Unit unit, std::uint64_t bytes) {
    if (bytes > 0) add({transfer_start(unit, bytes), {.unit = unit}});
  }
  void start_kernel(Unit unit, std::uint8_t slice, std::uint32_t kernel) {
    add({{.unit = unit, .starts = true, .slice = slice, .kernel = kernel}});
  }
  void wait_kernel(Unit unit, std::uint8_t slice) { add({{.unit = unit, .slice = slice}}); }

 private:
  static Step transfer_start(Unit unit, std::uint64_t bytes) {
    return {.unit = unit, .starts = true, .bytes = bytes};
  }

  Program& program_;
  const Target::Nss& nss_;
  std::uint64_t block_bytes_ = 0;
};

TileSize size_at(const Operation& operation, const TilePlan& plan, std::uint64_t index) {
  const TilePart part = plan.part(index);
  return plan.at(operation.slice, part.row_part, part.channel_part);
}

// Part `index` of `parts` of a size.
std::uint64_t share_of(std::uint64_t whole, std::uint64_t index, std::uint64_t parts) {
  const std::uint64_t even = whole / parts, rest = whole % parts;
  return even + (index < rest);
}

class Emitter {
 public:
  Emitter(const Lowering& lowering, const Graph& graph, const Target& target, Compilation& out)
      : lowering_(lowering),
        graph_(graph),
        target_(target),
        out_(out),
        tasks_(out.program, target.nss) {}

  Status run() {
    for (const Operation& operation : lowering_.operations) {
      if (operation.begins_dispatch) begin_dispatch(operation);
      CompiledOperation& compiled = out_.operations.emplace_back();
      compiled.kernel = operation.kernel;
      compiled.executor = name_of(operation.executor);
      for (const NodeId id : operation.nodes) compiled.nodes.push_back(graph_[id].name);
      TRY(add(operation));
    }
    return {};
  }

 private:
  Status add(const Operation& operation) {
    using Kind = ActionKind;
    switch (operation.executor) {
      case Executor::host_copy:
        add_action(
            {Kind::host_copy, operation.output_bytes, std::max<std::uint64_t>(1, operation.runs)});
        return {};
      case Executor::host_program:
        out_.program.host_programs.push_back({operation.elements, operation.multiply_accumulates});
        add_action({Kind::start_host});
        add_action({Kind::wait_host});
        return {};
      case Executor::slices:
      case Executor::css: break;
    }
    tasks_.begin_program();
    kernels_.clear();
    add_action({Kind::start_nss});
    add_action({Kind::wait_nss});
    return operation.executor == Executor::css ? add_css(operation) : add_slices(operation);
  }

  // A stage is a tile for each slice. While it computes, the next one's data come in and the last
  // one's results go out.
  Status add_slices(const Operation& operation) {
    const auto plan =
        plan_tiles(operation.slice, target_, operation.resident, operation.lram_bytes);
    const std::uint64_t slices = target_.slices.count, tiles = plan->tiles;
    const std::uint64_t tasks_per_tile = 8 + operation.slice.operands;
    TRY(check_room(tiles > max_tasks ? tiles : tiles * tasks_per_tile));
    out_.operations.back().tiles = tiles;
    out_.operations.back().lram_bytes = operation.lram_bytes;
    const auto end_of = [&](std::uint64_t first) { return std::min(first + slices, tiles); };
    load_kernels(operation, *plan);
    move_both_ways(loads_of(operation, *plan, 0, end_of(0)), {});
    std::vector<std::uint64_t> stores;
    for (std::uint64_t first = 0; first < tiles; first += slices) {
      const std::uint64_t end = end_of(first);
      start_stage(operation, *plan, first, end);
      move_both_ways(loads_of(operation, *plan, end, end_of(end)), stores);
      for (std::uint64_t slice = 0; slice < end - first; ++slice) {
        tasks_.wait_kernel(Unit::slice, std::uint8_t(slice));
      }
      stores = stores_of(operation, *plan, first, end);
    }
    move_both_ways({}, stores);
    return {};
  }

  // Data go through LRAM to the memory of the CSS and back, as much at once as that holds; while it
  // computes, the next part comes to LRAM.
  Status add_css(const Operation& operation) {
    const std::uint64_t half = target_.css.data_bytes / 2;
    const std::uint64_t parts = std::max({std::uint64_t{1}, divide_up(operation.input_bytes, half),
                                          divide_up(operation.output_bytes, half)});
    constexpr std::uint64_t tasks_per_part = 7;
    TRY(check_room(parts > max_tasks ? parts : parts * tasks_per_part));
    out_.operations.back().tiles = parts;
    out_.operations.back().lram_bytes = operation.lram_bytes;
    const double each = target_.css_cycles_per_element(operation.kernel);
    const auto kernel_of = [&](std::uint64_t index) {
      const std::uint64_t elements = share_of(operation.elements, index, parts);
      const auto [place, is_new] = kernels_.try_emplace({elements, 0}, 0);
      if (is_new) {
        place->second = add_kernel(operation.kernel == "default" ? "css" : operation.kernel,
                                   target_.css.estimated_cycles, double(elements) * each, true);
      }
      return place->second;
    };
    const auto load = [&](std::uint64_t index) {
      if (index < parts && !operation.resident.input) {
        tasks_.transfer(Unit::dma_in, share_of(operation.input_bytes, index, parts));
      }
    };
    tasks_.transfer(Unit::dma_in, target_.css.code_bytes);
    tasks_.transfer(Unit::cdma_lram_to_itcm, target_.css.code_bytes);
    load(0);
    for (std::uint64_t index = 0; index < parts; ++index) {
      const std::uint64_t results = share_of(operation.output_bytes, index, parts);
      tasks_.transfer(Unit::cdma_lram_to_dtcm, share_of(operation.input_bytes, index, parts));
      tasks_.start_kernel(Unit::css, 0, kernel_of(index));
      load(index + 1);
      tasks_.wait_kernel(Unit::css, 0);
      tasks_.transfer(Unit::cdma_dtcm_to_lram, results);
      if (!operation.resident.output) tasks_.transfer(Unit::dma_out, results);
    }
    return {};
  }

  void begin_dispatch(const Operation& operation) {
    const std::size_t number = out_.program.dispatches.size();
    out_.program.dispatches.push_back(
        {fmt::format("main_dispatch_{}_{}", number, operation.kernel), 0});
    kernels_in_dispatch_ = 0;
  }

  void add_action(Action action) {
    out_.program.actions.push_back(action);
    out_.action_operations.push_back(std::uint32_t(out_.operations.size() - 1));
    ++out_.program.dispatches.back().actions;
  }

  std::uint32_t kernel_for(const Operation& operation, TileSize size) {
    const auto [place, is_new] = kernels_.try_emplace({size.rows, size.channels}, 0);
    if (is_new) {
      const std::uint64_t cycles = kernel_cycles(ndls_of(work_of(operation.slice, size), target_));
      place->second = add_kernel(operation.kernel, cycles,
                                 double(cycles) * (1 + target_.device.slice_stall), false);
    }
    return place->second;
  }

  std::uint32_t add_kernel(std::string_view name, std::uint64_t cycles, double device_cycles,
                           bool css) {
    Kernel& kernel = out_.program.kernels.emplace_back();
    kernel.name = fmt::format("{}_{}", name, kernels_in_dispatch_++);
    kernel.cycles = std::min(cycles, max_cycles + 1);  // which the check refuses
    kernel.device_cycles =
        std::uint64_t(std::min(std::ceil(device_cycles), double(max_cycles + 1)));
    kernel.css = css;
    out_.kernel_operations.push_back(std::uint32_t(out_.operations.size() - 1));
    return std::uint32_t(out_.program.kernels.size() - 1);
  }

  Status check_room(std::uint64_t tasks) const {
    if (tasks <= max_tasks && out_.program.tasks.size() + tasks <= max_tasks) return {};
    return input_error(
        "{} ({}): {} bytes of LRAM cut it into so many tiles that the program would have more than "
        "{} "
        "tasks; use a smaller model",
        printable(out_.operations.back().nodes.front()), out_.operations.back().kernel,
        thousands(target_.lram_bytes), thousands(max_tasks));
  }

  // The last parts of rows and of channels may be smaller and run kernels of their own.
  void load_kernels(const Operation& operation, const TilePlan& plan) {
    for (const std::uint64_t rows : {std::uint64_t{0}, plan.row_parts - 1}) {
      for (const std::uint64_t channels : {std::uint64_t{0}, plan.channel_parts - 1}) {
        const std::size_t known = kernels_.size();
        kernel_for(operation, plan.at(operation.slice, rows, channels));
        if (kernels_.size() > known) tasks_.transfer(Unit::dma_in, target_.slices.code_bytes);
      }
    }
  }

  void start_stage(const Operation& operation, const TilePlan& plan, std::uint64_t first,
                   std::uint64_t end) {
    for (std::uint64_t index = first; index < end; ++index) {
      tasks_.start_kernel(Unit::slice, std::uint8_t(index - first),
                          kernel_for(operation, size_at(operation, plan, index)));
    }
  }

  // What the tiles need that LRAM does not have: weights with each new part of channels, data with
  // each new part of rows.
  std::vector<std::uint64_t> loads_of(const Operation& operation, const TilePlan& plan,
                                      std::uint64_t first, std::uint64_t end) const {
    std::vector<std::uint64_t> bytes;
    const auto load = [&](std::uint64_t size) {
      if (size > 0) bytes.push_back(size);
    };
    for (std::uint64_t index = first; index < end; ++index) {
      const TilePart part = plan.part(index);
      const TilePart before = plan.part(index == 0 ? 0 : index - 1);
      const TileSize size = size_at(operation, plan, index);
      const bool new_repeat = index == 0 || part.repeat != before.repeat;
      const bool new_channels = new_repeat || part.channel_part != before.channel_part;
      if (index == 0) load(operation.slice.shared_bytes);
      if (new_channels) load(weight_bytes(operation.slice, size));
      if (new_repeat || part.row_part != before.row_part ||
          (new_channels && operation.slice.channelwise)) {
        const std::uint64_t streamed =
            operation.slice.operands - (operation.resident.input ? 1 : 0);
        for (std::uint64_t k = 0; k < streamed; ++k) load(input_bytes(operation.slice, size));
      }
    }
    return bytes;
  }

  std::vector<std::uint64_t> stores_of(const Operation& operation, const TilePlan& plan,
                                       std::uint64_t first, std::uint64_t end) const {
    std::vector<std::uint64_t> bytes;
    if (operation.resident.output) return bytes;
    for (std::uint64_t index = first; index < end; ++index) {
      bytes.push_back(output_bytes(operation.slice, size_at(operation, plan, index)));
    }
    return bytes;
  }

  // One transfer in each direction at a time, both directions at once.
  void move_both_ways(const std::vector<std::uint64_t>& in, const std::vector<std::uint64_t>& out) {
    for (std::size_t i = 0; i < std::max(in.size(), out.size()); ++i) {
      if (i < out.size()) tasks_.start(Unit::dma_out, out[i]);
      if (i < in.size()) tasks_.transfer(Unit::dma_in, in[i]);
      if (i < out.size()) tasks_.wait(Unit::dma_out);
    }
  }

  const Lowering& lowering_;
  const Graph& graph_;
  const Target& target_;
  Compilation& out_;
  TaskList tasks_;
  std::uint32_t kernels_in_dispatch_ = 0;
  // Of the operation at hand: tiles of one size run one kernel.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> kernels_;
};

}  // namespace

Status emit(const Lowering& lowering, const Graph& graph, const Target& target,
            Compilation& compilation) {
  return Emitter(lowering, graph, target, compilation).run();
}

}  // namespace npuscope::npu::torq
