// Rules about first inferences: a cold one as the only one, and slow first calls.
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/inference_times.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

namespace cold_inference {

constexpr double min_factor = 1.2;
constexpr double min_share = 0.05;  // of the longest phase
constexpr double min_share_of_excess = 0.05;
constexpr std::size_t ops_named = 3;

void compare(Finding& finding, const std::string& phase, const Spread& microseconds) {
  const char* source = "show: PHASES";
  finding.evidence.push_back(seconds_evidence(
      "first_seconds", "the first", microseconds.first * 1e-6, MeasureKind::wall, source, phase));
  finding.evidence.push_back(seconds_evidence("median_of_rest_seconds", "median of the others",
                                              microseconds.median_of_rest * 1e-6, MeasureKind::wall,
                                              source, phase));
}

bool is_cold(const Spread& spread) {
  return spread.count > 1 && spread.median_of_rest > 0 &&
         spread.first >= min_factor * spread.median_of_rest;
}

double longest_when_warm(const std::vector<PhaseRow>& phases) {
  double longest = 0;
  for (const PhaseRow& row : phases) {
    if (!row.repeats) longest = std::max(longest, row.microseconds.median_of_rest);
  }
  return longest;
}

// Of a call that takes a microsecond, a second one says nothing of the inference.
bool is_cold(const PhaseRow& row, double longest) {
  const double more = row.microseconds.first - row.microseconds.median_of_rest;
  return !row.repeats && is_cold(row.microseconds) && more >= min_share * longest;
}

// The phase that has no other inside and is the longest when warm: the work itself.
const PhaseRow* working_phase(const std::vector<PhaseRow>& phases, double longest_phase) {
  const PhaseRow* longest = nullptr;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool has_inner = i + 1 < phases.size() && phases[i + 1].depth > phases[i].depth;
    const double warm = phases[i].microseconds.median_of_rest;
    if (has_inner || !is_cold(phases[i], longest_phase)) continue;
    if (longest == nullptr || warm > longest->microseconds.median_of_rest) longest = &phases[i];
  }
  return longest;
}

void compare_phases(FindingContext& context, Finding& finding) {
  const char* source = "show: PHASES";
  const double longest = longest_when_warm(context.analysis().phases());
  for (const PhaseRow& row : context.analysis().phases()) {
    if (!is_cold(row, longest)) continue;
    compare(finding, std::string(context.profile().text(row.name)), row.microseconds);
  }
  const PhaseRow* work = working_phase(context.analysis().phases(), longest);
  if (work == nullptr || !(work->hertz.first > 0)) return;
  if (work->hertz.first * min_factor > work->hertz.median_of_rest) return;
  const std::string name(context.profile().text(work->name));
  finding.evidence.push_back(
      hertz_evidence("first_hz", "clock, in the first", work->hertz.first, source, name));
  finding.evidence.push_back(hertz_evidence("median_of_rest_hz", "clock, median of the others",
                                            work->hertz.median_of_rest, source, name));
}

// Without a timeline, times of ops by inference: of others than the first too.
bool has_ops_of_others(const Profile& profile) {
  if (profile.spans.size() > 0) return false;
  return std::ranges::any_of(profile.measures, [](const Measure& measure) {
    return measure.subject == Measure::Subject::op && measure.instance != every_instance &&
           measure.instance > 0;
  });
}

// What of the difference is in which ops, and what came before all inferences.
void name_what_took_longer(FindingContext& context, double excess, Finding& finding) {
  const Profile& profile = context.profile();
  double setting_up = 0;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != SpanKind::activation) continue;
    setting_up += double(profile.spans.duration[row]);
  }
  if (setting_up > 0) {
    finding.evidence.push_back(ticks_evidence("setting_up", "setting up, before the first",
                                              setting_up, MeasureKind::work, "timeline"));
  }
  OpOptions options = OpOptions::of_work(Grouping::part);
  options.details = true;
  const OpTable ops = context.analysis().ops(options);
  const auto work = ops.place_of("work");
  std::vector<std::pair<double, const OpRow*>> slower;
  for (const OpRow& row : ops.rows) {
    if (!work || row.spreads.size() <= *work || !row.spreads[*work].first) continue;
    const double more = *row.spreads[*work].first - row.values[*work].value_or(0);
    if (more >= min_share_of_excess * excess) slower.emplace_back(more, &row);
  }
  sort_rows(slower.begin(), slower.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  if (slower.size() > ops_named) slower.resize(ops_named);
  for (const auto& [more, row] : slower) {
    finding.evidence.push_back(ticks_evidence("op_excess_of_first", "more in the first", more,
                                              MeasureKind::work, "ops", row->name));
  }
}

