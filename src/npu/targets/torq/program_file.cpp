#include <fmt/format.h>

#include <cstring>

#include "base/sections.hpp"
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

  Result<Program> run();

 private:
  template <class Record>
  bool take(Kind kind, std::vector<Record>& records);
  bool take_text(Kind kind, std::string& text);
  bool fail(std::string message);
  bool take_name(std::uint32_t bytes, std::string& name);
  bool take_tables();
  bool take_named();

  const SectionReader& sections_;
  const std::string& name_;
  std::string names_;
  std::size_t named_ = 0;  // bytes of names_ that are given
  Program program_;
  Error error_;
};

bool Reader::fail(std::string message) {
  error_ = {ErrorKind::input, fmt::format("{}: {}; compile the model again", name_, message)};
  return false;
}

template <class Record>
bool Reader::take(Kind kind, std::vector<Record>& records) {
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

bool Reader::take_text(Kind kind, std::string& text) {
  std::vector<char> bytes;
  if (!take(kind, bytes)) return false;
  text.assign(bytes.begin(), bytes.end());
  return true;
}

bool Reader::take_name(std::uint32_t bytes, std::string& name) {
  if (bytes > names_.size() - named_) return fail("a name ends beyond the text of names");
  name = names_.substr(named_, bytes);
  named_ += bytes;
  return true;
}

bool Reader::take_tables() {
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

bool Reader::take_named() {
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

Result<Program> Reader::run() {
  if (!take_text(name_section, program_.name) || !take_text(target_section, program_.target_toml) ||
      !take_text(text_section, names_) || !take_tables() || !take_named()) {
    return tl::unexpected(error_);
  }
  return std::move(program_);
}

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
  return std::move(writer).finish();
}

Result<Program> read_program(ByteSpan bytes, const std::string& name) {
  const auto sections = SectionReader::open(bytes, magic, version.major, name);
  if (!sections) return tl::unexpected(sections.error());
  return Reader(*sections, name).run();
}

}  // namespace npuscope::npu::torq
