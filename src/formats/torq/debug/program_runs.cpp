#include "formats/torq/debug/program_runs.hpp"

#include <algorithm>
#include <map>

namespace npuscope::torq {
namespace {

constexpr std::size_t max_tasks = std::size_t{1} << 22;  // over all runs of all programs

std::string_view without_number(std::string_view value) { return value.substr(0, value.find('#')); }

// "slice_program_torq_hl.add_0" runs the kernel add_0.
std::string kernel_of(std::string_view program) {
  constexpr std::string_view prefix = "slice_program_torq_hl.";
  if (program.starts_with(prefix)) program.remove_prefix(prefix.size());
  return std::string(program);
}

// The values of a program's blocks, followed to where they come from.
class ProgramValues {
 public:
  explicit ProgramValues(const DispatchText::Program& program) : program_(program) {
    for (std::size_t i = 0; i < program.blocks.size(); ++i) {
      const DispatchText::Block& block = program.blocks[i];
      for (std::size_t k = 0; k < block.arguments.size(); ++k) {
        argument_.try_emplace(block.arguments[k], i, k);
      }
      if (!block.next.empty()) before_.try_emplace(block.next, i);
    }
  }

  // The value of the function that start_program passed; the value itself where it is no argument.
  std::string_view origin_of(std::string_view value,
                             const std::vector<std::string_view>& arguments) {
    const Origin& origin = follow(value);
    if (!origin.is_argument) return origin.value;
    return origin.place < arguments.size() ? arguments[origin.place] : std::string_view();
  }

 private:
  // An argument of the first block, or a value; empty where nothing passes it.
  struct Origin {
    bool is_argument = false;
    std::size_t place = 0;
    std::string_view value{};
  };

  // Back from block to block, and remembered for every value on the way: programs have thousands.
  const Origin& follow(std::string_view value) {
    std::vector<std::string_view> way;
    Origin origin;  // of blocks that follow each other in a circle: empty
    while (way.size() <= program_.blocks.size()) {
      if (const auto known = origins_.find(value); known != origins_.end()) {
        origin = known->second;
        break;
      }
      way.push_back(value);
      const auto found = argument_.find(value);
      if (found == argument_.end() || found->second.first == 0) {
        const bool is_argument = found != argument_.end();
        origin = {is_argument, is_argument ? found->second.second : 0, value};
        break;
      }
      const auto [block, place] = found->second;
      const auto before = before_.find(program_.blocks[block].label);
      if (before == before_.end()) break;
      const auto& passes = program_.blocks[before->second].passes;
      if (place >= passes.size()) break;
      value = passes[place];
    }
    for (const std::string_view each : way) origins_[each] = origin;
    return origins_.try_emplace(value, origin).first->second;
  }

  const DispatchText::Program& program_;
  std::map<std::string_view, std::pair<std::size_t, std::size_t>> argument_;
  std::map<std::string_view, std::size_t> before_;
  std::unordered_map<std::string_view, Origin> origins_;
};

class Follower {
 public:
  Follower(const DispatchText& text, DispatchInfo& dispatch, CountedNotes& notes)
      : text_(text), dispatch_(dispatch), notes_(notes) {}

  void run() {
    for (const DispatchText::Control& control : text_.controls) {
      control.starts ? start(control) : wait(control);
    }
    for (const ProgramRun& each : dispatch_.programs) {
      if (each.wait_action < 0) note("programs that are started and never waited for");
    }
    for (const auto& pending : pending_) {
      if (!pending.empty()) note("operations of a unit that no task waits for");
    }
  }

 private:
  void start(const DispatchText::Control& control);
  void wait(const DispatchText::Control& control);
  void follow(const DispatchText::Program& program, const DispatchText::Control& control,
              ProgramRun& run);
  void list(const DispatchText::Task& task, const std::vector<std::string>& kernels,
            ProgramRun& run);
  void begin(const DispatchText::Step& step, const DispatchText::Task& task,
             std::string_view kernel, const DispatchText::Step* configured, ProgramRun& run);
  void use(std::string_view buffer, std::uint32_t LramBuffer::*count);
  void end(const DispatchText::Step& step, const NssTask& task, ProgramRun& run);
  std::optional<NpuUnit> unit_of(const DispatchText::Step& step);
  ProgramValues& values_of(std::size_t program);
  void note(std::string_view what) { notes_.add(Severity::warning, 0, what); }

