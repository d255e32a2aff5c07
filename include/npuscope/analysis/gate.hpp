// Limits that a comparison, or a run alone, must keep, for continuous integration.
//
//   Gate gate;                              // report/gate_text.hpp reads "wall > +3%"
//   const auto judged = judge(gate, comparer);
//   judged->outcome                         // GateOutcome::failed
//
// A gate says when to fail, or as a requirement when to pass. It is decided where the 95 % interval
// of what it measures lies wholly on one side of the limit: within it the gate passed; beyond it,
// and the rank test tells b from a as it would be just at the limit (statistics.hpp), it failed.
// Anything else is inconclusive, and so are fewer samples than could ever tell: 3 a side for a
// change of the median, 5 of b for a limit of b itself, 59 for the 95th percentile. What repeats
// exactly (bytes, counts of ops, a compiler's estimates, findings) needs one sample, and so do the
// min and max of the samples themselves. A limit of b itself is not decided by cold inferences
// only.
//
// How many more samples are needed: the interval shrinks as one by the square root of their number,
// and lies clear of the limit four times in five when the limit is 2.8 standard errors away (1.96
// for the interval, 0.84 for its own spread). So n samples become n (2.8 / 1.96 * half width /
// distance)^2, if change and spread stay as measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

struct Gate {
  enum class Comparator : std::uint8_t { more, at_least, less, at_most };
  enum class Limit : std::uint8_t {
    share,   // of the change, of a: 0.03 is +3 %
    change,  // of b less a
    value,   // of b itself
  };

  enum class Statistic : std::uint8_t { usual, percentile, min, max };

  std::string text;             // as the user wrote it
  bool is_requirement = false;  // the text says when to pass, all else here when to fail
  std::string name = {};        // what the user calls it; empty: as the text
  std::string reason = {};      // why it is there
  std::string metric;           // name; of ops: the column, empty for the one that decides
  std::optional<Pattern> op;    // the sum over matching ops
  std::string op_text;          // the pattern as the user wrote it
  Statistic statistic = Statistic::usual;  // of the samples: the median, or as the metric has it
  double percent = 50;                     // of a percentile
  Comparator comparator = Comparator::more;
  Limit limit = Limit::share;
  double threshold = 0;            // seconds, bytes, cycles, or as the metric counts
  std::optional<MeasuredIn> unit;  // of a change or value, where the user named one
};

enum class GateOutcome : std::uint8_t { passed, failed, inconclusive };
const char* name_of(GateOutcome outcome);

enum class GateDoubt : std::uint8_t {  // why it is inconclusive
  none,
  too_few,       // samples, whatever they say
  within_noise,  // the limit lies within the interval, or the rank test does not tell
  temperature,   // one side is of cold inferences, the other of warm ones
  cold,          // the limit is of B itself, and all of its inferences are cold
};
const char* name_of(GateDoubt doubt);

struct GateResult {
  MetricChange metric;
  GateOutcome outcome = GateOutcome::passed;
  GateDoubt doubt = GateDoubt::none;
  double measured = 0;  // what was compared with the threshold; infinite for a change from zero
  std::optional<Range> interval;  // of it
  std::optional<double> p;        // against the threshold
  bool has_noise_rule = false;
  // Samples of a and b that are still missing; none where nothing is, or where the measured value
  // is so near to the limit that more than max_samples would not do.
  std::optional<std::uint64_t> more_a, more_b;
  std::vector<std::string> warm_instead;  // numbers that have warm samples, where this one has none
};
inline constexpr std::uint64_t max_samples = 10'000;

// A usage error for a number that is not there, is refused, is not in the unit of the limit, or has
// nothing that it could have changed from.
Result<GateResult> judge(const Gate& gate, const Comparer& comparer);
// Of a number that is known, in the unit of the limit.
GateResult judge(const Gate& gate, MetricChange metric);

}  // namespace npuscope::analysis
