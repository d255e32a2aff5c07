// Debug information of a dispatch in the form in which Torq's compiler prints its own.
#include <fmt/ranges.h>

#include <iterator>
#include <map>

#include "npu/targets/torq/compile.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t host_code_bytes = 4096;  // of a memref that only stands for code

class DebugText {
 public:
  // Aliases of locations are numbered from `first_alias` on.
  DebugText(const Compilation& compilation, std::size_t dispatch, bool profiling,
            std::size_t first_alias = 1)
      : compilation_(compilation),
        program_(compilation.program),
        dispatch_(dispatch),
        profiling_(profiling),
        first_alias_(first_alias) {}

  std::string module() {
    at_ = compilation_.places[dispatch_];
    end_ = compilation_.places[dispatch_ + 1];
    line("module {{");
    line("  func.func @{}() {{", program_.dispatches[dispatch_].name);
    slice_programs();
    for (std::size_t action = at_.action; action < end_.action; ++action) {
      const ActionKind kind = program_.actions[action].kind;
      if (kind == ActionKind::start_nss) nss_program(action);
      if (kind == ActionKind::start_host) host_program(action);
    }
    for (const char* name : {"input", "output", "lram", "dtcm", "itcm"}) {
      line("    %{0} = memref.get_global @__{0} : memref<?xi8> loc(#loc)", name);
    }
    actions();
    line("    return loc(#loc)");
    line("  }} loc(#loc)");
    line("}} loc(#loc)");
    return std::move(text_);
  }

  // Of the locations that the module names.
  std::string aliases() {
    text_.clear();
    for (const auto& [operation, number] : locations_) {
      line("#loc{} = loc({})", number,
           location_text(compilation_, compilation_.operations[operation]));
    }
    return std::move(text_);
  }

