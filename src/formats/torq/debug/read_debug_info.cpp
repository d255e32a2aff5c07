// The operations of a dispatch, by what they mean to the NPU; program_runs.cpp follows them.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "formats/torq/debug/debug_info.hpp"
#include "formats/torq/debug/mlir_text.hpp"
#include "formats/torq/debug/program_runs.hpp"
#include "formats/torq/fields.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {
namespace {

using namespace std::string_view_literals;

// "nss" of "!torq_hl.invocation<nss>" or "program<nss>".
Executor executor_in(std::string_view text) {
  for (const std::string_view type : {"invocation<"sv, "program<"sv, "<"sv}) {
    for (auto at = text.find(type); at != text.npos; at = text.find(type, at + 1)) {
      const std::string_view rest = text.substr(at + type.size());
      if (rest.starts_with("nss>")) return Executor::nss;
      if (rest.starts_with("host>")) return Executor::host;
      if (rest.starts_with("slice>") || rest.starts_with("css>")) return Executor::other;
    }
  }
  return Executor::other;
}

// The name of a program or invocation: an attribute of the generic form, else the first string.
std::string name_in(std::string_view head) {
  if (const auto name = string_attribute(head, "name")) return unescaped(*name);
  const std::string_view before = head.substr(0, head.find('{'));
  return unescaped(first_string(before).value_or(""));
}

// "%5" of "%5:2", and of "%5#1".
std::string_view plain(std::string_view value) {
  return value.substr(0, value.find_first_of("#:"));
}

// Arguments of start_program: args(…) of the custom form; of the generic one the last segment of
// its operands; of the oldest, what is behind invocation and code.
std::vector<std::string_view> start_arguments(std::string_view head) {
  if (const auto at = head.find(" args("); at != head.npos) {
    return values_in(in_parentheses(head, at + 5));
  }
  const bool generic = head.starts_with('(');
  auto values = values_in(generic ? in_parentheses(head, 0) : head);
  std::size_t first = 2;
  if (const auto at = head.find("operandSegmentSizes"); at != head.npos) {
    std::string_view sizes = head.substr(at);
    sizes = sizes.substr(std::min(sizes.find(':'), sizes.size() - 1) + 1);
    const auto one = whole_number(take_first(sizes)), code = whole_number(take_first(sizes));
    if (one && code && *one >= 0 && *code >= 0 && *code < 1'000'000) {
      first = std::size_t(*one) + std::size_t(*code);
    }
  }
  values.erase(values.begin(), values.begin() + std::ptrdiff_t(std::min(first, values.size())));
  return values;
}

// The product of the counts of a transfer's loops, dims = [[count, stride], …]: bytes, as the
// compiler's cost model takes them.
std::optional<std::int64_t> bytes_of_transfer(std::string_view head) {
  const auto at = head.find("dims = [");
  if (at == head.npos) return std::nullopt;
  std::string_view rest = head.substr(at + 8);
  std::optional<std::int64_t> product;
  while (rest.starts_with('[')) {
    rest.remove_prefix(1);
    const std::string_view loop = take_first(rest, ']');
    const auto count = whole_number(loop.substr(0, loop.find(',')));
    std::int64_t next = 0;
    if (!count || *count < 0 || __builtin_mul_overflow(product.value_or(1), *count, &next)) {
      return std::nullopt;
    }
    product = next;
    rest.remove_prefix(std::min(rest.find_first_not_of(", "), rest.size()));
  }
  return product;
}

// "__intermediate_0" of "… @__intermediate_0 : …".
std::string_view symbol_in(std::string_view head) {
  const auto at = head.find('@');
  if (at == head.npos) return {};
  const std::string_view name = head.substr(at + 1);
  if (name.starts_with('"')) return first_string(name).value_or("");
  return name.substr(0, name.find_first_of(" :,)>"));
}

// Of "memref<1x16x32x32xi8, …>"; none for extents that are not known.
std::optional<std::int64_t> bytes_of_memref(std::string_view head) {
  constexpr std::string_view begin = "memref<";
  const auto at = head.find(begin);
  if (at == head.npos) return std::nullopt;
  std::string_view type = head.substr(at + begin.size());
  type = type.substr(0, type.find_first_of(",>"));
  std::int64_t bytes = 1;
  for (auto x = type.find('x'); x != type.npos; x = type.find('x')) {
    const auto extent = parse_number<std::int64_t>(type.substr(0, x));
    if (!extent || *extent < 0 || __builtin_mul_overflow(bytes, *extent, &bytes)) {
      return std::nullopt;
    }
    type.remove_prefix(x + 1);
  }
  const auto digits = type.find_first_of("0123456789");
  const auto bits = parse_number<std::int64_t>(type.substr(std::min(digits, type.size())));
  if (!bits || *bits <= 0 || *bits > 1024) return std::nullopt;
  if (__builtin_mul_overflow(bytes, *bits, &bytes)) return std::nullopt;
  return (bytes + 7) / 8;
}

struct WorkName {
  std::string_view operation;  // without "torq_hw." and "_start"
  WorkKind kind;
};
constexpr WorkName work_names[] = {{"slice", WorkKind::slice},
                                   {"dma_in", WorkKind::dma_in},
                                   {"dma_out", WorkKind::dma_out},
                                   {"cdma", WorkKind::cdma},
                                   {"css", WorkKind::css}};

class DispatchReader {
 public:
  DispatchReader(const MlirText& text, std::uint32_t function, std::uint32_t end,
                 const std::string& file)
      : text_(text), function_(function), end_(end), notes_(file) {
    dispatch_.file = file;
  }

