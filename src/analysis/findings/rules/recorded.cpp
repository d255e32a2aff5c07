// Rules about what a file records: numbers that are all zero, a timeline mostly empty, a buffer
// overrun.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/answers.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "analysis/units/unit_busy.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "profile/interval_sets.hpp"

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

const Rule all_zero_rule{"all-zero", all_zero::apply};

namespace mostly_empty {

constexpr double max_share = 0.1;  // of the wall, that the stretch with the work takes
constexpr double min_work = 0.9;   // of all, that lies in it
constexpr double min_gap = 0.01;   // of the wall, that parts two stretches

struct Stretch {
  Interval time;
  std::int64_t busy = 0;
};

// Of stretches of work with long gaps between them, the one with most.
Stretch busiest_stretch(const IntervalSet& busy, double wall) {
  Stretch best, now;
  for (const Interval& interval : busy) {
    const bool is_apart =
        now.busy > 0 && double(saturating_subtract(interval.begin, now.time.end)) >= min_gap * wall;
    if (now.busy == 0 || is_apart) now = {interval, 0};
    now.time.end = interval.end;
    now.busy = saturating_add(now.busy, length_of(interval));
    if (now.busy > best.busy) best = now;
  }
  return best;
}

// As --from and --to read it; whole nanoseconds or ticks, so that nothing is cut off.
std::string time_text(FindingContext& context, std::int64_t ticks, bool rounds_up) {
  const Profile& profile = context.profile();
  const std::size_t base = index_of(profile.base_clock);
  const double rate = base < profile.clocks.size() ? profile.clocks[base].rate.value : 0;
  const auto start = context.analysis().timeline_extent().begin;
  const double since = double(saturating_subtract(ticks, start));
  if (!(rate > 0)) return fmt::format("{:.0f}ticks", since);
  const double microseconds = since / rate * 1e6;
  const double thousandths =
      rounds_up ? std::ceil(microseconds * 1e3) : std::floor(microseconds * 1e3);
  return fmt::format("{:.3f}us", thousandths / 1e3);
}

RuleOutcome apply(FindingContext& context) {
  if (!(context.wall() > 0) || !context.analysis().coarse().has_parts()) {
    return Missing{"a timeline of units"};
  }
  const BusyTogether& together = context.analysis().busy_together();
  std::vector<const IntervalSet*> sets;
  for (const IntervalSet& of_domain : together.domains) sets.push_back(&of_domain);
  const SeenUnion busy(std::move(sets));
  const Stretch stretch = busiest_stretch(busy.all(), context.wall());
  const double length = double(length_of(stretch.time)), all = double(length_of(busy.all()));
  if (!(length > 0) || length > max_share * context.wall()) return DoesNotApply{};
  if (double(stretch.busy) < min_work * all) return DoesNotApply{};
  Finding finding;
  const std::string window =
      fmt::format("--from {} --to {}", time_text(context, stretch.time.begin, false),
                  time_text(context, stretch.time.end, true));
  finding.title =
      fmt::format("{:.2g} % of the wall holds {} of the work: {}", 100 * length / context.wall(),
                  percent(double(stretch.busy) / all), window);
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("stretch", "from the first work to the last of that stretch", length,
                     MeasureKind::wall, "timeline"),
      ticks_evidence("stretch_begin", "its start, after the first start",
                     double(saturating_subtract(stretch.time.begin,
                                                context.analysis().timeline_extent().begin)),
                     MeasureKind::wall, "timeline"),
      ticks_evidence("wall", "the wall", context.wall(), MeasureKind::wall, "show: WALL"),
      share_evidence("stretch_share_of_wall", "the stretch, of the wall", length / context.wall(),
                     MeasureKind::wall, "timeline")};
  finding.places = {{UnitId::none, stretch.time}};
  finding.no_gain =
      "it affects interpretation only: shares of the wall are shares of an empty window";
  finding.advice =
      fmt::format("Look at that part alone: {}, in this and every other command.", window);
  return finding;
}

}  // namespace mostly_empty

const Rule mostly_empty_rule{"mostly-empty", mostly_empty::apply};

namespace overrun {

struct Overran {
  std::uint64_t spans = 0;
  double recorded = 0;
};

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const Profile& profile = context.profile();
  std::map<std::uint32_t, Overran> of_ops;
  Overran all;
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role != NumberRole::recorded_duration) continue;
    if (measure.subject != Measure::Subject::span) continue;
    if (measure.subject_id >= profile.spans.size()) continue;
    Overran& of = of_ops[index_of(profile.spans.op[measure.subject_id])];
    for (Overran* each : {&of, &all}) {
      each->spans += 1;
      each->recorded += measure.value;
    }
  }
  if (all.spans == 0) return DoesNotApply{};
  const auto worst = std::max_element(
      of_ops.begin(), of_ops.end(),
      [](const auto& a, const auto& b) { return a.second.recorded < b.second.recorded; });
  const std::string name = worst->first < profile.ops.size()
                               ? std::string(profile.text(profile.ops[worst->first].name))
                               : std::string();
  Finding finding;
  finding.title =
      fmt::format("Recorded durations of {} of {} ran over the next ones of their stream",
                  counted(worst->second.spans, "execution"), name);
  finding.weight = Weight::high;
  finding.evidence = {
      count_evidence("spans_cut", "executions, cut where the next begins", double(all.spans),
                     "query: spans"),
      ticks_evidence("recorded_time", "as the file states them", worst->second.recorded,
                     MeasureKind::work, "query: measures", name)};
  finding.no_gain = "affects the recording only";
  finding.advice =
      "Do not trust the times of these ops: a stream executes in order, so an execution ends "
      "before "
      "the next begins; here it is cut there, which is the most that it can have taken. Record "
      "again with a newer version of the profiler.";
  return finding;
}

}  // namespace overrun

const Rule overrun_rule{"overrun", overrun::apply};

}  // namespace npuscope::analysis