RuleOutcome apply(FindingContext& context) {
  using Temperature = Provenance::Temperature;
  const Profile& profile = context.profile();
  const Temperature temperature = profile.provenance.temperature;
  const bool ops_are_cold =
      !has_ops_of_others(profile) &&
      (temperature == Temperature::cold || temperature == Temperature::cold_then_warm);
  // Of a run that is known to be warm the first is one of many.
  const Spread walls =
      temperature == Temperature::warm ? Spread{} : context.analysis().coarse().inferences;
  Finding finding;
  compare_phases(context, finding);
  if (is_cold(walls)) {
    finding.evidence.push_back(ticks_evidence("first_wall", "inference, the first", walls.first,
                                              MeasureKind::wall, "show: WALL"));
    finding.evidence.push_back(
        ticks_evidence("median_wall_of_rest", "inference, median of the others",
                       walls.median_of_rest, MeasureKind::wall, "show: WALL"));
    name_what_took_longer(context, walls.first - walls.median_of_rest, finding);
  }
  if (finding.evidence.empty() && !(ops_are_cold && walls.count <= 1)) {
    const bool compared = walls.count > 1 || !context.analysis().phases().empty();
    if (compared || temperature == Temperature::warm) return DoesNotApply{};
    return Missing{"a second inference to compare the first with"};
  }
  if (ops_are_cold && walls.count <= 1) {
    finding.evidence.insert(
        finding.evidence.begin(),
        count_evidence("recorded_inferences", "inferences whose ops were recorded, all cold", 1,
                       "show: what the reader knows"));
  }
  finding.title = "The first inference is cold";
  if (ops_are_cold && walls.count <= 1) {
    const std::uint64_t all = profile.provenance.inferences;
    finding.title = fmt::format("Op times are of 1 cold inference{}, not steady state",
                                all > 1 ? fmt::format(" of {}", all) : "");
  } else if (is_cold(walls) && walls.median_of_rest > 0) {
    finding.title =
        fmt::format("The first inference is cold: {:.2f} times the median of the others",
                    walls.first / walls.median_of_rest);
  }
  const auto& extents = context.analysis().inference_extents();
  if (!extents.empty() && is_cold(walls)) {
    finding.places = {{UnitId::none, extents.begin()->second}};
  }
  finding.weight = ops_are_cold ? Weight::high : Weight::low;
  finding.no_gain = "it is gone after the first inference";
  finding.advice = context.words(
      {.usual = "Compare warm runs: leave the first inference out, take the median of the others, "
                "and raise the clock before measuring (a burst performance profile on the HTP). "
                "Where requests are rare, the first one is what users feel: keep the session and "
                "its power vote alive.",
       .sigmastar_ipu =
           "Compare warm runs: leave the first inference out and take the median of the "
           "others. Where requests are rare, the first one is what users feel: keep the "
           "model loaded.",
       .neutral = "Compare warm runs: leave the first inference out and take the median of the "
                  "others. Where requests are rare, the first one is what users feel: keep the "
                  "model loaded and the clock up."});
  return finding;
}

}  // namespace cold_inference

const Rule cold_inference_rule{"cold-inference", cold_inference::apply};