  // None where the function is of no dispatch. A dispatch may have no actions: what only renames
  // its input (slow_memcpy).
  std::optional<DispatchInfo> run();

 private:
  const MlirOp& op(std::uint32_t index) const { return text_.ops[index]; }
  LocationId location(std::uint32_t index);
  void take_function_op(std::uint32_t index);
  void take_program(std::uint32_t index);
  void take_program_op(std::uint32_t index, DispatchText::Program& program);
  void take_task_op(std::uint32_t index, DispatchText::Task& task);
  void take_globals();
  void take_value(const MlirOp& each);
  void pass_values(const DispatchText::Block& to);
  std::string_view global_of(std::string_view value) const;
  void take_invocation(std::uint32_t index);
  void take_action(std::uint32_t index, std::int64_t id);

  const MlirText& text_;
  std::uint32_t function_, end_;
  CountedNotes notes_;
  DispatchInfo dispatch_;
  DispatchText parts_;
  std::unordered_map<std::string_view, LocationId> known_locations_;
  std::set<std::int64_t> ids_;
  std::uint32_t program_op_ = no_op;  // the one that its following operations are in
  std::uint32_t task_op_ = no_op;
  bool has_locations_ = false;
  // Within a program: the globals that values are, and those that are its code.
  std::unordered_map<std::string_view, std::string_view> globals_;
  std::set<std::string_view> code_;
};

std::optional<DispatchInfo> DispatchReader::run() {
  for (const MlirAlias& alias : text_.locations) {
    dispatch_.locations.define(alias.name, alias.text);
  }
  const std::string_view head = op(function_).head;
  if (const auto symbol = string_attribute(head, "sym_name")) {
    dispatch_.name = unescaped(*symbol);
  } else if (const auto at = head.find('@'); at != head.npos) {
    const std::string_view name = head.substr(at + 1);
    dispatch_.name = name.starts_with('"') ? unescaped(first_string(name).value_or(""))
                                           : std::string(name.substr(0, name.find('(')));
  }
  take_globals();
  for (std::uint32_t i = function_ + 1; i < end_; ++i) take_function_op(i);
  const bool is_dispatch = integer_attribute(head, "torq-nss-program-base").has_value();
  if (dispatch_.actions.empty() && !is_dispatch) return std::nullopt;
  if (!parts_.programs.empty() && !has_locations_) {
    notes_.add(Severity::warning, 0,
               "has no locations, so that kernels have no operators of the model: print it again "
               "with --mlir-print-debuginfo");
  }
  follow_programs(parts_, dispatch_, notes_);
  std::sort(dispatch_.actions.begin(), dispatch_.actions.end(),
            [](const Action& a, const Action& b) { return a.id < b.id; });
  notes_.append_to(dispatch_.notes);
  return std::move(dispatch_);
}

LocationId DispatchReader::location(std::uint32_t index) {
  const std::string_view text = location_of(op(index));
  if (text.empty()) return LocationId::unknown;
  const auto [place, is_new] = known_locations_.try_emplace(text, LocationId::unknown);
  if (!is_new) return place->second;
  const auto id = dispatch_.locations.parse(text);
  if (id) {
    place->second = *id;
    has_locations_ |= *id != LocationId::unknown;
  } else {
    notes_.add(Severity::warning, op(index).offset,
               "locations that cannot be read; taken as unknown: " + id.error().message);
  }
  return place->second;
}

void DispatchReader::take_function_op(std::uint32_t index) {
  const MlirOp& each = op(index);
  if (each.parent == task_op_ && task_op_ != no_op) {
    return take_task_op(index, parts_.programs.back().tasks.back());
  }
  if (each.parent == program_op_ && program_op_ != no_op) {
    return take_program_op(index, parts_.programs.back());
  }
  if (each.parent != function_) return;
  if (each.name == "torq_hl.program") return take_program(index);
  if (each.name == "torq_hl.descriptor" || each.name == "torq_hl.create_invocation") {
    take_invocation(index);
  }
  const auto id = integer_attribute(each.head, "torq-action-id");
  const auto behind = id ? id : integer_attribute(each.tail, "torq-action-id");
  if (behind) take_action(index, *behind);
}

// Buffers in LRAM, as the module declares them.
void DispatchReader::take_globals() {
  for (std::uint32_t i = 0; i < function_; ++i) {
    const MlirOp& each = op(i);
    if (each.name != "memref.global") continue;
    const auto address = integer_attribute(each.head, "lram_address");
    const auto bytes = address ? bytes_of_memref(each.head) : std::nullopt;
    std::int64_t end = 0;
    if (!bytes || *address < 0 || __builtin_add_overflow(*address, *bytes, &end)) continue;
    parts_.lram.try_emplace(symbol_in(each.head), Interval{*address, end});
  }
}

// A global, or a view of one, or a block of the program's code.
void DispatchReader::take_value(const MlirOp& each) {
  const std::string_view result = plain(each.results);
  if (each.name == "memref.get_global") globals_[result] = symbol_in(each.head);
  if (each.name == "memref.subview") {
    const auto values = values_in(each.head);
    const std::string_view global = values.empty() ? "" : global_of(values[0]);
    if (!global.empty()) globals_[result] = global;
  }
  if (each.name == "torq_hl.get_block") code_.insert(result);
}

std::string_view DispatchReader::global_of(std::string_view value) const {
  const auto found = globals_.find(value);
  return found == globals_.end() ? std::string_view() : found->second;
}

// What the block before passes becomes the arguments of this one.
void DispatchReader::pass_values(const DispatchText::Block& to) {
  const auto& blocks = parts_.programs.back().blocks;
  if (blocks.empty() || blocks.back().next != to.label) return;
  const auto& passes = blocks.back().passes;
  std::vector<std::pair<std::string_view, std::string_view>> passed;
  for (std::size_t i = 0; i < std::min(passes.size(), to.arguments.size()); ++i) {
    if (code_.contains(passes[i])) code_.insert(to.arguments[i]);
    const std::string_view global = global_of(passes[i]);
    if (!global.empty()) passed.emplace_back(to.arguments[i], global);
  }
  for (const auto& [argument, global] : passed) globals_[argument] = global;
}

void DispatchReader::take_program(std::uint32_t index) {
  program_op_ = index;
  globals_.clear();
  code_.clear();
  DispatchText::Program program;
  program.name = name_in(op(index).head);
  parts_.program_of[plain(op(index).results)] = parts_.programs.size();
  parts_.programs.push_back(std::move(program));
}

void DispatchReader::take_program_op(std::uint32_t index, DispatchText::Program& program) {
  const MlirOp& each = op(index);
  if (program.blocks.empty() || program.blocks.back().id != each.block) {
    const MlirBlock& block = text_.blocks[each.block];
    DispatchText::Block added{each.block, block.label, {}, {}, {}};
    for (const std::string_view value : values_in(block.arguments)) {
      added.arguments.push_back(value);
    }
    pass_values(added);
    program.blocks.push_back(std::move(added));
  }
  take_value(each);
  if (each.name == "torq_hw.nss_task") {
    task_op_ = index;
    DispatchText::Task task;
    task.block = std::uint32_t(program.blocks.size() - 1);
    NssTask& out = task.task;
    const auto number = [&](std::string_view key) {
      const auto value = integer_attribute(each.head, key);
      return value ? value : integer_attribute(each.tail, key);
    };
    out.id = number("torq-task-id").value_or(-1);
    out.location = location(index);
    const auto begin = number("torq-start-time-cycles"), end = number("torq-end-time-cycles");
    if (begin && end && *begin >= 0 && *end >= *begin) {
      out.cycles = Interval{*begin, *end};
    } else if (begin || end) {
      notes_.add(Severity::warning, each.offset,
                 "estimates that end before they begin, or before 0; left out");
    }
    program.tasks.push_back(std::move(task));
  } else if (each.name == "torq_hl.next") {
    // %args… lram_area(%x : T) to ^bb1, or generic (%args…, %x)[^bb1]
    const auto target = each.head.find('^');
    auto values = values_in(each.head.substr(0, target));
    if (!values.empty()) values.pop_back();
    DispatchText::Block& block = program.blocks.back();
    block.passes = std::move(values);
    if (target != each.head.npos) {
      const std::string_view label = each.head.substr(target);
      block.next = label.substr(0, label.find_first_of(" ]({\t,"));
    }
  }
}

void DispatchReader::take_task_op(std::uint32_t index, DispatchText::Task& task) {
  const MlirOp& each = op(index);
  if (!each.name.starts_with("torq_hw.")) return;
  const std::string_view name = each.name.substr(8);
  for (const WorkName& known : work_names) {
    if (!name.starts_with(known.operation)) continue;
    const std::string_view step = name.substr(known.operation.size());
    DispatchText::Step added{.kind = known.kind};
    added.slice = integer_attribute(each.head, "id").value_or(0);
    added.location = location(index);
    const auto values = values_in(each.head);
    auto& buffers = known.kind == WorkKind::slice ? task.kernel_buffers : task.transfer_buffers;
    if (step == "_cfg" || step == "_start") {
      for (const std::string_view value : values) {
        const std::string_view global = global_of(value);
        if (!global.empty()) buffers.push_back(global);
      }
    }
    if (step == "_cfg") {
      added.bytes = bytes_of_transfer(each.head);
      added.fetches_code = !values.empty() && code_.contains(values[0]);
      task.configures.push_back(added);
    }
    if (step == "_cfg" && values.size() >= 2) {
      task.transfer[std::size_t(known.kind)] = {values[0], values[1]};
    } else if (step == "_start") {
      added.duration_cycles = integer_attribute(each.head, "torq-async-duration-cycles");
      added.program_address = integer_attribute(each.head, "program_address");
      const auto bytes = integer_attribute(each.head, "torq-async-bytes");
      if (bytes && *bytes >= 0) added.bytes = bytes;
      if (!values.empty()) added.first_value = values[0];
      if (known.kind == WorkKind::cdma && values.size() >= 2) {
        // The text names the source first; the generic form the destination.
        const bool generic = each.head.starts_with('(');
        task.transfer[std::size_t(known.kind)] = {values[generic], values[!generic]};
      }
      task.starts.push_back(added);
    } else if (step == "_wait") {
      task.waits.push_back(added);
    }
  }
}

void DispatchReader::take_invocation(std::uint32_t index) {
  const MlirOp& each = op(index);
  DispatchText::Invocation invocation;
  invocation.name = name_in(each.head);
  invocation.job = integer_attribute(each.head, "torq-job-id");
  const auto values = values_in(each.head);
  if (!values.empty()) {
    const auto program = parts_.program_of.find(plain(values[0]));
    if (program != parts_.program_of.end()) invocation.program = program->second;
  }
  const auto results = values_in(each.results);
  if (!results.empty()) parts_.invocations[plain(results[0])] = std::move(invocation);
}

void DispatchReader::take_action(std::uint32_t index, std::int64_t id) {
  const MlirOp& each = op(index);
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max() || !ids_.insert(id).second) {
    return notes_.add(Severity::warning, each.offset,
                      "actions whose id is negative, too large or taken; left out");
  }
  Action action{.id = std::int32_t(id), .operation = std::string(each.name)};
  action.location = location(index);
  const bool starts = each.name == "torq_hl.start_program";
  if (each.name == "torq_hl.host_copy" || each.name == "torq_hl.dynamic_host_copy") {
    action.kind = ActionKind::host_copy;
  } else if (starts || each.name == "torq_hl.wait_program") {
    action.kind = starts ? ActionKind::start : ActionKind::wait;
    const auto values = values_in(each.head);
    DispatchText::Control control;
    control.action = dispatch_.actions.size();
    control.starts = starts;
    control.executor = executor_in(each.head);
    if (!values.empty()) control.invocation = values[0];
    if (starts) control.arguments = start_arguments(each.head);
    parts_.controls.push_back(std::move(control));
  }
  dispatch_.actions.push_back(std::move(action));
}

}  // namespace

