#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "base/sections.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/targets/torq/program.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::string_view magic = "NPUTORQP";
constexpr SectionVersion version{1, 0};

enum Kind : std::uint32_t {
  name_section = 1,
  target_section,
  text_section,  // names, one behind the other
  dispatch_section,
  action_section,
  nss_program_section,
  host_program_section,
  task_section,
  step_section,
  kernel_section,
};

// The bytes of docs/formats/torq-program.md.
struct DispatchRecord {
  std::uint32_t name_bytes = 0;
  std::uint32_t actions = 0;
};
struct ActionRecord {
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;
};
struct HostProgramRecord {
  std::uint64_t elements = 0;
  std::uint64_t multiply_accumulates = 0;
};
struct TaskRecord {
  std::uint32_t steps = 0;
  std::uint32_t begins_block = 0;
};
struct StepRecord {
  std::uint8_t unit = 0;
  std::uint8_t starts = 0;
  std::uint8_t slice = 0;
  std::uint8_t reserved = 0;
  std::uint32_t kernel = 0;
  std::uint64_t bytes = 0;
};
struct KernelRecord {
  std::uint32_t name_bytes = 0;
  std::uint32_t css = 0;
  std::uint64_t cycles = 0;
  std::uint64_t device_cycles = 0;
};
static_assert(sizeof(DispatchRecord) == 8 && sizeof(ActionRecord) == 24);
static_assert(sizeof(HostProgramRecord) == 16 && sizeof(TaskRecord) == 8);
static_assert(sizeof(StepRecord) == 16 && sizeof(KernelRecord) == 24);

class Reader {
 public:
  Reader(const SectionReader& sections, const std::string& name)
      : sections_(sections), name_(name) {}

  Result<Program> run() {
    if (!take_text(name_section, program_.name) ||
        !take_text(target_section, program_.target_toml) || !take_text(text_section, names_) ||
        !take_tables() || !take_named()) {
      return tl::unexpected(error_);
    }
    return std::move(program_);
  }

 private:
  template <class Record>
  bool take(Kind kind, std::vector<Record>& records) {
    const SectionEntry* entry = sections_.find(kind);
    if (entry == nullptr) return fail(fmt::format("section kind {} is missing", int(kind)));
    auto taken = sections_.records<Record>(*entry);
    if (!taken) {
      error_ = taken.error();
      return false;
    }
    records = std::move(*taken);
    return true;
  }

  bool take_text(Kind kind, std::string& text) {
    std::vector<char> bytes;
    if (!take(kind, bytes)) return false;
    text.assign(bytes.begin(), bytes.end());
    return true;
  }

  bool fail(std::string message) {
    error_ = {ErrorKind::input, fmt::format("{}: {}; compile the model again", name_, message)};
    return false;
  }

  bool take_name(std::uint32_t bytes, std::string& name) {
    if (bytes > names_.size() - named_) return fail("a name ends beyond the text of names");
    name = names_.substr(named_, bytes);
    named_ += bytes;
    return true;
  }

  bool take_tables() {
    std::vector<ActionRecord> actions;
    std::vector<std::uint32_t> nss_programs;
    std::vector<HostProgramRecord> host_programs;
    std::vector<TaskRecord> tasks;
    std::vector<StepRecord> steps;
    if (!take(action_section, actions) || !take(nss_program_section, nss_programs) ||
        !take(host_program_section, host_programs) || !take(task_section, tasks) ||
        !take(step_section, steps)) {
      return false;
    }
    for (const ActionRecord& each : actions) {
      if (each.kind > std::uint32_t(ActionKind::wait_host)) {
        return fail(fmt::format("action kind {} is unknown", each.kind));
      }
      program_.actions.push_back({ActionKind(each.kind), each.bytes, each.runs});
    }
    for (const std::uint32_t each : nss_programs) program_.nss_programs.push_back({each});
    for (const HostProgramRecord& each : host_programs) {
      program_.host_programs.push_back({each.elements, each.multiply_accumulates});
    }
    for (const TaskRecord& each : tasks) {
      program_.tasks.push_back({each.steps, each.begins_block != 0});
    }
    for (const StepRecord& each : steps) {
      if (each.unit >= unit_count) return fail(fmt::format("unit {} is unknown", each.unit));
      program_.steps.push_back(
          {Unit(each.unit), each.starts != 0, each.slice, each.kernel, each.bytes});
    }
    return true;
  }

  bool take_named() {
    std::vector<DispatchRecord> dispatches;
    std::vector<KernelRecord> kernels;
    if (!take(dispatch_section, dispatches) || !take(kernel_section, kernels)) return false;
    for (const DispatchRecord& each : dispatches) {
      Dispatch& dispatch = program_.dispatches.emplace_back();
      dispatch.actions = each.actions;
      if (!take_name(each.name_bytes, dispatch.name)) return false;
    }
    for (const KernelRecord& each : kernels) {
      Kernel& kernel = program_.kernels.emplace_back();
      kernel.cycles = each.cycles;
      kernel.device_cycles = each.device_cycles;
      kernel.css = each.css != 0;
      if (!take_name(each.name_bytes, kernel.name)) return false;
    }
    return true;
  }

