#include "report/compare/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {

using namespace analysis;

std::string amount_text(MeasuredIn unit, double value) {
  switch (unit) {
    case MeasuredIn::seconds: return seconds_text(value);
    case MeasuredIn::bytes: return bytes_text(value);
    case MeasuredIn::cycles: return number_text(value) + " cycles";
    case MeasuredIn::ticks: return number_text(value) + " ticks";
    case MeasuredIn::share: return fmt::format("{:.1f} %", 100 * value);
    case MeasuredIn::count: break;
  }
  return number_text(value);
}

Format format_in(MeasuredIn unit) {
  switch (unit) {
    case MeasuredIn::seconds: return Format::seconds;
    case MeasuredIn::bytes: return Format::bytes;
    case MeasuredIn::share: return Format::share;
    case MeasuredIn::cycles:
    case MeasuredIn::ticks:
    case MeasuredIn::count: break;
  }
  return Format::number;
}

std::string change_text(double relative) {
  if (std::isinf(relative)) return "up from zero";
  return value_text(nullptr, {.key = {}, .format = Format::change}, relative);
}

namespace {

// Without a sign where nothing of it shows: "-0.0 … +0.0 %" said less than "0.0 … 0.0 %".
std::string signed_percent(double part) {
  constexpr double shown = 0.0005;
  return std::abs(part) < shown ? "0.0" : fmt::format("{:+.1f}", 100 * part);
}

}  // namespace

std::string interval_text(const std::optional<Range>& relative) {
  if (!relative) return {};
  return fmt::format("{} … {} %", signed_percent(relative->low), signed_percent(relative->high));
}

namespace {

std::string noise_text(const std::optional<Range>& interval, std::optional<double> p,
                       const Estimate& estimate) {
  if (!estimate.has_noise_rule()) {
    const char* cold = estimate.cold_a && estimate.cold_b ? "cold " : "";
    return estimate.samples_a.size() == 1 && estimate.samples_b.size() == 1
               ? fmt::format("one {}sample a side", cold)
               : fmt::format("{} and {} {}samples", estimate.samples_a.size(),
                             estimate.samples_b.size(), cold);
  }
  std::string text;
  if (interval) {
    text = fmt::format("95 % interval {}", interval_text(interval));
  }
  if (p) text += fmt::format("{}p = {:.2g}", text.empty() ? "" : ", ", *p);
  return text;
}

std::string from_to(MeasuredIn unit, const Estimate& estimate) {
  return fmt::format("{} -> {}", amount_text(unit, estimate.a), amount_text(unit, estimate.b));
}

// Of one side, which is B.
std::string alone_text(MeasuredIn unit, const Estimate& estimate) {
  const std::size_t count = estimate.samples_b.size();
  const char* cold = estimate.cold_b ? "cold " : "";
  std::string text = amount_text(unit, estimate.b);
  if (count < 2) return fmt::format("{} (one {}sample)", text, cold);
  const bool is_extreme = estimate.percent == 0 || estimate.percent == 100;
  const std::string what = estimate.percent == 0    ? "min"
                           : estimate.percent == 50 ? "median"
                           : estimate.percent == 100
                               ? "max"
                               : fmt::format("{:g}th percentile", estimate.percent);
  text += fmt::format(" ({} of {} {}samples", what, thousands(count), cold);
  if (is_extreme) return text + ")";
  if (const auto interval = percentile_interval(estimate.samples_b, estimate.percent)) {
    text += fmt::format(", 95 % interval {} … {}", amount_text(unit, interval->low),
                        amount_text(unit, interval->high));
  }
  return text + ")";
}

}  // namespace

std::string estimate_text(MeasuredIn unit, const Estimate& estimate) {
  if (estimate.samples_a.empty()) return alone_text(unit, estimate);
  const auto relative = estimate.relative();
  const std::string noise = noise_text(estimate.contrast.relative, estimate.p, estimate);
  return fmt::format("{}, {}{}", from_to(unit, estimate),
                     relative ? change_text(*relative) : "up from zero",
                     noise.empty() ? "" : " (" + noise + ")");
}

namespace {

// "latency is faster: 2.4 ms -> 2.1 ms, …".
std::string change_sentence(const MetricChange& metric) {
  const Estimate& estimate = metric.estimate;
  const bool is_time = metric.name != "throughput";
  const bool is_open = !metric.repeats && estimate.delta() != 0 && estimate.percent == 50 &&
                       !estimate.has_enough_samples();
  const ChangeVerdict verdict = is_open ? ChangeVerdict::unclear : estimate.verdict;
  const char* word = verdict == ChangeVerdict::more      ? (is_time ? "is slower" : "is higher")
                     : verdict == ChangeVerdict::less    ? (is_time ? "is faster" : "is lower")
                     : is_open                           ? "inconclusive"
                     : verdict == ChangeVerdict::unclear ? "has no change beyond noise"
                                                         : "is the same";
  return fmt::format("{} {}: {}", metric.name, word, estimate_text(metric.unit, estimate));
}

}  // namespace

