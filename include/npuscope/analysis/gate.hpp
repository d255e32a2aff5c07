// Limits that a comparison must keep, for continuous integration.
//
//   Gate gate;                              // report/gate_text.hpp reads "wall > +3%"
//   const auto judged = judge(gate, comparer);
//   judged->outcome                         // Outcome::failed
//
// A gate says when to fail. Where both sides have at least two samples it fails only when the
// median is beyond the limit, the whole 95 % interval is, and the rank test tells b from a as it
// would be just at the limit (statistics.hpp). With less there is no noise rule, and the plain
// number decides.
#pragma once

#include <optional>
#include <string>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

struct Gate {
  enum class Comparator : std::uint8_t { more, at_least, less, at_most };
  enum class Limit : std::uint8_t {
    share,   // of the change, of a: 0.03 is +3 %
    change,  // of b less a
    value,   // of b itself
  };

  std::string text;           // as the user wrote it
  std::string metric;         // name; of ops: the column, empty for the one that decides
  std::optional<Pattern> op;  // the sum over matching ops
  Comparator comparator = Comparator::more;
  Limit limit = Limit::share;
  double threshold = 0;            // seconds, bytes, cycles, or as the metric counts
  std::optional<MeasuredIn> unit;  // of a change or value, where the user named one
};

enum class GateOutcome : std::uint8_t {
  passed,
  failed,
  within_noise,  // the median is beyond the limit, the noise rule does not hold: passed
};
const char* name_of(GateOutcome outcome);

struct GateResult {
  MetricChange metric;
  GateOutcome outcome = GateOutcome::passed;
  double measured = 0;  // what was compared with the threshold; infinite for a change from zero
  std::optional<Range> interval;  // of it
  std::optional<double> p;        // against the threshold
  bool has_noise_rule = false;
};

// A usage error for a number that is not there, is refused, or is not in the unit of the limit.
Result<GateResult> judge(const Gate& gate, const Comparer& comparer);

}  // namespace npuscope::analysis
