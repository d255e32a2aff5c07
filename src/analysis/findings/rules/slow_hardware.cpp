// Rules about hardware that works more slowly than it could.
#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

namespace slow_packets {

constexpr double min_excess = 0.4;   // above the other kernels
constexpr double min_share = 0.05;   // active, of the wall
constexpr double min_packets = 100;  // of a kernel whose ratio says something
constexpr double healthy = 2.4;      // cycles of a packet
constexpr std::size_t kernels_named = 3;

struct Kernel {
  double cycles = 0, packets = 0;
  double per_packet() const { return cycles / packets; }
};

std::map<StringId, Kernel> hvx_kernels(const Profile& profile, const MeasureColumn& packets) {
  const Spans& spans = profile.spans;
  std::map<StringId, Kernel> kernels;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (role_of(spans.kind[row]) != Role::work || op >= profile.ops.size() ||
        engine_of(profile, row) != Engine::hvx || packets.values[row] == MeasureColumn::missing ||
        packets.values[row] <= 0) {
      continue;
    }
    Kernel& kernel = kernels[profile.ops[op].kind];
    kernel.cycles += double(spans.duration[row]);
    kernel.packets += double(packets.values[row]);
  }
  std::erase_if(kernels, [](const auto& each) { return each.second.packets < min_packets; });
  return kernels;
}

// Median of the kernels but this one; a healthy kernel where there is no other.
double others_of(const std::map<StringId, Kernel>& kernels, StringId but) {
  std::vector<double> ratios;
  for (const auto& [kind, kernel] : kernels) {
    if (kind != but) ratios.push_back(kernel.per_packet());
  }
  return ratios.empty() ? healthy : std::max(median_of(ratios), healthy);
}

bool is_custom(FindingContext& context, StringId kind) {
  const auto custom = context.ops_of({"custom op"});
  const auto& ops = context.profile().ops;
  for (std::size_t op = 0; op < custom.size() && op < ops.size(); ++op) {
    if (custom[op] && ops[op].kind == kind) return true;
  }
  return false;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const Profile& profile = context.profile();
  const MeasureColumn* packets = profile.spans.measure(NumberRole::packets);
  if (packets == nullptr) return Missing{"instruction packets of kernels"};
  const auto kernels = hvx_kernels(profile, *packets);
  const auto active = context.active_kinds().place_of("active");
  if (!active) return DoesNotApply{};
  Finding finding;
  std::vector<double> factors(profile.ops.size(), 1);
  bool custom = false;
  for (const OpRow& row : context.active_kinds().rows) {
    const auto kernel = kernels.find(row.label);
    if (kernel == kernels.end() || row.values[*active].value_or(0) < min_share * context.wall()) {
      continue;
    }
    const double others = others_of(kernels, row.label), own = kernel->second.per_packet();
    if (own < (1 + min_excess) * others) continue;
    for (std::size_t op = 0; op < profile.ops.size(); ++op) {
      if (profile.ops[op].kind == row.label) factors[op] = others / own;
    }
    const bool first = finding.evidence.empty();
    custom = custom || is_custom(context, row.label);
    if (first) {
      finding.title = fmt::format("{} takes {:.1f} cycles a packet, other vector kernels {:.1f}",
                                  row.name, own, others);
    }
    if (finding.evidence.size() >= 3 * kernels_named) continue;
    const auto number = [&](const char* key, const char* what, double value) {
      finding.evidence.push_back({key,
                                  what,
                                  value,
                                  EvidenceQuantity::number,
                                  MeasureKind::count,
                                  "ops --by kind: cyc/packet",
                                  row.name,
                                  {}});
    };
    number("cycles_per_packet", "cycles a packet", own);
    number("cycles_per_packet_of_others", "other HVX kernels, median, 2.4 or more", others);
    finding.evidence.push_back(share_evidence("active_share_of_wall", "active, of the wall",
                                              *row.values[*active] / context.wall(),
                                              MeasureKind::active, "ops --by kind", row.name));
  }
  if (finding.evidence.empty()) return DoesNotApply{};
  finding.weight = Weight::medium;
  finding.places = places_of_ops(context, factors);
  finding.advice =
      custom
          ? "The kernel is a custom op: look at its inner loop. Packets stall on loads that miss "
            "(prefetch into L2 or VTCM), on a result that the next packet needs (unroll, "
            "interleave independent chains), on unaligned or scattered vector accesses, and on "
            "scalar code between vectors. Compare the disassembly's packets with the count here."
          : "Its packets wait: for data that is not in VTCM or L2, for a result of the packet "
            "before, or for code on a first call (first-calls). Another layout of its input or "
            "another op for the same work may avoid it.";
  return trial_of(std::move(finding), std::move(factors),
                  "their packets take as long as those of other kernels");
}

}  // namespace slow_packets

const Rule slow_packets_rule{"slow-packets", slow_packets::apply};

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

const Rule throttled_clock_rule{"throttled-clock", throttled_clock::apply};

}  // namespace npuscope::analysis