const char* name_of(NpuUnit unit) {
  constexpr const char* names[] = {"Slice 0", "Slice 1", "DMA In", "DMA Out", "CDMA", "CSS"};
  return names[std::size_t(unit)];
}

const Action* DispatchInfo::action(std::int64_t id) const {
  // Most dispatches count theirs from 0.
  const auto place = std::uint64_t(id);
  if (place < actions.size() && actions[place].id == id) return &actions[place];
  const auto found =
      std::lower_bound(actions.begin(), actions.end(), id,
                       [](const Action& each, std::int64_t wanted) { return each.id < wanted; });
  return found != actions.end() && found->id == id ? &*found : nullptr;
}

bool looks_like_mlir_bytecode(std::string_view head) { return head.starts_with("ML\xefR"); }

std::string mlir_bytecode_advice(std::string_view file) {
  const std::string_view::size_type slash = file.rfind('/');
  const std::string folder(slash == file.npos ? "." : file.substr(0, slash));
  return fmt::format(
      "MLIR bytecode; make the whole folder text with the compiler's own tool: for f in "
      "{0}/*.mlirb; do iree-opt --mlir-print-debuginfo \"$f\" -o \"${{f%b}}\"; done; then name {0} "
      "again",
      printable(folder));
}

bool looks_like_mlir(std::string_view head) {
  head = trimmed(head);
  const bool begins_with_locations = head.starts_with("#loc");
  while (head.starts_with("//") || head.starts_with('#') || head.starts_with('\n')) {
    const bool is_alias =
        head.starts_with('#') && head.substr(0, head.find('\n')).find(" = ") != head.npos;
    if (head.starts_with('#') && !is_alias) return false;
    take_first(head, '\n');
    head = trimmed(head);
  }
  // The locations of a network may take more than any head.
  if (begins_with_locations && head.empty()) return true;
  for (const std::string_view begins :
       {"module"sv, "builtin.module"sv, "\"builtin.module\""sv, "hal.executable"sv, "func.func"sv,
        "\"func.func\""sv, "\"hal.executable\""sv}) {
    if (head.starts_with(begins)) return true;
  }
  return false;
}

Result<std::vector<DispatchInfo>> read_debug_info(std::string_view text, const std::string& file) {
  if (looks_like_mlir_bytecode(text)) {
    return input_error("{}: {}", file, mlir_bytecode_advice(file));
  }
  const MlirText split = split_mlir(text);
  std::vector<DispatchInfo> dispatches;
  for (std::uint32_t i = 0; i < split.ops.size(); ++i) {
    if (split.ops[i].name != "func.func") continue;
    std::uint32_t end = i + 1;
    while (end < split.ops.size() && split.ops[end].name != "func.func") ++end;
    if (auto dispatch = DispatchReader(split, i, end, file).run()) {
      dispatches.push_back(std::move(*dispatch));
    }
  }
  if (dispatches.empty()) {
    return input_error(
        "{}: has no dispatch function with Torq actions; name the "
        "executable-targets phase or the --torq-debug-info of the model",
        file);
  }
  return dispatches;
}

}  // namespace npuscope::torq