namespace first_calls {

constexpr double min_factor = 1.5;  // of the first call above the later ones
constexpr double min_share = 0.01;  // of the wall
constexpr std::size_t min_calls = 3;
constexpr std::size_t kernels_named = 3;

struct Slow {
  std::string name;
  std::size_t op = 0;
  double first = 0, later = 0;
  std::size_t calls = 0;
  double excess() const { return first - later; }
};

// Ops of one kernel and one output are calls alike; of an op that is sliced its longest slice.
using Alike = std::tuple<StringId, StringId, StringId, std::uint64_t>;
struct Call {
  std::int64_t start = 0;
  double time = 0;
  std::size_t op = 0;
};

// Of the first inference, or of all spans.
std::map<Alike, std::vector<Call>> calls_of(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Spans& spans = profile.spans;
  const auto& inferences = analysis.extents().inferences;
  const bool tells = !inferences.empty();
  const std::size_t first_row = tells ? inferences.front().first_row : 0;
  const std::size_t rows_end = tells ? inferences.front().rows_end : spans.size();
  const SpanEngines engines(profile);
  std::vector<std::optional<Call>> of_op(profile.ops.size());
  for (std::size_t row = first_row; row < rows_end; ++row) {
    if (tells && spans.instance[row] != inferences.front().number) continue;
    const std::size_t op = index_of(spans.op[row]);
    if (role_of(spans.kind[row]) != Role::work || spans.kind[row] == SpanKind::transfer ||
        op >= profile.ops.size()) {
      continue;
    }
    const std::int64_t start = spans.start[row];
    const auto time = double(spans.duration[row]);
    std::optional<Call>& call = of_op[op];
    if (call && start >= call->start && time <= call->time) continue;  // most: nothing to ask
    const Engine engine = engines.of(row);
    if (engine != Engine::hvx && engine != Engine::hmx && engine != Engine::dma_issue) continue;
    if (!call) call = Call{start, 0, op};
    call->start = std::min(call->start, start);
    call->time = std::max(call->time, time);
  }
  std::map<Alike, std::vector<Call>> calls;
  for (std::size_t op = 0; op < of_op.size(); ++op) {
    const Op& of = profile.ops[op];
    if (of_op[op]) calls[{of.kind, of.shape, of.types, of.output.value}].push_back(*of_op[op]);
  }
  return calls;
}

std::vector<Slow> slow_first_calls(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  std::vector<Slow> slow;
  for (auto& [alike, calls] : calls_of(analysis)) {
    if (calls.size() < min_calls) continue;
    std::vector<Call> sorted = calls;
    std::sort(sorted.begin(), sorted.end(),
              [](const Call& a, const Call& b) { return a.start < b.start; });
    std::vector<double> later;
    for (std::size_t i = 1; i < sorted.size(); ++i) later.push_back(sorted[i].time);
    const double usual = median_of(later), max = percentile_of(later, 90);
    if (!(usual > 0) || sorted[0].time < min_factor * std::max(usual, max)) continue;
    slow.push_back({std::string(profile.text(std::get<0>(alike))), sorted[0].op, sorted[0].time,
                    usual, calls.size()});
  }
  sort_rows(slow.begin(), slow.end(),
            [](const Slow& a, const Slow& b) { return a.excess() > b.excess(); });
  return slow;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const std::vector<Slow> slow = slow_first_calls(context.analysis());
  double excess = 0;
  for (const Slow& each : slow) excess += each.excess();
  if (!(context.wall() > 0) || excess < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title =
      fmt::format("First calls of {} kernels take {:.1f} % of the wall more than later ones",
                  slow.size(), excess / context.wall() * 100);
  if (slow.size() == 1) {
    finding.title = fmt::format("The first call of {} takes {:.1f} times a later one", slow[0].name,
                                slow[0].first / slow[0].later);
  }
  finding.weight = Weight::medium;
  finding.evidence = {
      count_evidence("kernels", "kernels with a slow first call", double(slow.size()), "ops"),
      ticks_evidence("excess", "first calls above the median of the later ones, sum", excess,
                     MeasureKind::work, "timeline"),
      share_evidence("excess_share_of_wall", "share of wall", excess / context.wall(),
                     MeasureKind::work, "timeline")};
  std::vector<double> factors(context.profile().ops.size(), 1);
  for (std::size_t i = 0; i < slow.size(); ++i) {
    factors[slow[i].op] = slow[i].later / slow[i].first;
    if (i >= kernels_named) continue;
    finding.evidence.push_back(ticks_evidence("first_call", "first call", slow[i].first,
                                              MeasureKind::work, "timeline", slow[i].name));
    finding.evidence.push_back(ticks_evidence("later_calls", "later calls, median", slow[i].later,
                                              MeasureKind::work, "timeline", slow[i].name));
  }
  finding.places = places_of_ops(context, factors);
  finding.advice =
      "The code of a kernel, and what it keeps in caches, is loaded by its first call: judge the "
      "kernel by its later calls. Where cold calls count, use fewer different kernels, or run the "
      "graph once before the first request.";
  if (context.is_cold()) {
    finding.no_gain = "a warm inference has the code cached";
    return finding;
  }
  return trial_of(std::move(finding), std::move(factors), "first calls take as long as later ones");
}

}  // namespace first_calls

const Rule first_calls_rule{"first-calls", first_calls::apply};

}  // namespace npuscope::analysis
