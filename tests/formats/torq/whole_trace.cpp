#include "formats/torq/whole_trace.hpp"
#include "formats/torq/annotate/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "formats/torq/fields.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq::test {
namespace {

using Metric = OverviewMetric;

struct OverviewTrack {
  const char* track;
  const char* label;
  Metric metric;
};
constexpr OverviewTrack overview_tracks[] = {
    {"00 OVERVIEW DMA COMBINED", "DMA+CDMA union", Metric::dma_union},
    {"01 OVERVIEW COMPUTE COMBINED", "SLICE+CSS union", Metric::compute},
    {"02 OVERVIEW DMA", "DMA total", Metric::dma},
    {"03 OVERVIEW CDMA", "CDMA total", Metric::cdma},
    {"04 OVERVIEW SLICE", "SLICE 0 + 1 union", Metric::slice},
    {"05 OVERVIEW SLICE 0", "SLICE 0", Metric::slice_0},
    {"06 OVERVIEW SLICE 1", "SLICE 1", Metric::slice_1},
    {"07 OVERVIEW CSS", "CSS", Metric::css},
    {"08 OVERVIEW DMA ONLY", "DMA/CDMA ONLY (no compute)", Metric::dma_only},
    {"09 OVERVIEW COMPUTE ONLY", "COMPUTE ONLY (no DMA/CDMA)", Metric::compute_only},
    {"10 OVERVIEW DMA COMPUTE OVERLAP", "DMA/CDMA<->COMPUTE overlap", Metric::overlap},
    {"11 OVERVIEW HAL", "HAL total", Metric::hal},
    {"12 OVERVIEW HOST", "HOST total", Metric::host},
    {"13 OVERVIEW HOST COPY", "HOST COPY total", Metric::host_copy},
    {"14 OVERVIEW IDLE", "IDLE", Metric::idle},
    {"15 OVERALL", "OVERALL", Metric::overall},
};

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

// "tosa.add" of "tosa.add@L3".
std::string type_of(const std::string& source_operator) {
  return source_operator.substr(0, source_operator.rfind('@'));
}

using Said = std::vector<std::pair<std::string_view, std::string>>;

class TraceMaker {
 public:
  TraceMaker(const Annotation& annotation, double mhz) : annotation_(annotation), mhz_(mhz) {}

  Profile run();

 private:
  void add_tracks();
  UnitId track(std::string_view name, UnitId parent) {
    return add_unit(profile_, name, Engine::other, parent);
  }
  SpanId add(UnitId unit, std::string_view name, Interval at, const Said& said = {},
             std::string_view category = {});
  void say(const Said& said);
  void add_invocation(const AnnotatedInvocation& invocation);
  void add_program(const AnnotatedInvocation& invocation, const ProgramRun& program,
                   const ActionRow& row, Interval at);
  SpanId add_call(const AnnotatedInvocation& invocation, std::int32_t action, const char* what);
  void add_flow(SpanId from, SpanId to);
  void add_estimate(const DispatchInfo& dispatch, const ProgramRun& program,
                    const std::string& name, std::int64_t start);
  void add_locations();
  void add_overview();