  const SectionReader& sections_;
  const std::string& name_;
  std::string names_;
  std::size_t named_ = 0;  // bytes of names_ that are given
  Program program_;
  Error error_;
};

}  // namespace

bool looks_like_program(ByteSpan bytes) { return as_text(bytes).starts_with(magic); }

std::vector<std::byte> write_program(const Program& program) {
  std::string names;
  std::vector<DispatchRecord> dispatches;
  for (const Dispatch& each : program.dispatches) {
    names += each.name;
    dispatches.push_back({std::uint32_t(each.name.size()), each.actions});
  }
  std::vector<KernelRecord> kernels;
  for (const Kernel& each : program.kernels) {
    names += each.name;
    kernels.push_back({std::uint32_t(each.name.size()), each.css, each.cycles, each.device_cycles});
  }
  std::vector<ActionRecord> actions;
  for (const Action& each : program.actions) {
    actions.push_back({std::uint32_t(each.kind), 0, each.bytes, each.runs});
  }
  std::vector<std::uint32_t> nss_programs;
  for (const NssProgram& each : program.nss_programs) nss_programs.push_back(each.tasks);
  std::vector<HostProgramRecord> host_programs;
  for (const HostProgram& each : program.host_programs) {
    host_programs.push_back({each.elements, each.multiply_accumulates});
  }
  std::vector<TaskRecord> tasks;
  for (const Task& each : program.tasks) tasks.push_back({each.steps, each.begins_block});
  std::vector<StepRecord> steps;
  for (const Step& each : program.steps) {
    steps.push_back({std::uint8_t(each.unit), each.starts, each.slice, 0, each.kernel, each.bytes});
  }
  SectionWriter writer(magic, version);
  writer.add_text(name_section, 0, program.name);
  writer.add_text(target_section, 0, program.target_toml);
  writer.add_text(text_section, 0, names);
  writer.add<DispatchRecord>(dispatch_section, 0, dispatches);
  writer.add<ActionRecord>(action_section, 0, actions);
  writer.add<std::uint32_t>(nss_program_section, 0, nss_programs);
  writer.add<HostProgramRecord>(host_program_section, 0, host_programs);
  writer.add<TaskRecord>(task_section, 0, tasks);
  writer.add<StepRecord>(step_section, 0, steps);
  writer.add<KernelRecord>(kernel_section, 0, kernels);
  return writer.finish();
}

Result<Program> read_program(ByteSpan bytes, const std::string& name) {
  TRY_AS(sections, SectionReader::open(bytes, magic, version.major, name));
  return Reader(*sections, name).run();
}

namespace {

// Adds up a count of each row; false where it is more than there are.
template <class Row, class Count>
bool adds_up(const std::vector<Row>& rows, Count Row::*count, std::size_t whole) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.*count;
  return sum == whole;
}

// As MLIR writes symbols without quotes; fits a field of a log and the name of a file.
bool is_symbol(std::string_view name) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
  return !name.empty() && name.size() <= 200 && name.find_first_not_of(allowed) == name.npos;
}

class Checker {
 public:
  Checker(const Program& program, std::uint32_t slices, std::string_view name)
      : program_(program), slices_(slices), name_(name) {}

  Status run() {
    TRY(check_counts());
    TRY(check_actions());
    TRY(check_kernels());
    return check_programs();
  }

 private:
  template <class... Args>
  auto fail(fmt::format_string<Args...> text, Args&&... args) const {
    return input_error("{}: {}; compile the model again", name_,
                       fmt::format(text, std::forward<Args>(args)...));
  }

  Status check_counts() const {
    if (program_.dispatches.empty()) return fail("it has no dispatch");
    if (program_.tasks.size() > max_tasks) {
      return fail("it has {} tasks of the NSS; at most {} are run",
                  thousands(program_.tasks.size()), thousands(max_tasks));
    }
    if (!adds_up(program_.dispatches, &Dispatch::actions, program_.actions.size())) {
      return fail("its dispatches do not share its {} actions", program_.actions.size());
    }
    if (!adds_up(program_.nss_programs, &NssProgram::tasks, program_.tasks.size())) {
      return fail("its NSS programs do not share its {} tasks", program_.tasks.size());
    }
    if (!adds_up(program_.tasks, &Task::steps, program_.steps.size())) {
      return fail("its tasks do not share its {} steps", program_.steps.size());
    }
    return {};
  }