std::string verdict_text(const Diff& diff) {
  const std::string gates = gates_text(diff);
  const MetricChange* headline = diff.comparison.headline();
  if (diff.is_alone()) {
    if (headline == nullptr) return gates + "no timeline, so no wall";
    return fmt::format("{}{} {}", gates, headline->name,
                       estimate_text(headline->unit, headline->estimate));
  }
  if (headline == nullptr) return gates + "no timeline on both sides, so no wall to compare";
  std::string text = gates + change_sentence(*headline);
  for (const MetricChange& metric : diff.comparison.call) {  // the host's noise may hide it
    const bool is_device = metric.name == "device_latency" && &metric != headline;
    if (is_device) text += "; " + change_sentence(metric);
  }
  return text;
}

namespace {

std::string caution_text(const Difference& difference, bool is_alone) {
  using What = Difference::What;
  const auto both = [&](const char* what, const char* so) {
    return fmt::format("{} differs (A: {}; B: {}){}", what, difference.a, difference.b, so);
  };
  switch (difference.what) {
    case What::graph: return both("The graph", ": is it the same model?");
    case What::device: return both("The device", ": what changed may be the hardware.");
    case What::format: return both("The format", ": the two need not count alike.");
    case What::version: return both("The version of format or tool", ".");
    case What::origin:
      return both("Where the times come from",
                  ": an estimate or a simulation may be of another chip; bytes and the graph "
                  "compare, times only so far.");
    case What::instrumentation:
      return both("The instrumentation",
                  ": recording costs time, so part of the change is its own.");
    case What::temperature:
      return both("Cold or warm", ": a cold inference is slower for reasons of its own.");
    case What::clock:
      return both("The clock of the cores",
                  ": times of all ops change with it, work in cycles does not.");
    case What::compile:
      return "The ops do not match one to one: another compile. Wall, active time and bytes "
             "compare; counts of ops and spans, and counters of single ops, do not.";
    case What::runs_of_a:
      return "The runs of A are not of one compile: ops that its first run has not are left out.";
    case What::runs_of_b:
      if (is_alone) return "The runs are not of one compile: ops are of all that have them.";
      return "The runs of B are not of one compile: ops that its first run has not are left out.";
    case What::fewer_numbers:
      return fmt::format("{} numbers {} left out: there are too many.", difference.a,
                         is_alone ? "are" : "of a side are");
    case What::fewer_samples:
      return "There are so many ops and inferences that ops are judged by every n-th inference.";
  }
  return {};
}

std::string refusal_text(RefusedMetric::Why why) {
  using Why = RefusedMetric::Why;
  switch (why) {
    case Why::kinds: return "not the same kind of number";
    case Why::clocks: return "clocks with no known relation";
    case Why::whole_runs: return "of whole runs of different numbers of inferences";
    case Why::only_in_a: return "only in A";
    case Why::only_in_b: return "only in B";
    case Why::sources: return "not the same number of the files";
  }
  return {};
}

void add_refusals(const Diff& diff, std::vector<std::string>& out) {
  using Why = RefusedMetric::Why;
  for (const Why why :
       {Why::kinds, Why::clocks, Why::whole_runs, Why::sources, Why::only_in_a, Why::only_in_b}) {
    std::string names;
    std::size_t count = 0;
    constexpr std::size_t max_named = 8;
    for (const RefusedMetric& refused : diff.comparison.refused) {
      if (refused.why != why) continue;
      if (++count <= max_named) names += (names.empty() ? "" : ", ") + refused.name;
    }
    if (count > max_named) names += fmt::format(" and {} more", count - max_named);
    if (count > 0) out.push_back(fmt::format("Not compared, {}: {}.", refusal_text(why), names));
  }
}

// What the verdict rests on where that is not the wall, and where the wall is cold.
void add_temperature(const Diff& diff, std::vector<std::string>& out) {
  const MetricChange* headline = diff.comparison.headline();
  if (headline == nullptr || diff.comparison.call.empty()) return;
  for (const MetricChange& metric : diff.comparison.metrics) {
    const bool is_cold = metric.estimate.cold_a || metric.estimate.cold_b;
    const bool is_warm = !headline->estimate.cold_a && !headline->estimate.cold_b;
    if (metric.name != "wall" || !is_cold || !is_warm) continue;
    out.push_back(fmt::format(
        "The wall is of a cold inference: the verdict rests on {} of warm ones.", headline->name));
  }
}

}  // namespace

