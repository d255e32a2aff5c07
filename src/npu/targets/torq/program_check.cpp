// That the tables of a program fit each other: everything belongs to something, in order, programs
// are waited for, and sums stay in bounds.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "npu/targets/torq/program.hpp"

namespace npuscope::npu::torq {
namespace {

class Checker {
 public:
  Checker(const Program& program, std::uint32_t slices, std::string_view name)
      : program_(program), slices_(slices), name_(name) {}

  Status run() {
    if (auto ok = check_counts(); !ok) return ok;
    if (auto ok = check_actions(); !ok) return ok;
    if (auto ok = check_kernels(); !ok) return ok;
    return check_programs();
  }

 private:
  template <class... Args>
  auto fail(fmt::format_string<Args...> text, Args&&... args) const {
    return input_error("{}: {}; compile the model again", name_,
                       fmt::format(text, std::forward<Args>(args)...));
  }

  Status check_counts() const;
  Status check_actions() const;
  Status check_kernels() const;
  Status check_programs() const;
  Status check_step(const Step& step) const;

  const Program& program_;
  std::uint32_t slices_;
  std::string_view name_;
};

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

Status Checker::check_counts() const {
  if (program_.dispatches.empty()) return fail("it has no dispatch");
  if (program_.tasks.size() > max_tasks) {
    return fail("it has {} tasks of the NSS; at most {} are run", thousands(program_.tasks.size()),
                thousands(max_tasks));
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

Status Checker::check_actions() const {
  std::uint64_t nss = 0, host = 0, bytes = 0, runs = 0;
  std::size_t index = 0;
  for (const Dispatch& dispatch : program_.dispatches) {
    if (!is_symbol(dispatch.name)) return fail("the name of a dispatch is not a symbol");
    if (dispatch.actions == 0) return fail("dispatch {} has no action", dispatch.name);
    for (std::uint32_t id = 0; id < dispatch.actions; ++id, ++index) {
      const Action& action = program_.actions[index];
      const bool starts_nss = action.kind == ActionKind::start_nss;
      const bool starts_host = action.kind == ActionKind::start_host;
      const ActionKind before = id == 0 ? ActionKind::host_copy : program_.actions[index - 1].kind;
      const bool waits = (action.kind == ActionKind::wait_nss) != (before == ActionKind::start_nss);
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

Status Checker::check_kernels() const {
  for (const Kernel& kernel : program_.kernels) {
    if (kernel.cycles > max_cycles || kernel.device_cycles > max_cycles) {
      return fail("kernel {} takes more than {} cycles", kernel.name, thousands(max_cycles));
    }
  }
  return {};
}

Status Checker::check_step(const Step& step) const {
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

// Units are free when a program begins, and again when it ends.
Status Checker::check_programs() const {
  std::uint64_t bytes = 0, cycles = 0;
  const Task* task = program_.tasks.data();
  const Step* step = program_.steps.data();
  for (std::size_t index = 0; index < program_.nss_programs.size(); ++index) {
    std::array<bool, unit_count + 256> busy{};  // slices behind the units
    std::size_t running = 0;
    for (std::uint32_t i = 0; i < program_.nss_programs[index].tasks; ++i, ++task) {
      for (std::uint32_t k = 0; k < task->steps; ++k, ++step) {
        if (auto ok = check_step(*step); !ok) return ok;
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

}  // namespace

Status check_program(const Program& program, std::uint32_t slices, std::string_view name) {
  return Checker(program, slices, name).run();
}

}  // namespace npuscope::npu::torq