  Status check_actions() const {
    std::uint64_t nss = 0, host = 0, bytes = 0, runs = 0;
    std::size_t index = 0;
    for (const Dispatch& dispatch : program_.dispatches) {
      if (!is_symbol(dispatch.name)) return fail("the name of a dispatch is not a symbol");
      if (dispatch.actions == 0) return fail("dispatch {} has no action", dispatch.name);
      for (std::uint32_t id = 0; id < dispatch.actions; ++id, ++index) {
        const Action& action = program_.actions[index];
        const bool starts_nss = action.kind == ActionKind::start_nss;
        const bool starts_host = action.kind == ActionKind::start_host;
        const ActionKind before =
            id == 0 ? ActionKind::host_copy : program_.actions[index - 1].kind;
        const bool waits =
            (action.kind == ActionKind::wait_nss) != (before == ActionKind::start_nss);
        const bool waits_host =
            (action.kind == ActionKind::wait_host) != (before == ActionKind::start_host);
        const bool last = id + 1 == dispatch.actions;
        if (waits || waits_host || (last && (starts_nss || starts_host))) {
          return fail("dispatch {}, action {}: a program is not waited for behind its start",
                      dispatch.name, id);
        }
        nss += starts_nss;
        host += starts_host;
        if (action.bytes > max_bytes || (bytes += action.bytes) > max_bytes ||
            action.runs > max_bytes || (runs += action.runs) > max_bytes) {
          return fail("its host copies are too large");
        }
      }
    }
    if (nss != program_.nss_programs.size() || host != program_.host_programs.size()) {
      return fail("it starts {} NSS and {} host programs but has {} and {}", nss, host,
                  program_.nss_programs.size(), program_.host_programs.size());
    }
    std::uint64_t work = 0;
    for (const HostProgram& each : program_.host_programs) {
      if (each.elements > max_cycles || (work += each.elements) > max_cycles ||
          each.multiply_accumulates > max_cycles ||
          (work += each.multiply_accumulates) > max_cycles) {
        return fail("its host programs are too large");
      }
    }
    return {};
  }

  Status check_kernels() const {
    for (const Kernel& kernel : program_.kernels) {
      if (kernel.cycles > max_cycles || kernel.device_cycles > max_cycles) {
        return fail("kernel {} takes more than {} cycles", kernel.name, thousands(max_cycles));
      }
    }
    return {};
  }

  // Units are free when a program begins, and again when it ends.
  Status check_programs() const {
    std::uint64_t bytes = 0, cycles = 0;
    const Task* task = program_.tasks.data();
    const Step* step = program_.steps.data();
    for (std::size_t index = 0; index < program_.nss_programs.size(); ++index) {
      std::array<bool, unit_count + 256> busy{};  // slices behind the units
      std::size_t running = 0;
      for (std::uint32_t i = 0; i < program_.nss_programs[index].tasks; ++i, ++task) {
        for (std::uint32_t k = 0; k < task->steps; ++k, ++step) {
          TRY(check_step(*step));
          const std::size_t unit = step->unit == Unit::slice ? unit_count + step->slice
                                   : is_cdma(step->unit)     ? std::size_t(Unit::cdma_lram_to_dtcm)
                                                             : std::size_t(step->unit);
          if (busy[unit] == step->starts) {
            return fail("NSS program {}: a unit is {}", index,
                        step->starts ? "started while it runs" : "waited for that was not started");
          }
          busy[unit] = step->starts;
          running += step->starts ? 1 : std::size_t(-1);
          if (!step->starts) continue;
          const bool computes = step->unit == Unit::slice || step->unit == Unit::css;
          const Kernel* kernel = computes ? &program_.kernels[step->kernel] : nullptr;
          if (step->bytes > max_bytes || (bytes += step->bytes) > max_bytes) {
            return fail("its transfers are too large");
          }
          if (kernel != nullptr &&
              (cycles += std::max(kernel->cycles, kernel->device_cycles)) > max_cycles) {
            return fail("its kernels take more than {} cycles", thousands(max_cycles));
          }
        }
      }
      if (running != 0) return fail("NSS program {} ends while a unit runs", index);
    }
    return {};
  }

  Status check_step(const Step& step) const {
    if (step.unit == Unit::slice && step.slice >= slices_) {
      return fail("it uses slice {}, and the target has {}", step.slice, slices_);
    }
    const bool computes = step.unit == Unit::slice || step.unit == Unit::css;
    if (!step.starts || !computes) return {};
    if (step.kernel >= program_.kernels.size()) {
      return fail("it starts kernel {} of {}", step.kernel, program_.kernels.size());
    }
    if (program_.kernels[step.kernel].css != (step.unit == Unit::css)) {
      return fail("it starts kernel {} on another unit than it is for", step.kernel);
    }
    return {};
  }

  const Program& program_;
  std::uint32_t slices_;
  std::string_view name_;
};

}  // namespace

Status check_program(const Program& program, std::uint32_t slices, std::string_view name) {
  return Checker(program, slices, name).run();
}

}  // namespace npuscope::npu::torq