  const DispatchText& text_;
  DispatchInfo& dispatch_;
  CountedNotes& notes_;
  std::map<std::string_view, std::uint32_t> open_;  // programs by invocation
  std::array<std::vector<UnitWork>, npu_unit_count> pending_;
  std::map<std::size_t, ProgramValues> values_;
  std::map<std::int64_t, std::string> last_kernels_;           // of slices
  std::vector<std::uint32_t> program_of_task_;                 // in DispatchInfo::programs
  std::unordered_map<std::string_view, std::size_t> buffers_;  // in DispatchInfo::lram
};

void add_bytes(WorkKind kind, const std::optional<std::int64_t>& bytes, ProgramRun& run) {
  if (!bytes || (kind != WorkKind::dma_in && kind != WorkKind::dma_out)) return;
  auto& sum = kind == WorkKind::dma_in ? run.read_bytes : run.written_bytes;
  sum = saturating_add(sum.value_or(0), *bytes);
}

void widen(std::optional<Interval>& whole, const std::optional<Interval>& part) {
  if (!part) return;
  if (!whole) whole = part;
  whole->begin = std::min(whole->begin, part->begin);
  whole->end = std::max(whole->end, part->end);
}

void Follower::start(const DispatchText::Control& control) {
  const auto index = std::uint32_t(dispatch_.programs.size());
  Action& action = dispatch_.actions[control.action];
  action.program = index;
  ProgramRun run{.executor = control.executor, .location = action.location};
  run.start_action = action.id;
  const auto known = text_.invocations.find(without_number(control.invocation));
  if (known == text_.invocations.end()) {
    note("programs started by an invocation that nothing describes");
  } else {
    run.name = known->second.name;
    run.job = known->second.job;
    if (known->second.program && control.executor == Executor::nss) {
      follow(text_.programs[*known->second.program], control, run);
    }
  }
  open_[control.invocation] = index;
  dispatch_.programs.push_back(std::move(run));
}

void Follower::wait(const DispatchText::Control& control) {
  const auto open = open_.find(control.invocation);
  if (open == open_.end()) return note("waits for a program that nothing started");
  dispatch_.actions[control.action].program = open->second;
  dispatch_.programs[open->second].wait_action = dispatch_.actions[control.action].id;
  open_.erase(open);
}

ProgramValues& Follower::values_of(std::size_t program) {
  return values_.try_emplace(program, text_.programs[program]).first->second;
}

void Follower::follow(const DispatchText::Program& program, const DispatchText::Control& control,
                      ProgramRun& run) {
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
    run.uses[unit] = !pending_[unit].empty();
  }
  if (dispatch_.tasks.size() + program.tasks.size() > max_tasks) {
    return note("programs beyond the first four million tasks; their tasks are left out");
  }
  ProgramValues& values = values_of(std::size_t(&program - text_.programs.data()));
  run.first_task = std::uint32_t(dispatch_.tasks.size());
  run.task_count = std::uint32_t(program.tasks.size());
  run.first_operation = std::uint32_t(dispatch_.operations.size());
  for (const DispatchText::Task& task : program.tasks) {
    dispatch_.tasks.push_back(task.task);
    program_of_task_.push_back(std::uint32_t(dispatch_.programs.size()));
    for (const auto buffer : task.kernel_buffers) use(buffer, &LramBuffer::kernels);
    for (const auto buffer : task.transfer_buffers) use(buffer, &LramBuffer::transfers);
    widen(run.cycles, task.task.cycles);
    std::vector<std::string> kernels;  // of the task's starts of slices
    // By kind, not by place: the vendor's tools take the slices first.
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
      auto configured = task.configures.begin();
      for (const DispatchText::Step& step : task.starts) {
        if (std::size_t(step.kind) != kind) continue;
        configured = std::find_if(configured, task.configures.end(),
                                  [&](const auto& each) { return each.kind == step.kind; });
        const bool is_configured = configured != task.configures.end();
        const DispatchText::Step* configuration = is_configured ? &*configured++ : nullptr;
        std::string kernel;
        if (step.kind == WorkKind::slice) {
          const auto value = values.origin_of(step.first_value, control.arguments);
          const auto slice_program = text_.invocations.find(without_number(value));
          if (slice_program != text_.invocations.end()) {
            kernel = kernel_of(slice_program->second.name);
          } else {
            note("slices whose program nothing describes");
          }
          kernels.push_back(kernel);
        }
        begin(step, task, kernel, configuration, run);
      }
    }
    for (std::size_t kind = 0; kind < work_kind_count; ++kind) {
      for (const DispatchText::Step& step : task.waits) {
        if (std::size_t(step.kind) == kind) {
          end(step, task.task, run);
        }
      }
    }
    list(task, kernels, run);
  }
}

