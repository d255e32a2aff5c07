#include "formats/torq/trace/trace_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "formats/torq/fields.hpp"
#include "formats/torq/profile/rows.hpp"

namespace npuscope::torq {
namespace {

// In the order of NpuUnit.
constexpr const char* breakdown_names[npu_unit_count] = {"Slice 0",  "Slice 1", "NDMA In",
                                                         "NDMA Out", "CDMA",    "CSS"};
constexpr const char* estimate_names[npu_unit_count] = {"Slice Program", "Slice Program", "Dma In",
                                                        "Dma Out",       "Cdma",          "Css"};
// In the order of the vendor's tracks.
constexpr NpuUnit breakdown_order[] = {NpuUnit::cdma,    NpuUnit::dma_in,  NpuUnit::dma_out,
                                       NpuUnit::slice_0, NpuUnit::slice_1, NpuUnit::css};
constexpr NpuUnit measurement_order[] = {NpuUnit::dma_in,  NpuUnit::dma_out, NpuUnit::cdma,
                                         NpuUnit::slice_0, NpuUnit::slice_1, NpuUnit::css};

class PatternMaker {
 public:
  PatternMaker(const DispatchInfo& dispatch, const TraceUnits& units, SliceRows& rows, double mhz)
      : dispatch_(dispatch), units_(units), rows_(rows), mhz_(mhz) {}

  TracePattern make(const Action& action, const ActionRow& row, ProgramCells cells) {
    pattern_.cells = cells;
    if (action.kind == ActionKind::host_copy) {
      add(units_.host_copy,
          rows_.add(fmt::format("Host Copy | {}", row.location), {{"dispatch", dispatch_.name}}));
    } else {
      add_program(dispatch_.programs[action.program], row);
    }
    sort();
    return std::move(pattern_);
  }

 private:
  void add_program(const ProgramRun& program, const ActionRow& row);
  void add_call(std::int32_t action, const char* what);
  void add_estimates(const ProgramRun& program, std::uint32_t program_row);
  void add_work(const ProgramRun& program, const UnitWork& work);
  void sort();

  void add(UnitId unit, std::uint32_t row) { place(unit).push_back({row}); }
  void add(UnitId unit, std::uint32_t row, const ProgramRun& program, Interval cycles) {
    const auto since = [&](std::int64_t cycle) {
      const double passed = double(cycle) - double(program.cycles->begin);
      return std::int64_t(std::clamp(passed * 1000 / mhz_, -1e15, 1e15));
    };
    place(unit).push_back({row, false, since(cycles.begin), since(cycles.end)});
  }
  std::vector<PatternSlice>& place(UnitId unit) {
    for (TracePattern::OnUnit& each : pattern_.on) {
      if (each.unit == unit) return each.slices;
    }
    return pattern_.on.emplace_back(TracePattern::OnUnit{unit}).slices;
  }

