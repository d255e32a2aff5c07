#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/core_clock.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {
namespace throttled_clock {

constexpr double min_loss = 0.05;
constexpr std::size_t min_inferences = 6;  // two in each third

struct Rates {
  std::string name;
  std::vector<double> hertz;  // of each inference but the first, in their order
};

// Without the first inference, which is cold.
Rates rates_of_phases(const Profile& profile) {
  const PhaseClock clock = clock_of_phases(profile);
  Rates rates{clock.phase, {}};
  for (std::size_t i = 1; i < clock.hertz.size(); ++i) rates.hertz.push_back(clock.hertz[i].second);
  return rates;
}

struct Loss {
  double share = 0;
  std::vector<Evidence> evidence;
};

Loss falling(const Rates& rates) {
  if (rates.hertz.size() < min_inferences) return {};
  const auto third = std::ptrdiff_t(rates.hertz.size() / 3);
  const double early = median_of({rates.hertz.begin(), rates.hertz.begin() + third});
  const double late = median_of({rates.hertz.end() - third, rates.hertz.end()});
  if (!(early > 0) || late > (1 - min_loss) * early) return {};
  return {1 - late / early,
          {hertz_evidence("early_hz", "clock, median of the first third after the first inference",
                          early, "query: phases", rates.name),
           hertz_evidence("late_hz", "clock, median of the last third", late, "query: phases",
                          rates.name)}};
}

// The median of what the units' cycles and times make, or of the phases after the first.
std::optional<std::pair<double, std::string>> effective_hz(FindingContext& context,
                                                           const Rates& rates) {
  if (const auto hertz = clock_of_units(context.analysis().unit_numbers())) {
    return std::pair{*hertz, std::string("units, median")};
  }
  if (!rates.hertz.empty()) return std::pair{median_of(rates.hertz), rates.name};
  return std::nullopt;
}

RuleOutcome apply(FindingContext& context) {
  const Rates rates = rates_of_phases(context.profile());
  Loss loss = falling(rates);
  const auto nominal = context.peaks().core_hz;
  const auto effective = effective_hz(context, rates);
  if (!effective) return Missing{"cycles of the cores beside time"};
  if (!nominal && rates.hertz.size() < min_inferences) {
    return Missing{"the nominal clock (--target), or phases of seven inferences"};
  }
  if (nominal && effective->first < (1 - min_loss) * *nominal) {
    loss.evidence.push_back(hertz_evidence("effective_hz", "effective clock of the cores",
                                           effective->first, "show: UNITS, PHASES",
                                           effective->second));
    loss.evidence.push_back(
        hertz_evidence("nominal_hz", "nominal clock", *nominal, context.peaks().source));
    loss.evidence.push_back(share_evidence("share_of_nominal", "effective, of nominal",
                                           effective->first / *nominal, MeasureKind::count,
                                           "derived"));
  }
  if (loss.evidence.empty()) return DoesNotApply{};
  Finding finding;
  const bool falls = loss.share > 0;
  finding.title =
      falls ? fmt::format("The clock falls by {} over the inferences", percent(loss.share))
            : fmt::format("The cores run at {} of their nominal clock",
                          percent(effective->first / *nominal));
  finding.weight = falls ? Weight::medium : Weight::low;
  finding.evidence = std::move(loss.evidence);
  if (context.has_timeline()) {
    // Transfers and waits do not follow the clock of the cores.
    const double lost = falls ? loss.share : 1 - effective->first / *nominal;
    finding.gain = context.gain_of_wall(
        lost * double(context.analysis().coarse().compute_active),
        falls ? "the time in which something computes, at the clock of the beginning"
              : "the time in which something computes, at the nominal clock; nothing where the "
                "power limit allows no more");
  }
  if (!finding.gain) finding.no_gain = "no timeline tells how long the cores compute";
  finding.advice =
      falls ? "Look at power and temperature limits, and at the performance profile that the run "
              "asked for. Compare runs in cycles, not in time, when their clocks differ."
            : "Compare runs in cycles, not in time, when their clocks differ. A higher power limit "
              "of the board, or fewer cores at a time, lets the clock rise; other kernels do not.";
  return finding;
}

}  // namespace throttled_clock

const Rule throttled_clock_rule{
    {"throttled-clock", "an effective clock below nominal, or falling over the inferences",
     "Cycles by time of the units' inferences (effective frequency), or of the phase Graph Execute "
     "in the inferences after the first, against the target's nominal clock; and the medians of "
     "the "
     "first and the last third of these inferences. Gain: the share of the clock that is missing, "
     "of the time in which something computes; an upper bound.",
     "5 % below nominal, or the last third 5 % below the first (from seven inferences on)",
     "the idea is msprof's freq_analysis; the bounds are npuscope's own; nominal clocks: "
     "targets/*.toml",
     "A nominal clock that this board was never meant to have. The governor of Cloud AI 100 lowers "
     "the clock under load of the HMX: there the loss is the price of the power limit."},
    throttled_clock::apply};

}  // namespace npuscope::analysis