  const Annotation& annotation_;
  double mhz_;
  Profile profile_;
  std::map<std::pair<std::string, std::string>, OpId> ops_;
  std::map<std::vector<StringId>, std::uint32_t> shapes_;
  UnitId hal_{}, programs_{}, host_programs_{}, host_copy_{}, calls_{};
  UnitId program_estimates_{}, task_estimates_{};
  std::array<UnitId, npu_unit_count> estimates_{}, used_{};
  std::map<std::string, std::vector<Interval>> of_operator_;
};

Profile TraceMaker::run() {
  profile_.base_clock = profile_.add_clock("monotonic", ClockKind::wall, Hertz{1e9});
  profile_.provenance.format = "Torq annotated trace";
  profile_.provenance.platform = Provenance::Platform::torq;
  profile_.provenance.device = "Torq";
  profile_.provenance.files = {annotation_.log_name};
  add_tracks();
  for (const AnnotatedInvocation& invocation : annotation_.invocations) {
    add_invocation(invocation);
  }
  for (const HalCall& call : annotation_.hal) {
    add(hal_, fmt::format("Hal | {}", location_of(annotation_, call)),
        to_nanoseconds(Interval{call.begin_us, call.end_us}));
  }
  add_locations();
  add_overview();
  profile_.notes = annotation_.notes;
  return std::move(profile_);
}

void TraceMaker::add_tracks() {
  const UnitId host = track("Host", UnitId::none);
  hal_ = track("HAL", host);
  programs_ = track("NSS Programs", host);
  host_programs_ = track("Host Programs", host);
  host_copy_ = track("Host Copy", host);
  calls_ = track("NSS Calls", host);
  const UnitId breakdown = track("NPU Task Breakdown", UnitId::none);
  const char* estimate =
      simulator_slowdown(annotation_) > 0 ? " (Compile, stretched to the run)" : " (Compile)";
  for (const std::string_view kind : {"", estimate}) {
    const auto named = [&](std::string_view name) {
      return track(fmt::format("{}{}", name, kind), breakdown);
    };
    if (!kind.empty()) program_estimates_ = named("NSS Programs");
    task_estimates_ = named("NSS CFG Tasks");
    for (const NpuUnit unit : breakdown_order) {
      estimates_[std::size_t(unit)] = named(breakdown_names[std::size_t(unit)]);
    }
  }
  const UnitId measurements = track("NPU Task Measurements", UnitId::none);
  for (const NpuUnit unit : measurement_order) {
    used_[std::size_t(unit)] = track(fmt::format("{} Used", name_of(unit)), measurements);
  }
}

SpanId TraceMaker::add(UnitId unit, std::string_view name, Interval at, const Said& said,
                       std::string_view category) {
  const std::pair key{std::string(name), std::string(category)};
  const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (is_new) {
    Op op;
    op.name = profile_.strings.intern(name);
    op.kind = profile_.strings.intern(category);
    profile_.ops.push_back(op);
  }
  const SpanId span =
      profile_.spans.add(unit, place->second, SpanKind::slice, at.begin,
                         std::max<std::int64_t>(0, saturating_subtract(at.end, at.begin)));
  say(said);
  return span;
}

// What is empty is left out.
void TraceMaker::say(const Said& said) {
  Arguments& arguments = profile_.spans.arguments;
  std::vector<StringId> names;
  std::vector<std::uint64_t> values;
  for (const auto& [name, value] : said) {
    if (value.empty()) continue;
    names.push_back(profile_.strings.intern(name));
    values.push_back(std::uint32_t(profile_.strings.intern(value)));
  }
  const auto next = std::uint32_t(arguments.shapes.size());
  const auto [place, is_new] = shapes_.try_emplace(names, names.empty() ? 0 : next);
  if (is_new && !names.empty()) {
    ArgumentShape shape;
    for (const StringId name : names) shape.push_back({name, ArgumentType::text});
    arguments.shapes.push_back(std::move(shape));
  }
  arguments.add(arguments.size(), place->second, values);
}

void TraceMaker::add_invocation(const AnnotatedInvocation& invocation) {
  const DispatchInfo& dispatch = annotation_.debug->dispatches[invocation.dispatch];
  const auto& rows = annotation_.rows[invocation.dispatch];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Action& action = dispatch.actions[i];
    if (action.kind == ActionKind::host_copy) {
      if (const auto time = time_of(annotation_, invocation, i)) {
        add(host_copy_, fmt::format("Host Copy | {}", rows[i].location), to_nanoseconds(*time),
            {{"dispatch", dispatch.name}});
      }
    }
    if (action.kind != ActionKind::start || action.program == no_program) continue;
    const ProgramRun& program = dispatch.programs[action.program];
    if (const auto time = time_of(annotation_, invocation, program)) {
      add_program(invocation, program, rows[i], to_nanoseconds(*time));
    }
  }
}

void TraceMaker::add_program(const AnnotatedInvocation& invocation, const ProgramRun& program,
                             const ActionRow& row, Interval at) {
  const DispatchInfo& dispatch = annotation_.debug->dispatches[invocation.dispatch];
  const Said said{{"dispatch", dispatch.name},
                  {"location", row.location},
                  {"source operators", joined(row.operators, " ")}};
  if (program.executor == Executor::host) {
    add(host_programs_, fmt::format("Host Program | {} | {}", program.name, row.location), at,
        said);
    return;
  }
  if (program.executor != Executor::nss) return;
  std::string name = fmt::format("Nss Program | {} | {}", program.name, row.location);
  if (!program.kernels.empty()) {
    name += fmt::format(" | Torq Kernels: [{}]", joined(program.kernels, ", "));
  }
  if (program.job) name += fmt::format(" | Job: {}", *program.job);
  name += fmt::format(" | Start Action: {} | Wait Action: {}", program.start_action,
                      program.wait_action);
  const SpanId span = add(programs_, name, at, said);
  add_flow(add_call(invocation, program.start_action, "NSS_START"), span);
  add_flow(span, add_call(invocation, program.wait_action, "NSS_WAIT"));
  for (const NpuUnit unit : measurement_order) {
    if (program.uses[std::size_t(unit)]) add(used_[std::size_t(unit)], name, at);
  }
  for (const std::string& source_operator : row.operators) {
    of_operator_[source_operator].push_back(at);
  }
  add_estimate(dispatch, program, name, at.begin);
}

SpanId TraceMaker::add_call(const AnnotatedInvocation& invocation, std::int32_t action,
                            const char* what) {
  const DispatchInfo& dispatch = annotation_.debug->dispatches[invocation.dispatch];
  const Action* found = dispatch.action(action);
  if (found == nullptr) return SpanId::none;
  const auto time = time_of(annotation_, invocation, std::size_t(found - dispatch.actions.data()));
  if (!time) return SpanId::none;
  return add(calls_, fmt::format("{} | Action: {}", what, action), to_nanoseconds(*time));
}

void TraceMaker::add_flow(SpanId from, SpanId to) {
  if (from == SpanId::none || to == SpanId::none) return;
  profile_.flows.push_back({from, to, EdgeKind::flow, profile_.strings.intern("NSS"), {}});
}

