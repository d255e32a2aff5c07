#include "report/programs/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/programs/judged_runs.hpp"

namespace npuscope::report {
namespace {

using npu::ModelFamily;
using Runs = std::vector<const JudgedRun*>;

Runs runs_of(std::string_view target, Judge judge) {
  Runs runs;
  for (const JudgedRun& each : judged_runs()) {
    if (each.target == target && each.judge == judge) runs.push_back(&each);
  }
  return runs;
}

double share_of(const JudgedRun* run) { return run->share(); }

std::string range_of(const Runs& runs) {
  const auto [least, most] = std::ranges::minmax_element(runs, {}, share_of);
  const double from = share_of(*least) * 100, to = share_of(*most) * 100;
  return least == most ? fmt::format("{:+.1f} %", from)
                       : fmt::format("{:+.1f} to {:+.1f} %", from, to);
}

Trust judged_by(const Runs& runs, std::string statement) {
  const auto [least, most] = std::ranges::minmax_element(runs, {}, share_of);
  return {true, runs.size(), share_of(*least), share_of(*most), std::move(statement)};
}

Trust not_judged(const std::string& why) { return {.statement = "not judged: " + why}; }

std::string names_of(const Runs& runs) {
  std::vector<std::string> names;
  for (const JudgedRun* each : runs) {
    if (std::ranges::find(names, each->run) == names.end()) names.push_back(each->run);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view judged_precision(const JudgedModel& model) {
  if (model.is_quantized) return "int8";
  return model.has_mxfp6 ? "mxfp6" : "fp16";
}

// Cloud AI 100: real cards, and what was published of them.
Trust of_cards(std::string_view target, const JudgedModel& model) {
  std::vector<std::string> statements, others;
  Runs all;
  for (const Judge judge : {Judge::card, Judge::publication}) {
    Runs same;
    for (const JudgedRun* each : runs_of(target, judge)) {
      if (each->family == model.family && each->precision == judged_precision(model)) {
        same.push_back(each);
      } else {
        others.push_back(fmt::format("{} {:+.1f} %", each->run, each->share() * 100));
      }
    }
    if (same.empty()) continue;
    all.insert(all.end(), same.begin(), same.end());
    const std::string names = names_of(same);
    statements.push_back(
        judge == Judge::card
            ? fmt::format("device time against a real card: {} ({}); figures of the target were "
                          "taken from {}",
                          range_of(same), names, same.size() > 1 ? "these runs" : "this run")
            : fmt::format("throughput against what was published of cards: {} ({})", range_of(same),
                          names));
  }
  if (statements.empty()) {
    return not_judged(
        fmt::format("docs/validation.md has no real run of {} {} network; of others: {}",
                    name_of(model.family), judged_precision(model), fmt::join(others, ", ")));
  }
  if (model.has_mxint8) statements.emplace_back("state in MXINT8 is judged by none of these");
  return judged_by(all, fmt::format("{}", fmt::join(statements, "; ")));
}

// Predictions alone: the target's figures were taken from the rest.
Trust of_estimates(std::string_view target, std::string_view estimate, std::string_view precision) {
  Runs runs = runs_of(target, Judge::estimate);
  std::erase_if(runs, [&](const JudgedRun* each) {
    return each->is_fitted || !each->is_network || each->precision != precision;
  });
  if (runs.empty()) {
    return not_judged(fmt::format("docs/validation.md has no prediction of a {} network on {}",
                                  precision, target));
  }
  const auto near = std::ranges::count_if(
      runs, [](const JudgedRun* each) { return std::abs(each->share()) <= 0.25; });
  return judged_by(
      runs, fmt::format("cycles against {} estimate, not a device: {} ({} {} networks that were "
                        "predicted, {} within 25 %)",
                        estimate, range_of(runs), runs.size(), precision, near));
}

}  // namespace

const char* name_of(ModelFamily family) {
  switch (family) {
    case ModelFamily::convolutional: return "a convolutional";
    case ModelFamily::encoder: return "an encoder";
    case ModelFamily::decoder: return "a decoder";
    case ModelFamily::other: break;
  }
  return "such a";
}

Trust trust_in(std::string_view target, const JudgedModel& model) {
  const bool is_aic100 = target == "aic100", is_htp = target == "htp-v73";
  if ((is_aic100 || is_htp) && model.is_float32 && !model.is_quantized) {
    return not_judged(fmt::format("docs/validation.md has no float32 network on {}", target));
  }
  if (is_aic100) return of_cards(target, model);
  if (is_htp) return of_estimates(target, "Qualcomm's host", judged_precision(model));
  if (target == "torq-sl2610" || target == "torq-sr200")
    return of_estimates(target, "torq-compiler's", model.is_quantized ? "int8" : "bf16");
  return not_judged(fmt::format("docs/validation.md has nothing on {}", target));
}

void add_trust(Section& section, const Trust& trust) {
  const std::vector<Fact> facts{{{"judged", "judged", Format::truth}, trust.is_judged},
                                {{"judging_runs", "", Format::count}, trust.runs},
                                {{"least_deviation", "", Format::change}, trust.least},
                                {{"most_deviation", "", Format::change}, trust.most},
                                {{"judgement", ""}, trust.statement}};
  section.facts.insert(section.facts.end(), facts.begin(), facts.end());
  section.remarks.push_back("Trust: " + trust.statement + ".");
  if (!trust.is_judged) return;
  section.remarks.push_back(
      "Device time and cycles are of one inference; the host and its queues are not judged.");
}

}  // namespace npuscope::report
