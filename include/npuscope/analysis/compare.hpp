// What changed between two runs, or two sets of runs, and whether the change is more than noise.
//
//   const RunSamples before(profile_a), after(profile_b);
//   const auto comparer = Comparer::make({&before, 1}, {&after, 1});   // refused: unrelated clocks
//   const Comparison result = comparer->compare({.top = 20});
//   result.metrics[0]      // wall: 64829 -> 66774 cycles, +3.0 %, ChangeVerdict::more
//   result.ops[0]          // MatMul_0: 32707 -> 34600, slower
//
// A sample is one inference. The first inference of a run is cold and set apart where the run has
// more; several runs of a side add up to one set of samples. With two samples a side or more a
// change is one only where the 95 % interval of the difference of the medians does not hold zero
// and the rank test tells the two apart (statistics.hpp); with less, any difference is one, and has
// no noise rule.
//
// Numbers are compared by name. Those of different kinds, or on clocks with no known relation, are
// not: they are listed as refused.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/analysis/samples.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/base/pattern.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::analysis {

enum class MeasuredIn : std::uint8_t { cycles, ticks, seconds, bytes, count };
const char* name_of(MeasuredIn unit);  // "cycles"

enum class ChangeVerdict : std::uint8_t {
  same,
  unclear,  // the medians differ, within the noise
  less,
  more,
};
const char* name_of(ChangeVerdict verdict);

// One number on both sides.
struct Estimate {
  std::vector<double> samples_a, samples_b;
  bool cold_a = false, cold_b = false;  // of cold inferences, for want of others
  double a = 0, b = 0;                  // medians
  Contrast contrast;                    // empty where a side has less than two samples
  std::optional<double> p;              // rank test; as above
  ChangeVerdict verdict = ChangeVerdict::same;

  double delta() const { return b - a; }
  std::optional<double> relative() const;  // none where a is zero and b is not
  bool has_noise_rule() const { return samples_a.size() > 1 && samples_b.size() > 1; }
};

// With medians, intervals, p and verdict filled in.
Estimate estimate_of(std::vector<double> a, std::vector<double> b);

struct MetricChange {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  MeasuredIn unit = MeasuredIn::count;
  Estimate estimate;
};

struct RefusedMetric {
  enum class Why : std::uint8_t { kinds, clocks, whole_runs, only_in_a, only_in_b };
  std::string name;
  Why why = Why::kinds;
};

enum class OpChange : std::uint8_t { slower, faster, added, removed, unclear, same };
const char* name_of(OpChange change);

// Views are of the profiles' strings.
struct OpDifference {
  std::string_view name_a, name_b;  // empty where it is not
  std::string_view kind_a, kind_b;
  std::uint32_t ops_a = 0, ops_b = 0;
  MatchedBy by = MatchedBy::name;
  OpChange change = OpChange::same;
  // Of one that is only on one side: what its surroundings suggest, and about which of the other.
  UnmatchedReason reason = UnmatchedReason::absent;
  std::string_view other;
  Estimate estimate;
};

struct OpComparison {
  std::string column;  // "work", "dominant path"
  MeasureKind kind = MeasureKind::work;
  MeasuredIn unit = MeasuredIn::count;
  bool known = false;  // whether both sides have such a column; else the rows have no numbers
  std::vector<OpDifference> rows;  // what changed before what did not, the largest change first
  std::uint64_t counts[6] = {};    // rows by OpChange, also those that were not kept
  std::uint64_t matched_by[5] = {};
  std::optional<double> matched_share_a, matched_share_b;  // of the column's total
  bool same_structure = false;
  std::uint64_t row_count() const;
};

struct Difference {  // of what the two sides are
  enum class What : std::uint8_t {
    graph,
    device,
    format,
    version,
    instrumentation,
    temperature,
    compile,    // ops do not match one to one
    runs_of_a,  // its runs are not of one compile
    runs_of_b,
    fewer_numbers,  // a side has more numbers than are taken; a: how many more
    fewer_samples,  // ops are judged by a part of the samples, so that it ends
  };
  What what = What::graph;
  std::string a, b;
};

struct Comparison {
  std::vector<MetricChange> metrics;
  std::vector<RefusedMetric> refused;
  OpComparison ops;
  std::vector<Difference> differences;
  std::uint64_t runs[2] = {};
  std::uint64_t samples[2] = {};  // of wall, else of the first metric
  bool cold[2] = {};              // whether these are cold
  std::uint64_t apart[2] = {};    // cold inferences that were set apart
};

struct CompareOptions {
  std::size_t top = 20;        // rows of ops kept
  bool with_unchanged = true;  // else no rows of ops that are the same
};

class Comparer {
 public:
  // The runs must live as long. A usage error when nothing may be compared: no runs, the timelines
  // on clocks with no known relation, or no number in common.
  static Result<Comparer> make(std::span<const RunSamples> a, std::span<const RunSamples> b);
  ~Comparer();
  Comparer(Comparer&&) noexcept;

  Comparison compare(const CompareOptions& options) const;

  // A usage error that says what there is, or why it is refused.
  Result<MetricChange> metric(std::string_view name) const;
  // The sum of a column over the ops whose node, name or kind matches; empty: the column that
  // decides. A usage error when a side has none.
  Result<MetricChange> op_metric(const Pattern& pattern, std::string_view column) const;

 private:
  struct Held;
  explicit Comparer(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

}  // namespace npuscope::analysis
