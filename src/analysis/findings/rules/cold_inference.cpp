#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace cold_inference {

constexpr double min_factor = 1.2;
constexpr double min_share = 0.05;  // of the longest phase

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

const Rule cold_inference_rule{
    {"cold-inference", "the first inference, or the only one with ops, is cold",
     "Phases and walls of the first inference against the median of the others; what the reader "
     "knows of the run (optrace records the ops of the first execution only).",
     "the first takes 1.2 times the median of the others (phases that come once an inference, by 5 "
     "% "
     "of the longest of them or more); or all ops are of a cold inference",
     "Qualcomm HTP users: the cold inference includes load and warm-up, compare warm runs; 1.2 and "
     "5 % are npuscope's own",
     "A run whose warm-up was left out before recording looks warm, and one inference alone looks "
     "like any other."},
    cold_inference::apply};

}  // namespace npuscope::analysis