void TraceMaker::add_estimate(const DispatchInfo& dispatch, const ProgramRun& program,
                              const std::string& name, std::int64_t start) {
  if (!program.cycles || !(mhz_ > 0)) return;
  double mhz = mhz_;
  std::vector<std::int64_t> runs;
  for (const AnnotatedInvocation& each : annotation_.invocations) {
    if (&annotation_.debug->dispatches[each.dispatch] != &dispatch) continue;
    if (const auto time = time_of(annotation_, each, program)) runs.push_back(length_of(*time));
  }
  std::sort(runs.begin(), runs.end());
  if (simulator_slowdown(annotation_) > 0 && !runs.empty() && runs.front() > 0 &&
      length_of(*program.cycles) > 0) {
    mhz = double(length_of(*program.cycles)) / double(runs.front());
  }
  const auto at = [&](Interval cycles) {
    const auto moved = [&](std::int64_t cycle) {
      const double since = double(cycle) - double(program.cycles->begin);
      const double ns = std::clamp(since * 1000 / mhz, -1e15, 1e15);
      return saturating_add(start, std::int64_t(ns));
    };
    return Interval{moved(cycles.begin), moved(cycles.end)};
  };
  for (std::uint32_t i = 0; i < program.task_count; ++i) {
    const NssTask& task = dispatch.tasks[program.first_task + i];
    if (!task.cycles) continue;
    const std::string place = dispatch.locations.brief(task.location);
    add(task_estimates_, fmt::format("Nss Cfg | Task: {} | {}", task.id, place), at(*task.cycles));
  }
  for (const std::uint32_t index : program.work) {
    const UnitWork& work = dispatch.work[index];
    if (!work.cycles) continue;
    const auto unit = std::size_t(work.unit);
    const std::string place = dispatch.locations.brief(work.location);
    const std::string detail = work.kernel.empty() ? place : work.kernel;
    const std::string address =
        work.program_address ? fmt::format("{:#x}", *work.program_address) : "";
    // A unit that has finished and is not waited for yet is not busy.
    const std::int64_t done =
        work.duration_cycles
            ? std::min(work.cycles->end,
                       saturating_add(work.cycles->begin,
                                      std::max<std::int64_t>(0, *work.duration_cycles)))
            : work.cycles->end;
    add(estimates_[unit], fmt::format("{} | {}", estimate_names[unit], detail),
        at({work.cycles->begin, done}),
        {{"location", place},
         {"program address", address},
         {"source", work.source},
         {"dest", work.destination}});
    if (done < work.cycles->end) add(estimates_[unit], "WAITING", at({done, work.cycles->end}));
  }
  add(program_estimates_, name, at(*program.cycles));
}

// A program counts for each of its operators, so that these overlap: they are not parts of a whole.
void TraceMaker::add_locations() {
  const UnitId locations = track("Compiler Input Locations", UnitId::none);
  std::map<std::string, std::vector<Interval>> of_type;
  for (const auto& [source_operator, intervals] : of_operator_) {
    const IntervalSet set = union_of(intervals);
    const UnitId unit =
        track(fmt::format("{} - {}", source_operator, duration_text(length_of(set))), locations);
    for (const Interval& each : set) add(unit, source_operator, each);
    auto& of = of_type[type_of(source_operator)];
    of.insert(of.end(), set.begin(), set.end());
  }
  if (of_type.empty()) return;
  std::vector<std::pair<std::int64_t, std::string>> totals;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (auto& [type, intervals] : of_type) {
    for (const Interval& each : intervals) begin = std::min(begin, each.begin);
    totals.emplace_back(-length_of(union_of(std::move(intervals))), type);
  }
  std::sort(totals.begin(), totals.end());
  if (begin == std::numeric_limits<std::int64_t>::max()) begin = profile_.spans.start[0];
  const UnitId root = track("Operator Type Totals", UnitId::none);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto& [negative, type] = totals[i];
    add(track(fmt::format("{:02} {}", i + 1, type), root),
        fmt::format("{}: {}", type, duration_text(-negative)),
        {begin, saturating_subtract(begin, negative)});
  }
}

void TraceMaker::add_overview() {
  const RunIntervals run = run_intervals(annotation_);
  const Overview overview = make_overview(run);
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (const RunPart& each : run.parts) begin = std::min(begin, each.at.begin);
  if (begin == std::numeric_limits<std::int64_t>::max()) begin = 0;
  const UnitId root = track("Host Profile Overview", UnitId::none);
  for (const OverviewTrack& each : overview_tracks) {
    const std::int64_t value = overview.of(each.metric).value_or(0);
    std::string name = fmt::format("{}: {}", each.label, duration_text(value));
    if (each.metric != Metric::overall) {
      name += fmt::format(" ({:.2f}%)", percent_of_overall(overview, each.metric));
    }
    add(track(each.track, root), name, {begin, saturating_add(begin, value)}, {}, "overview");
  }
}

}  // namespace

Profile whole_trace(const Annotation& annotation, double mhz) {
  return TraceMaker(annotation, mhz).run();
}

}  // namespace npuscope::torq::test