std::vector<std::string> cautions(const Diff& diff) {
  std::vector<std::string> out;
  bool structure_only = false;
  for (const auto* side : {&diff.a, &diff.b}) {
    for (const Profile* profile : *side) {
      structure_only = structure_only || is_structure_only(*profile);
    }
  }
  if (structure_only) {
    out.push_back(fmt::format("{}{}.", "Some runs are ", structure_only_caution));
  }
  for (const Difference& difference : diff.comparison.differences) {
    out.push_back(caution_text(difference, diff.is_alone()));
  }
  for (const int side : {0, 1}) {
    if (diff.left_out[side] == 0) continue;
    out.push_back(fmt::format("{} profile{}{} in other formats or of other graphs {} left out.",
                              diff.left_out[side], diff.left_out[side] == 1 ? "" : "s",
                              diff.is_alone() ? ""
                              : side == 0     ? " of A"
                                              : " of B",
                              diff.left_out[side] == 1 ? "is" : "are"));
  }
  add_temperature(diff, out);
  const bool one_sample = diff.comparison.samples[0] < 2 || diff.comparison.samples[1] < 2;
  if (diff.is_alone() && diff.comparison.cold[1]) {
    out.push_back("All inferences are cold: limits of times are not decided by them.");
  }
  if (one_sample && !diff.is_alone()) {
    out.push_back("Less than two samples on a side: no noise rule, any difference counts as one.");
  }
  add_refusals(diff, out);
  return out;
}

std::string side_text(const Diff& diff, int side) {
  const auto& runs = side == 0 ? diff.a : diff.b;
  const Comparison& comparison = diff.comparison;
  Profile first;  // the first file of each run
  for (const Profile* run : runs) {
    const auto& files = run->provenance.files;
    if (runs.size() == 1) first.provenance.files = files;
    const auto& all = first.provenance.files;
    const bool is_new = runs.size() > 1 && !files.empty() &&
                        std::find(all.begin(), all.end(), files.front()) == all.end();
    if (is_new) first.provenance.files.push_back(files.front());
  }
  std::string text = files_text(first);
  if (first.provenance.files.size() > 1 && text == first.provenance.files.front()) {
    text += " …";
  }
  text += fmt::format(
      " ({}, {}", counted(comparison.runs[side], "run"),
      counted(comparison.samples[side], comparison.cold[side] ? "cold sample" : "sample"));
  if (comparison.apart[side] > 0) {
    text += fmt::format(", {} apart", counted(comparison.apart[side], "cold inference"));
  }
  return text + ")";
}

std::string explanation(const OpDifference& row) {
  const std::string& other = row.other;
  const bool has_both = row.change != OpChange::added && row.change != OpChange::removed;
  if (has_both && row.parts_only_a + row.parts_only_b > 0) {
    std::string text;
    const auto add = [&](std::uint32_t parts, const char* side) {
      if (parts == 0) return;
      text += fmt::format("{}{} of {} parts only in {}", text.empty() ? "" : ", ", parts, row.parts,
                          side);
    };
    add(row.parts_only_a, "A");
    add(row.parts_only_b, "B");
    return text;
  }
  if (row.change == OpChange::added || row.change == OpChange::removed) {
    const bool added = row.change == OpChange::added;
    switch (row.reason) {
      case UnmatchedReason::absent: return "";
      case UnmatchedReason::named_in:
        return fmt::format("shares a name with {}: fused or split", other);
      case UnmatchedReason::perhaps_part_of:
        return fmt::format("perhaps {} {}", added ? "made of" : "part of", other);
      case UnmatchedReason::bypassed:
        return added ? fmt::format("inserted before {}", other)
                     : fmt::format("folded or dropped: its inputs go to {}", other);
    }
  }
  if (row.by == MatchedBy::kernel) {
    return row.kind_a == row.kind_b ? name_of(row.by) : fmt::format("kernel now {}", row.kind_b);
  }
  if (row.by == MatchedBy::name || (row.by == MatchedBy::ordinal && row.parts > 1)) return "";
  return row.name_a == row.name_b ? name_of(row.by)
                                  : fmt::format("{} in B, by {}", row.name_b, name_of(row.by));
}

std::string scope_of_sides(const Diff& diff) {
  const Comparison& all = diff.comparison;
  std::string of_side[2];
  for (const int side : {0, 1}) {
    const bool several = all.runs[side] == 1 && all.samples[side] + all.apart[side] > 1;
    if (!several) continue;
    of_side[side] = scope_of_median(all.samples[side], all.apart[side] > 0);
  }
  if (of_side[0] == of_side[1]) return of_side[0];
  const auto named = [](const std::string& scope) { return scope.empty() ? "all of it" : scope; };
  return fmt::format("A {}; B {}", named(of_side[0]), named(of_side[1]));
}

}  // namespace npuscope::report
