#include <algorithm>
#include <array>
#include <map>

#include "analysis/findings/rules/rules.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {
namespace all_zero {

constexpr std::uint64_t min_spans = 8, min_of_one_moment = 2;

// Numbers that cannot be 0 for every unit of a device that ran.
bool must_count(const UnitNumberColumn& column) {
  return column.is_utilization() || column.meaning.role == NumberRole::processor_cycles;
}

// Classes of hardware whose executions all took no time at all, while others did.
void find_zero_times(FindingContext& context, Finding& finding) {
  struct Counted {
    std::uint64_t spans = 0;
    bool any_time = false, one_moment = true;
    std::int64_t first = 0;
  };
  std::array<Counted, Overlap::classes> of_engine{};
  const Profile& profile = context.profile();
  const auto& durations = profile.spans.duration;
  const auto zeros = std::count_if(durations.begin(), durations.end(),
                                   [](std::int64_t duration) { return duration <= 0; });
  if (std::uint64_t(zeros) < min_of_one_moment) return;  // as in most profiles
  const SpanEngines engines(profile);
  bool any_time = false;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (role_of(profile.spans.kind[row]) != Role::work) continue;
    Counted& counted = of_engine[std::size_t(engines.of(row))];
    if (counted.spans == 0) counted.first = profile.spans.start[row];
    counted.one_moment = counted.one_moment && counted.first == profile.spans.start[row];
    counted.spans += 1;
    counted.any_time = counted.any_time || profile.spans.duration[row] > 0;
    any_time = any_time || counted.any_time;
  }
  for (std::size_t i = 0; i < of_engine.size(); ++i) {
    if (!is_of_device(domain_of(Engine(i)))) continue;
    const std::uint64_t min = of_engine[i].one_moment ? min_of_one_moment : min_spans;
    if (of_engine[i].spans < min || of_engine[i].any_time || !any_time) continue;
    finding.evidence.push_back(
        count_evidence("spans_without_time", "executions, every one of 0 ticks",
                       double(of_engine[i].spans), "query: spans", name_of(Engine(i))));
  }
}

// Bytes that are 0 in every direction although transfers ran.
void find_zero_bytes(FindingContext& context, Finding& finding) {
  if (!context.has_timeline()) return;
  std::uint64_t transfers = 0;
  for (const UnitRow& row : context.analysis().units().units) {
    const std::size_t unit = index_of(row.unit);
    if (unit >= context.profile().units.size()) continue;
    if (context.profile().units[unit].engine == Engine::dma) transfers += row.spans;
  }
  const auto read = context.analysis().traffic().total(Route::ddr_read).best();
  const auto written = context.analysis().traffic().total(Route::ddr_write).best();
  if (transfers < min_spans || !read || !written || *read != 0 || *written != 0) return;
  finding.evidence.push_back(count_evidence("transfers_without_bytes",
                                            "transfers, with 0 bytes of DDR in all",
                                            double(transfers), "memory: TRAFFIC"));
}

// Columns of counters and utilisation that are 0 for every unit that has them.
void find_zero_counters(FindingContext& context, Finding& finding) {
  const UnitNumbers& numbers = context.analysis().unit_numbers();
  std::map<std::uint32_t, std::pair<std::uint64_t, bool>> of_column;  // units, any above 0
  for (const UnitNumber& number : numbers.numbers) {
    auto& [units, any] = of_column[number.column];
    units += 1;
    any = any || number.value != 0;
  }
  for (const auto& [column, counted] : of_column) {
    const UnitNumberColumn& zero = numbers.columns[column];
    if (!must_count(zero) || counted.second || counted.first < 2) continue;
    finding.evidence.push_back(count_evidence("units_at_zero", "units, every one at 0",
                                              double(counted.first), "units: REPORTED BY THE FILES",
                                              zero.name));
  }
}

bool states_use(FindingContext& context) {
  const auto& columns = context.analysis().unit_numbers().columns;
  return std::any_of(columns.begin(), columns.end(),
                     [](const UnitNumberColumn& column) { return must_count(column); });
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline() && !states_use(context)) {
    return Missing{"times or counters of units"};
  }
  Finding finding;
  find_zero_times(context, finding);
  find_zero_bytes(context, finding);
  find_zero_counters(context, finding);
  if (finding.evidence.empty()) return DoesNotApply{};
  const Evidence& first = finding.evidence.front();
  finding.title = fmt::format("Not measured: {} {}{}", thousands(std::uint64_t(first.value)),
                              first.of.empty() ? "" : first.of + " ", first.what);
  finding.weight = Weight::high;
  finding.no_gain = "affects the recording only";
  finding.advice =
      "Read nothing from these zeros: they are neither idle time nor missing traffic. Record again "
      "with counters switched on for that unit, and check whether the driver and tool support it "
      "on "
      "this hardware.";
  return finding;
}

}  // namespace all_zero

const Rule all_zero_rule{{"all-zero", "a class of units whose numbers are all zero",
                          "Executions of a class of hardware that all took 0 ticks while others "
                          "took some; transfers with "
                          "0 bytes in all; utilisation or cycles of 0 for every unit.",
                          "8 executions or transfers, 2 of one moment; 2 units",
                          "users of another vendor's NPU lost a month to a DMA section of zeros; "
                          "counts are npuscope's own",
                          "Zeros among numbers that are not zero."},
                         all_zero::apply};

}  // namespace npuscope::analysis