  std::size_t alias_count() const { return locations_.size(); }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
    text_ += '\n';
  }

  const CompiledOperation& operation_of(std::size_t action) const {
    return compilation_.operations[compilation_.action_operations[action]];
  }

  std::string location(std::uint32_t operation) {
    const auto [place, is_new] =
        locations_.try_emplace(operation, locations_.size() + first_alias_);
    return fmt::format("loc(#loc{})", place->second);
  }

  void nss_program(std::size_t action) {
    const std::uint32_t operation = compilation_.action_operations[action];
    const std::string at = location(operation);
    const std::size_t task_end = at_.task + program_.nss_programs[at_.nss_program].tasks;
    kernels_ = kernels_in(at_.task, task_end, at_.step);
    kernels_of_job_[job_] = kernels_;
    line("    %nss_{0} = torq_hl.program \"nss_program_{0}\" : !torq_hl.program<nss> {{", job_);
    line("    ^bb0({}):", arguments());
    std::size_t block = 0;
    for (; at_.task < task_end; ++at_.task) {
      if (program_.tasks[at_.task].begins_block) block_end(++block, at);
      task(at_.task, location(compilation_.task_operations[at_.task]));
    }
    line("      torq_hl.return {}", at);
    line("    }} {}", at);
    line(
        "    %invocation_{0}, %code_{0} = torq_hl.descriptor \"nss_program_{0}\" on 0 program "
        "%nss_{0} : <nss> code [array<i8: 0>] {{\"torq-job-id\" = {0} : i32}} : "
        "!torq_hl.invocation<nss>, memref<?xi8> {1}",
        job_, at);
    ++job_;
    ++at_.nss_program;
  }

  void task(std::size_t task, std::string_view at) {
    line("      torq_hw.nss_task {{\"torq-task-id\" = {} : i64{}}}() {{", task,
         cycles("", profiling_ ? compilation_.estimate.tasks[task] : Interval{}));
    for (std::uint32_t i = 0; i < program_.tasks[task].steps; ++i, ++at_.step) {
      step(program_.steps[at_.step], at_.step, at);
    }
    line("      }} {}", at);
  }

  void step(const Step& step, std::size_t index, std::string_view at) {
    std::string duration;
    if (step.starts && profiling_) {
      duration = fmt::format(" {{\"torq-async-duration-cycles\" = {} : i64}}",
                             length_of(compilation_.estimate.steps[index]));
    }
    switch (step.unit) {
      case Unit::slice:
        if (!step.starts) {
          return line("        \"torq_hw.slice_wait\"() <{{id = {} : index}}> : () -> () {}",
                      step.slice, at);
        }
        return line(
            "        \"torq_hw.slice_start\"(%b_kernel_{0}, %b_lram) <{{id = {1} : "
            "index}}>{2} : (!torq_hl.invocation<slice>, memref<?xi8>) -> () {3}",
            step.kernel, step.slice, duration, at);
      case Unit::css:
        if (!step.starts) return line("        torq_hw.css_wait {}", at);
        return line("        torq_hw.css_start %b_kernel_{} : !torq_hl.invocation<css>{} {}",
                    step.kernel, duration, at);
      default: return transfer(step, at, duration);
    }
  }

  void transfer(const Step& step, std::string_view at, std::string_view duration) {
    struct Words {
      std::string_view operation, from, to, ndl;
    };
    constexpr Words words[] = {{"", "", "", ""},
                               {"", "", "", ""},
                               {"dma_in", "input", "lram", "write_ndl"},
                               {"dma_out", "lram", "output", "read_ndl"},
                               {"cdma", "lram", "dtcm", ""},
                               {"cdma", "lram", "itcm", ""},
                               {"cdma", "dtcm", "lram", ""}};
    const Words& each = words[std::size_t(step.unit)];
    if (!step.starts) return line("        torq_hw.{}_wait {}", each.operation, at);
    if (is_cdma(step.unit)) {
      return line(
          "        torq_hw.cdma_start from %b_{0} : memref<{1}xi8> to %b_{2} : "
          "memref<{1}xi8>{3} {4}",
          each.from, step.bytes, each.to, duration, at);
    }
    line(
        "        torq_hw.{0}_cfg from %b_{1} : memref<?xi8> to %b_{2} : memref<?xi8> {{{3} = "
        "#torq_hw<dma_ndl{{dims = [[{4}, 1]]}}>}} {5}",
        each.operation, each.from, each.to, each.ndl, step.bytes, at);
    line("        torq_hw.{}_start{} {}", each.operation, duration, at);
  }

  void block_end(std::size_t label, std::string_view at) {
    line("      torq_hl.next lram_area(%b_lram : memref<?xi8>) to ^bb{} {}", label, at);
    line("    ^bb{}:", label);
  }

  void host_program(std::size_t action) {
    const std::string at = location(compilation_.action_operations[action]);
    line("    %host_{0} = torq_hl.program \"host_program_{0}\" : !torq_hl.program<host> {{", host_);
    line("    ^bb0(%data: memref<?xi8> loc(unknown)):");
    line("      torq_hl.return {}", at);
    line("    }} {}", at);
    line(
        "    %host_invocation_{0}, %host_code_{0} = torq_hl.descriptor \"host_program_{0}\" on 0 "
        "program %host_{0} : <host> code [array<i8: 0>] : !torq_hl.invocation<host>, "
        "memref<{1}xi8> {2}",
        host_, host_code_bytes, at);
    ++host_;
  }

  // Programs of slices and the CSS; descriptors make them known to those that start them.
  void slice_programs() {
    for (std::size_t kernel = at_.kernel; kernel < end_.kernel; ++kernel) {
      const Kernel& each = program_.kernels[kernel];
      const std::string_view executor = each.css ? "css" : "slice";
      const std::string at = location(compilation_.kernel_operations[kernel]);
      line(
          "    %program_{0} = torq_hl.program \"{1}_program_torq_hl.{2}\" : !torq_hl.program<{1}> "
          "{{",
          kernel, executor, each.name);
      line("    ^bb0(%data: memref<?xi8> loc(unknown)):");
      line("      torq_hl.return {}", at);
      line("    }} {}", at);
      line(
          "    %kernel_{0}, %kernel_code_{0} = torq_hl.descriptor \"{1}_program_torq_hl.{2}\" on 0 "
          "program %program_{0} : <{1}> code [array<i8: 0>] : !torq_hl.invocation<{1}>, "
          "memref<?xi8> {3}",
          kernel, executor, each.name, at);
    }
  }

  void actions() {
    at_ = compilation_.places[dispatch_];
    job_ = host_ = 0;
    for (std::size_t action = at_.action; action < end_.action; ++action) {
      const std::size_t id = action - at_.action;
      const Action& each = program_.actions[action];
      const std::string at = location(compilation_.action_operations[action]);
      switch (each.kind) {
        case ActionKind::host_copy:
          line(
              "    torq_hl.host_copy %input : memref<{0}xi8> to %output : memref<{0}xi8> "
              "{{element_size_bytes = {1} : i64, \"torq-action-id\" = {2} : i32}} {3}",
              each.bytes,
              std::max<std::uint64_t>(1, each.bytes / std::max<std::uint64_t>(1, each.runs)), id,
              at);
          break;
        case ActionKind::start_nss: start_nss(action, id); break;
        case ActionKind::wait_nss:
          line(
              "    torq_hl.wait_program %invocation_{0} : !torq_hl.invocation<nss> "
              "{{\"torq-action-id\" = {1} : i32{2}}} {3}",
              job_++, id, cycles("", compilation_.estimate.programs[at_.nss_program++]), at);
          break;
        case ActionKind::start_host:
          line(
              "    torq_hl.start_program %host_invocation_{0} : !torq_hl.invocation<host> "
              "args(%input : memref<?xi8>) code(%host_code_{0} : memref<{1}xi8>) "
              "{{\"torq-action-id\" = {2} : i32}} {3}",
              host_, host_code_bytes, id, at);
          break;
        case ActionKind::wait_host:
          line(
              "    torq_hl.wait_program %host_invocation_{} : !torq_hl.invocation<host> "
              "{{\"torq-action-id\" = {} : i32}} {}",
              host_++, id, at);
          break;
      }
    }
  }

  void start_nss(std::size_t action, std::size_t id) {
    kernels_ = kernels_of_job_[job_];
    std::string values = "%input, %output, %lram, %dtcm, %itcm";
    for (const std::uint32_t kernel : kernels_) values += fmt::format(", %kernel_{}", kernel);
    const Interval estimate = compilation_.estimate.programs[at_.nss_program];
    line(
        "    torq_hl.start_program %invocation_{0} : !torq_hl.invocation<nss> args({1} : {2}) "
        "code(%code_{0} : memref<?xi8>) {{\"torq-action-id\" = {3} : i32{4}}} {5}",
        job_, values, types(), id, cycles("", {estimate.begin, estimate.begin}),
        location(compilation_.action_operations[action]));
  }

  // Of the first block; the others use them, too.
  std::string arguments() const {
    std::string text;
    for (const char* name : {"input", "output", "lram", "dtcm", "itcm"}) {
      text += fmt::format("{}%b_{}: memref<?xi8> loc(unknown)", text.empty() ? "" : ", ", name);
    }
    for (const std::uint32_t kernel : kernels_) {
      text += fmt::format(", %b_kernel_{}: !torq_hl.invocation<{}> loc(unknown)", kernel,
                          program_.kernels[kernel].css ? "css" : "slice");
    }
    return text;
  }

  std::string types() const {
    std::string text = "memref<?xi8>, memref<?xi8>, memref<?xi8>, memref<?xi8>, memref<?xi8>";
    for (const std::uint32_t kernel : kernels_) {
      text +=
          fmt::format(", !torq_hl.invocation<{}>", program_.kernels[kernel].css ? "css" : "slice");
    }
    return text;
  }

  std::vector<std::uint32_t> kernels_in(std::size_t task, std::size_t task_end,
                                        std::size_t first_step) const {
    std::map<std::uint32_t, bool> started;
    std::size_t step = first_step;
    for (; task < task_end; ++task) {
      for (std::uint32_t i = 0; i < program_.tasks[task].steps; ++i, ++step) {
        const Step& each = program_.steps[step];
        const bool computes = each.unit == Unit::slice || each.unit == Unit::css;
        if (each.starts && computes) started[each.kernel] = each.unit == Unit::css;
      }
    }
    std::vector<std::uint32_t> kernels;
    for (const auto& [kernel, css] : started) kernels.push_back(kernel);
    return kernels;
  }

  std::string cycles(std::string_view what, Interval interval) const {
    if (!profiling_) return "";
    return fmt::format(
        ", \"torq-{0}start-time-cycles\" = {1} : i64, \"torq-{0}end-time-cycles\" = "
        "{2} : i64",
        what, interval.begin, interval.end);
  }

  const Compilation& compilation_;
  const Program& program_;
  std::size_t dispatch_;
  bool profiling_;
  std::size_t first_alias_;
  std::string text_;
  DispatchPlace at_, end_;
  std::size_t job_ = 0, host_ = 0;
  std::vector<std::uint32_t> kernels_;  // of the program at hand
  std::map<std::size_t, std::vector<std::uint32_t>> kernels_of_job_;
  std::map<std::uint32_t, std::size_t> locations_;  // of operations: the number of the alias
};

}  // namespace

std::string debug_info(const Compilation& compilation, std::size_t dispatch, bool profiling) {
  DebugText text(compilation, dispatch, profiling);
  const std::string module = text.module();
  return module + "#loc = loc(unknown)\n" + text.aliases();
}

std::string phase_dump(const Compilation& compilation, bool profiling) {
  std::string text = "module {\n", aliases = "#loc = loc(unknown)\n";
  std::size_t first_alias = 1;
  for (std::size_t i = 0; i < compilation.program.dispatches.size(); ++i) {
    DebugText dispatch(compilation, i, profiling, first_alias);
    text += fmt::format(
        "hal.executable private @{} {{\nhal.executable.variant public @torq target(<\"torq\", "
        "\"torq-fb\">) {{\n",
        compilation.program.dispatches[i].name);
    text += dispatch.module() + "} loc(#loc)\n} loc(#loc)\n";
    aliases += dispatch.aliases();
    first_alias += dispatch.alias_count();
  }
  return text + "} loc(#loc)\n" + aliases;
}

}  // namespace npuscope::npu::torq