  const DispatchInfo& dispatch_;
  const TraceUnits& units_;
  SliceRows& rows_;
  double mhz_;
  TracePattern pattern_;
};

void PatternMaker::add_program(const ProgramRun& program, const ActionRow& row) {
  const SliceAnnotations annotations{{"dispatch", dispatch_.name},
                                     {"location", row.location},
                                     {"source operators", joined(row.operators, " ")}};
  if (program.executor == Executor::host) {
    return add(
        units_.host_programs,
        rows_.add(fmt::format("Host Program | {} | {}", program.name, row.location), annotations));
  }
  std::string name = fmt::format("Nss Program | {} | {}", program.name, row.location);
  if (!program.kernels.empty()) {
    name += fmt::format(" | Torq Kernels: [{}]", joined(program.kernels, ", "));
  }
  if (program.job) name += fmt::format(" | Job: {}", *program.job);
  name += fmt::format(" | Start Action: {} | Wait Action: {}", program.start_action,
                      program.wait_action);
  add(units_.programs, rows_.add(name, annotations));
  add_call(program.start_action, "NSS_START");
  add_call(program.wait_action, "NSS_WAIT");
  pattern_.operators = row.operators;
  const std::uint32_t plain = rows_.add(name);
  for (const NpuUnit unit : measurement_order) {
    if (program.uses[std::size_t(unit)]) add(units_.used[std::size_t(unit)], plain);
  }
  if (program.cycles && mhz_ > 0) add_estimates(program, plain);
}

void PatternMaker::add_call(std::int32_t action, const char* what) {
  const Action* const found = dispatch_.action(action);  // has one: the program has cells
  pattern_.calls.push_back({std::size_t(found - dispatch_.actions.data()),
                            fmt::format("{} | Action: {}", what, action)});
}

void PatternMaker::add_estimates(const ProgramRun& program, std::uint32_t program_row) {
  for (std::uint32_t i = 0; i < program.task_count; ++i) {
    const NssTask& task = dispatch_.tasks[program.first_task + i];
    if (!task.cycles) continue;
    const std::string place = dispatch_.locations.brief(task.location);
    add(units_.task_estimates, rows_.add(fmt::format("Nss Cfg | Task: {} | {}", task.id, place)),
        program, *task.cycles);
  }
  for (const std::uint32_t work : program.work) {
    if (dispatch_.work[work].cycles) add_work(program, dispatch_.work[work]);
  }
  add(units_.program_estimates, program_row, program, *program.cycles);
}

// A unit that has finished and is not waited for yet is not busy.
void PatternMaker::add_work(const ProgramRun& program, const UnitWork& work) {
  const auto unit = std::size_t(work.unit);
  const std::string place = dispatch_.locations.brief(work.location);
  const std::string detail = work.kernel.empty() ? place : work.kernel;
  const std::string address =
      work.program_address ? fmt::format("{:#x}", *work.program_address) : "";
  const std::int64_t begin = work.cycles->begin, end = work.cycles->end;
  const std::int64_t busy = std::max<std::int64_t>(0, work.duration_cycles.value_or(0));
  const std::int64_t done = work.duration_cycles ? std::min(end, saturating_add(begin, busy)) : end;
  add(units_.estimates[unit],
      rows_.add(fmt::format("{} | {}", estimate_names[unit], detail), {{"location", place},
                                                                       {"program address", address},
                                                                       {"source", work.source},
                                                                       {"dest", work.destination}}),
      program, {begin, done});
  if (done < end) add(units_.estimates[unit], rows_.add("WAITING"), program, {done, end});
}

void PatternMaker::sort() {
  const auto order = [](const PatternSlice& each) {
    return std::tuple(each.begin, -std::max<std::int64_t>(0, each.end - each.begin));
  };
  for (TracePattern::OnUnit& each : pattern_.on) {
    std::stable_sort(
        each.slices.begin(), each.slices.end(),
        [&](const PatternSlice& a, const PatternSlice& b) { return order(a) < order(b); });
    pattern_.earliest = std::min(pattern_.earliest, each.slices.front().begin);
    pattern_.slices += each.slices.size();
  }
}

}  // namespace

std::uint32_t SliceRows::add(std::string_view name, const SliceAnnotations& annotations,
                             std::string_view category) {
  const std::pair key{std::string(name), std::string(category)};
  const auto [op, is_new_op] = ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (is_new_op) {
    Op made;
    made.name = profile_.strings.intern(name);
    made.kind = profile_.strings.intern(category);
    profile_.ops.push_back(made);
  }
  Arguments& arguments = profile_.spans.arguments;
  std::vector<StringId> names;
  std::vector<std::uint64_t> values;
  for (const auto& [annotation, value] : annotations) {
    if (value.empty()) continue;
    names.push_back(profile_.strings.intern(annotation));
    values.push_back(std::uint32_t(profile_.strings.intern(value)));
  }
  const auto next = std::uint32_t(arguments.shapes.size());
  const auto [shape, is_new] = shapes_.try_emplace(names, names.empty() ? 0 : next);
  if (is_new && !names.empty()) {
    ArgumentShape made;
    for (const StringId each : names) made.push_back({each, ArgumentType::text});
    arguments.shapes.push_back(std::move(made));
  }
  arguments.add(profile_.spans.size(), shape->second, values);
  return index_of(profile_.spans.add(UnitId::none, op->second, SpanKind::slice, 0, 0));
}

TraceUnits::TraceUnits(Profile& profile, bool is_stretched) {
  const char* estimate = is_stretched ? " (Compile, stretched to the run)" : " (Compile)";
  const auto track = [&](std::string_view name, UnitId parent) {
    return add_unit(profile, name, Engine::other, parent);
  };
  const UnitId host = track("Host", UnitId::none);
  hal = track("HAL", host);
  programs = track("NSS Programs", host);
  host_programs = track("Host Programs", host);
  host_copy = track("Host Copy", host);
  calls = track("NSS Calls", host);
  const UnitId breakdown = track("NPU Task Breakdown", UnitId::none);
  for (const std::string_view kind : {"", estimate}) {
    const auto named = [&](std::string_view name) {
      return track(fmt::format("{}{}", name, kind), breakdown);
    };
    if (!kind.empty()) program_estimates = named("NSS Programs");
    task_estimates = named("NSS CFG Tasks");
    for (const NpuUnit unit : breakdown_order) {
      estimates[std::size_t(unit)] = named(breakdown_names[std::size_t(unit)]);
    }
  }
  const UnitId measurements = track("NPU Task Measurements", UnitId::none);
  for (const NpuUnit unit : measurement_order) {
    used[std::size_t(unit)] = track(fmt::format("{} Used", name_of(unit)), measurements);
  }
}

const std::vector<PatternSlice>* TracePattern::of(UnitId unit) const {
  for (const OnUnit& each : on) {
    if (each.unit == unit) return &each.slices;
  }
  return nullptr;
}

std::optional<ProgramCells> drawn_cells(const Annotation& annotation, std::uint32_t dispatch,
                                        std::size_t place) {
  const DispatchInfo& info = annotation.debug->dispatches[dispatch];
  const Action& action = info.actions[place];
  if (action.kind == ActionKind::host_copy) return ProgramCells{place, place};
  if (action.kind != ActionKind::start || action.program == no_program) return std::nullopt;
  const ProgramRun& program = info.programs[action.program];
  if (program.executor == Executor::other) return std::nullopt;
  return cells_of(info, program, annotation.log_kind);
}

TracePattern make_pattern(const Annotation& annotation, std::uint32_t dispatch, std::size_t action,
                          ProgramCells cells, const TraceUnits& units, SliceRows& rows,
                          double mhz) {
  const DispatchInfo& info = annotation.debug->dispatches[dispatch];
  return PatternMaker(info, units, rows, mhz)
      .make(info.actions[action], annotation.rows[dispatch][action], cells);
}

}  // namespace npuscope::torq
