#include "report/torq/torq_documents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/sort_rows.hpp"
#include "base/text.hpp"

namespace npuscope::report {

namespace {

// At a clock the worst come first, by what they take beyond the estimate; without one by time.
Section comparison_section(TorqComparison comparison, const TorqTimelineOptions& options) {
  std::vector<torq::ProgramComparison>& programs = comparison.programs;
  const std::optional<double> mhz = options.mhz;
  const auto estimated_us = [&](double cycles) {
    return mhz ? std::optional(cycles / *mhz) : std::nullopt;
  };
  const auto beyond_us = [&](const torq::ProgramComparison& each) {
    return each.measured_us - estimated_us(double(each.estimated_cycles)).value_or(0);
  };
  double measured_us = 0, cycles = 0;
  for (const torq::ProgramComparison& each : programs) {
    measured_us += each.measured_us;
    cycles += double(each.estimated_cycles);
  }
  sort_rows(programs.begin(), programs.end(),
            [&](const auto& a, const auto& b) { return beyond_us(a) > beyond_us(b); });
  const auto seconds = [](std::optional<double> us) { return us ? Value(*us / 1e6) : Value(); };
  const auto per_estimate = [&](double us, double of_cycles) -> Value {
    const auto at_clock = estimated_us(of_cycles);
    return at_clock ? Value(ratio(us, *at_clock)) : Value();
  };
  const char* rate_label = mhz ? "" : "cycles per us";  // the rate at which both agree
  Section section{.key = "programs",
                  .title = mhz ? fmt::format("PROGRAMS, measured against estimated at {} MHz", *mhz)
                               : std::string("PROGRAMS, measured against estimated cycles")};
  section.in_list = true;
  section.facts = {
      {{"coverage", "partial", Format::name}, if_any(comparison.coverage)},
      {{"file", "file", Format::name}, comparison.file},
      {{"programs", "programs", Format::count}, programs.size()},
      {{"clock_mhz", "", Format::number}, mhz},
      {{"measured_seconds", "measured, sum", Format::seconds}, measured_us / 1e6},
      {{"estimated_cycles", "estimated cycles, sum", Format::count}, std::int64_t(cycles)},
      {{"estimated_seconds", "estimated, sum", Format::seconds}, seconds(estimated_us(cycles))},
      {{"cycles_per_microsecond", rate_label, Format::number}, ratio(cycles, measured_us)},
      {{"measured_by_estimated", "measured by estimated", Format::number},
       per_estimate(measured_us, cycles)}};
  section.table.fields = {{"program", "program", Format::name},
                          {"location", "location", Format::name},
                          {"operators", "operators", Format::name, false, true},
                          {"kernels", "kernels", Format::name, false, true},
                          {"dispatch", "", Format::name},
                          {"runs", "runs", Format::count},
                          {"estimated_cycles", "cycles", Format::count},
                          {"measured_seconds", "measured", Format::seconds},
                          {"first_seconds", "first", Format::seconds, false},
                          {"cycles_per_microsecond", rate_label, Format::number},
                          {"estimated_seconds", "estimated", Format::seconds, true, true},
                          {"lost_seconds", "above estimate", Format::seconds, true, true},
                          {"measured_by_estimated", "ratio", Format::number, true, true}};
  section.table.row_count = programs.size();
  for (std::size_t i = 0; i < std::min(options.top, programs.size()); ++i) {
    const torq::ProgramComparison& each = programs[i];
    const auto each_cycles = double(each.estimated_cycles);
    section.table.rows.push_back(
        {each.program, each.location, if_any(each.operators), if_any(each.kernels), each.dispatch,
         each.runs, each.estimated_cycles, each.measured_us / 1e6, each.first_us / 1e6,
         ratio(each_cycles, each.measured_us), seconds(estimated_us(each_cycles)),
         mhz ? Value(beyond_us(each) / 1e6) : Value(),
         per_estimate(each.measured_us, each_cycles)});
  }
  section.remarks = {
      "measured is from the begin of NSS_START to the end of NSS_WAIT, the host's calls included: "
      "the median of all runs but the first, or the only one. cycles are the compiler's cost "
      "model."};
  section.remarks.push_back(
      mhz ? fmt::format("estimated, ratio and above estimate (measured less estimated; the worst "
                        "come first) are at {} MHz (--mhz), a rate that no file states.",
                        *mhz)
          : std::string("cycles per us is the clock in MHz at which a program would take its "
                        "estimate. No file states the NPU's clock: --mhz names it, and estimates "
                        "have times, too."));
  if (programs.empty()) {
    section.remarks = {
        "no program has both: a time in the log, and an estimate in the debug information, which "
        "torq-compile writes with --torq-enable-profiling"};
  }
  return section;
}

Section estimates_section(const std::vector<TorqEstimate>& estimates, std::optional<double> mhz) {
  Section section{.key = "estimates",
                  .title = mhz ? fmt::format("ESTIMATES, in cycles and at {} MHz", *mhz)
                               : std::string("ESTIMATES, in cycles")};
  std::int64_t sum = 0;  // of dispatches; a timeline is one of them again
  std::size_t dispatches = 0;
  for (const TorqEstimate& each : estimates) {
    if (each.dispatch.empty()) continue;
    sum = saturating_add(sum, each.cycles);
    ++dispatches;
  }
  if (dispatches > 1) {
    section.facts = {{{"dispatches", "dispatches", Format::count}, dispatches},
                     {{"dispatch_cycles", "estimated cycles, sum", Format::count}, sum}};
  }
  section.table.fields = {{"file", "file", Format::name},
                          {"dispatch", "dispatch", Format::name, true, true},
                          {"operations", "operations", Format::count},
                          {"cycles", "cycles", Format::count},
                          {"seconds", "time", Format::seconds, true, true}};
  for (const TorqEstimate& each : estimates) {
    section.table.rows.push_back({each.file, if_any(each.dispatch), each.operations, each.cycles,
                                  mhz ? Value(double(each.cycles) / (*mhz * 1e6)) : Value()});
  }
  return section;
}

}  // namespace

Document torq_timeline_document(TorqTimelineAnswer answer, const TorqTimelineOptions& options) {
  Document document;
  for (TorqComparison& comparison : answer.comparisons) {
    document.sections.push_back(comparison_section(std::move(comparison), options));
  }
  if (!answer.estimates.empty()) {
    document.sections.push_back(estimates_section(answer.estimates, options.mhz));
  }
  return document;
}

Document overview_document(std::span<const torq::Overview> overviews, torq::OverviewStyle style) {
  Document document;
  for (const torq::Overview& overview : overviews) {
    Section section{.key = "models", .title = overview.model};
    section.in_list = true;
    section.facts = {
        {{"model", "model", Format::name}, overview.model},
        {{"coverage", "partial", Format::name}, if_any(overview.coverage)},
        {{"scope", "scope", Format::name}, if_any(overview.scope)},
        {{"wall_time_text", "WALL_TIME", Format::name}, Value(overview.wall_time)},
        {{"overall_ns", "OVERALL", Format::count}, overview.of(torq::OverviewMetric::overall)}};
    section.table.fields = {{"row", "row", Format::name},
                            {"nanoseconds", "ns", Format::count},
                            {"share_of_overall", "of OVERALL", Format::share},
                            {"meaning", "meaning", Format::name}};
    for (const torq::OverviewRow& row : torq::rows_of(overview, style)) {
      section.table.rows.push_back({row.label, overview.of(row.metric),
                                    torq::percent_of_overall(overview, row.metric) / 100,
                                    torq::meaning_of(row.metric)});
    }
    document.sections.push_back(std::move(section));
  }
  return document;
}

std::string overview_meanings(std::span<const torq::Overview> overviews,
                              torq::OverviewStyle style) {
  std::string text = "\n  OVERALL       " +
                     std::string(torq::meaning_of(torq::OverviewMetric::overall)) +
                     " of programs, host work and HAL calls\n";
  std::vector<std::string> said;
  for (const torq::Overview& overview : overviews) {
    for (const torq::OverviewRow& row : torq::rows_of(overview, style)) {
      if (std::find(said.begin(), said.end(), row.label) != said.end()) continue;
      said.push_back(row.label);
      text += fmt::format("  {:<13} {}\n", row.label, torq::meaning_of(row.metric));
    }
  }
  return text +
         "  A program counts as a whole for each unit that it uses: rows of units are upper "
         "bounds.\n";
}

namespace {

std::optional<double> share_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return double(part) / double(whole);
}

struct Totals {
  std::uint64_t in_bytes = 0, out_bytes = 0;
};

Totals totals_of(const npu::torq::Program& program) {
  Totals totals;
  for (const npu::torq::Step& step : program.steps) {
    if (!step.starts) continue;
    if (step.unit == npu::torq::Unit::dma_in) totals.in_bytes += step.bytes;
    if (step.unit == npu::torq::Unit::dma_out) totals.out_bytes += step.bytes;
  }
  return totals;
}

// The program's clock divided: each moment of it belongs to the task at hand, and that to an
// operation.
Section operations_of(const npu::torq::Compilation& compilation, const npu::torq::Target& target,
                      std::size_t top) {
  std::vector<std::int64_t> cycles(compilation.operations.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < compilation.task_operations.size(); ++i) {
    const std::int64_t taken = length_of(compilation.estimate.tasks[i]);
    cycles[compilation.task_operations[i]] += taken;
    sum += taken;
  }
  std::vector<std::size_t> order(cycles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_rows(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return cycles[a] > cycles[b]; });
  Section section{.key = "operations", .title = "OPERATIONS, by estimated cycles"};
  section.table.fields = {{"kernel", "kernel", Format::name},
                          {"executor", "on", Format::name},
                          {"tiles", "tiles", Format::count},
                          {"lram_bytes", "LRAM", Format::bytes},
                          {"estimated_cycles", "cycles", Format::count},
                          {"estimated_share_of_sum", "of all", Format::share},
                          {"nodes", "operators", Format::name, false}};
  for (const std::size_t i : order) {
    if (section.table.rows.size() >= top) break;
    const npu::torq::CompiledOperation& each = compilation.operations[i];
    section.table.rows.push_back({each.kernel, each.executor, each.tiles, each.lram_bytes,
                                  cycles[i], share_of(cycles[i], sum),
                                  fmt::format("{}", fmt::join(each.nodes, " + "))});
  }
  section.table.row_count = order.size();
  section.remarks.push_back(fmt::format(
      "cycles are the vendor's cost model: what the host does takes none, the CSS {} a program.",
      target.css.estimated_cycles));
  return section;
}

constexpr const char* unit_names[] = {"Slice 0", "Slice 1", "DMA In", "DMA Out", "CDMA", "CSS"};

Section units_of(const npu::torq::Target& target, const npu::torq::Run& run) {
  npu::torq::DeviceRun sum;
  for (const npu::torq::ProgramTruth& each : run.truth.programs) {
    sum.cycles = saturating_add(sum.cycles, each.device.cycles);
    for (std::size_t i = 0; i < npu::torq::busy_units; ++i) {
      sum.busy[i] = saturating_add(sum.busy[i], each.device.busy[i]);
      sum.waited[i] = saturating_add(sum.waited[i], each.device.waited[i]);
    }
  }
  Section section{.key = "units", .title = "UNITS in NSS programs, as simulated"};
  section.facts = {{{"nss_cycles", "cycles of NSS programs", Format::count}, sum.cycles}};
  section.table.fields = {{"unit", "unit", Format::name},
                          {"busy_cycles", "busy", Format::count},
                          {"busy_share_of_nss_cycles", "of NSS cycles", Format::share},
                          {"waited_cycles", "NSS waits for it", Format::count}};
  for (std::size_t i = 0; i < npu::torq::busy_units; ++i) {
    if (i == 1 && target.slices.count < 2) continue;
    section.table.rows.push_back(
        {unit_names[i], sum.busy[i], share_of(sum.busy[i], sum.cycles), sum.waited[i]});
  }
  section.remarks.push_back("No log of a Torq device has this; the profile cannot show it.");
  return section;
}

double seconds(std::int64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

}  // namespace

Document torq_compilation_document(const npu::torq::Compilation& compilation,
                                   const npu::torq::Target& target, std::size_t top) {
  const npu::torq::Program& program = compilation.program;
  const auto& cycles = compilation.estimate.dispatches;
  const std::int64_t sum = std::accumulate(cycles.begin(), cycles.end(), std::int64_t{0});
  const Totals totals = totals_of(program);
  Section section{.key = "compilation", .title = "COMPILED"};
  section.facts = {
      {{"target", "target", Format::name}, target.name},
      {{"dispatches", "dispatches", Format::count}, program.dispatches.size()},
      {{"operations", "operations", Format::count}, compilation.operations.size()},
      {{"nss_programs", "NSS programs", Format::count}, program.nss_programs.size()},
      {{"nss_tasks", "NSS tasks", Format::count}, program.tasks.size()},
      {{"kernels", "kernels", Format::count}, program.kernels.size()},
      {{"host_programs", "host programs", Format::count}, program.host_programs.size()},
      {{"dma_in_bytes", "DMA In", Format::bytes}, totals.in_bytes},
      {{"dma_out_bytes", "DMA Out", Format::bytes}, totals.out_bytes},
      {{"estimated_cycles", "estimated cycles", Format::count}, sum},
      {{"clock", "clock", Format::hertz}, target.clock_hz},
      {{"estimated_seconds", "estimated", Format::seconds}, double(sum) / target.clock_hz},
  };
  Document document;
  document.sections = {std::move(section), operations_of(compilation, target, top)};
  return document;
}

Document torq_run_document(const npu::torq::Program& program, const npu::torq::Target& target,
                           const npu::torq::Run& run) {
  const npu::torq::Truth& truth = run.truth;
  std::int64_t nss = 0;
  for (const npu::torq::ProgramTruth& each : truth.programs) {
    nss = saturating_add(nss, each.host_nanoseconds);
  }
  std::vector<std::int64_t> times;
  for (const Interval& each : truth.inferences) times.push_back(length_of(each));
  std::sort(times.begin(), times.end());
  Section section{.key = "run", .title = "RUN"};
  section.facts = {
      {{"program", "program", Format::name}, program.name},
      {{"target", "target", Format::name}, target.name},
      {{"inferences", "inferences", Format::count}, times.size()},
      {{"inference_seconds", "inference time", Format::seconds}, seconds(times[times.size() / 2])},
      {{"nss_seconds", "NSS programs", Format::seconds}, seconds(nss)},
      {{"host_copy_seconds", "host copies", Format::seconds}, seconds(truth.host_copy_nanoseconds)},
      {{"host_program_seconds", "host programs", Format::seconds},
       seconds(truth.host_program_nanoseconds)},
  };
  section.remarks.push_back(
      "Times are of one inference, the middle one; NSS programs from the host's start to the end "
      "of its wait, as the log has them.");
  Document document;
  document.sections = {std::move(section), units_of(target, run)};
  return document;
}

}  // namespace npuscope::report