// In the order of the vendor's older tables: DMA in, slices, DMA out, CSS, CDMA.
void Follower::list(const DispatchText::Task& task, const std::vector<std::string>& kernels,
                    ProgramRun& run) {
  struct Names {
    WorkKind kind;
    std::string_view configure, start, wait;
  };
  constexpr Names order[] = {
      {WorkKind::dma_in, "torq_hw.dma_in_cfg", "torq_hw.dma_in_start", "torq_hw.dma_in_wait"},
      {WorkKind::slice, "", "torq_hw.slice_start", "torq_hw.slice_wait"},
      {WorkKind::dma_out, "torq_hw.dma_out_cfg", "torq_hw.dma_out_start", "torq_hw.dma_out_wait"},
      {WorkKind::css, "", "torq_hw.css_start", "torq_hw.css_wait"},
      {WorkKind::cdma, "", "torq_hw.cdma_start", "torq_hw.cdma_wait"}};
  std::size_t started = 0;
  const auto add = [&](const Names& names, std::string_view name,
                       const std::vector<DispatchText::Step>& steps, bool starts) {
    for (const DispatchText::Step& step : steps) {
      if (step.kind != names.kind) continue;
      TaskOperation operation{.name = name};
      if (step.kind == WorkKind::slice) {
        operation.slice = std::int32_t(step.slice == 1);
        if (starts) last_kernels_[step.slice] = kernels[started++];
        operation.kernel = last_kernels_[step.slice];
      }
      dispatch_.operations.push_back(std::move(operation));
      ++run.operation_count;
    }
  };
  for (const Names& names : order) {
    add(names, names.configure, task.configures, false);
    add(names, names.start, task.starts, true);
    add(names, names.wait, task.waits, false);
  }
}

std::optional<NpuUnit> Follower::unit_of(const DispatchText::Step& step) {
  switch (step.kind) {
    case WorkKind::slice:
      if (step.slice == 0) return NpuUnit::slice_0;
      if (step.slice == 1) return NpuUnit::slice_1;
      note("slices other than 0 and 1; left out");
      return std::nullopt;
    case WorkKind::dma_in: return NpuUnit::dma_in;
    case WorkKind::dma_out: return NpuUnit::dma_out;
    case WorkKind::cdma: return NpuUnit::cdma;
    case WorkKind::css: return NpuUnit::css;
  }
  return std::nullopt;
}

void Follower::begin(const DispatchText::Step& step, const DispatchText::Task& task,
                     std::string_view kernel, const DispatchText::Step* configured,
                     ProgramRun& run) {
  const auto configured_bytes = configured == nullptr ? std::nullopt : configured->bytes;
  const auto bytes = step.bytes ? step.bytes : configured_bytes;
  add_bytes(step.kind, bytes, run);
  const auto unit = unit_of(step);
  if (!unit) return;
  UnitWork work{.unit = *unit, .location = step.location, .kernel = std::string(kernel)};
  work.bytes = bytes;
  work.fetches_code = configured != nullptr && configured->fetches_code;
  work.task = std::uint32_t(dispatch_.tasks.size() - 1);
  work.duration_cycles = step.duration_cycles;
  work.program_address = step.program_address;
  work.source = std::string(task.transfer[std::size_t(step.kind)].source);
  work.destination = std::string(task.transfer[std::size_t(step.kind)].destination);
  run.uses[std::size_t(*unit)] = true;
  if (!work.kernel.empty()) run.kernels.push_back(work.kernel);
  pending_[std::size_t(*unit)].push_back(std::move(work));
}

void Follower::use(std::string_view buffer, std::uint32_t LramBuffer::*count) {
  const auto task = std::uint32_t(dispatch_.tasks.size() - 1);
  const auto known = text_.lram.find(buffer);
  if (known == text_.lram.end()) return;
  const auto [place, is_new] = buffers_.try_emplace(buffer, dispatch_.lram.size());
  if (is_new) dispatch_.lram.push_back({std::string(buffer), known->second, task, task, 0, 0});
  LramBuffer& used = dispatch_.lram[place->second];
  used.last_task = task;
  used.*count += 1;
}

// A wait is for all that is under way on its unit.
void Follower::end(const DispatchText::Step& step, const NssTask& task, ProgramRun& run) {
  const auto unit = unit_of(step);
  if (!unit) return;
  auto& pending = pending_[std::size_t(*unit)];
  if (pending.empty()) note("waits for a unit that nothing started");
  for (UnitWork& work : pending) {
    const auto index = std::uint32_t(dispatch_.work.size());
    if (work.task < run.first_task) {
      // What an earlier program started is this one's kernel too.
      if (!work.kernel.empty()) run.kernels.push_back(work.kernel);
      dispatch_.programs[program_of_task_[work.task]].unfinished_work.push_back(index);
    }
    work.waiting_task = std::uint32_t(dispatch_.tasks.size() - 1);
    const auto& begun = dispatch_.tasks[work.task].cycles;
    if (begun && task.cycles && task.cycles->end >= begun->begin) {
      work.cycles = Interval{begun->begin, task.cycles->end};
    }
    run.work.push_back(index);
    dispatch_.work.push_back(std::move(work));
  }
  pending.clear();
}

}  // namespace

void follow_programs(const DispatchText& text, DispatchInfo& dispatch, CountedNotes& notes) {
  Follower(text, dispatch, notes).run();
}

}  // namespace npuscope::torq
