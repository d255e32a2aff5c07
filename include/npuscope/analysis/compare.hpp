// What changed between two runs, or two sets of runs, and whether the change is more than noise.
//
//   const RunSamples before(profile_a), after(profile_b);
//   const auto comparer = Comparer::make({&before, 1}, {&after, 1});   // refused: unrelated clocks
//   const Comparison result = comparer->compare({.top = 20});
//   result.metrics[0]      // wall: 64829 -> 66774 cycles, +3.0 %, ChangeVerdict::more
//   result.ops.rows[0]     // MatMul_0: 32707 -> 34600, slower
//
// A sample is one inference. The first inference of a run is cold and set apart where the run has
// more; several runs of a side add up to one set of samples. With two samples a side or more a
// change is one only where the 95 % interval of the difference of the medians does not hold zero
// and the rank test tells the two apart (statistics.hpp); with less, any difference is one, and has
// no noise rule.
//
// Numbers are compared by name. Those of different kinds, or on clocks with no known relation, are
// not: they are listed as refused. What a run is judged by comes first: latency, device_latency and
// throughput of warm inferences, wherever the format has them (samples.hpp).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/samples.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/base/pattern.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::analysis {

enum class MeasuredIn : std::uint8_t { cycles, ticks, seconds, bytes, count, share };
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
  double percent = 50;                  // which percentile a and b are: the median
  double a = 0, b = 0;
  Contrast contrast;        // empty where a side has less than two samples
  std::optional<double> p;  // rank test; as above
  ChangeVerdict verdict = ChangeVerdict::same;

  double delta() const { return b - a; }
  std::optional<double> relative() const;  // none where a is zero and b is not
  bool has_noise_rule() const { return samples_a.size() > 1 && samples_b.size() > 1; }
  // Whether so many samples could ever tell that the median is on one side of a limit with 95 %
  // certainty: 3 and 3 that do not mix can.
  bool has_enough_samples() const;
};

// With medians, intervals, p and verdict filled in.
Estimate estimate_of(std::vector<double> a, std::vector<double> b);
// The same of another percentile: no rank test, which is about the middle.
Estimate estimate_of_percentile(std::vector<double> a, std::vector<double> b, double percent);

struct MetricChange {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  MeasuredIn unit = MeasuredIn::count;
  Estimate estimate;
  std::string source = {};  // of what a run is judged by: the number of the files that it is
  bool repeats = false;     // no measurement: a single sample of it is enough
  Meaning meaning = {};     // of a number of the profiles
};

struct RefusedMetric {
  enum class Why : std::uint8_t { kinds, clocks, whole_runs, only_in_a, only_in_b, sources };
  std::string name;
  Why why = Why::kinds;
};

enum class OpChange : std::uint8_t { slower, faster, added, removed, unclear, same };
const char* name_of(OpChange change);

// Of the change in each of several layers.
struct LayerDeltas {
  double min = 0, max = 0;
};

// A row: by default a node of the model, its parts and the same nodes of repeated layers together.
struct OpDifference {
  std::string name_a, name_b;  // empty where it is not
  std::string kind_a, kind_b;  // "4 kinds" of several
  std::uint32_t ops_a = 0, ops_b = 0;
  std::uint32_t layers = 1;                          // repeated ones, whose like nodes these are
  std::uint32_t parts = 1;                           // rows by Grouping::part
  std::uint32_t parts_only_a = 0, parts_only_b = 0;  // of these without a match
  std::optional<LayerDeltas> layer_deltas;
  MatchedBy by = MatchedBy::name;  // the least certain of its parts
  OpChange change = OpChange::same;
  // Of one that is only on one side: what its surroundings suggest, and about which of the other.
  UnmatchedReason reason = UnmatchedReason::absent;
  std::string other;
  Estimate estimate;
};

struct OpComparison {
  Grouping grouping = Grouping::op;  // what a row is of
  std::uint64_t parts = 0;           // rows that it would have by Grouping::part
  std::string column;                // "work", "dominant path"
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
    origin,  // of times: one side is a compiler's, or of a simulator
    instrumentation,
    temperature,
    clock,      // of the cores, as the files tell it
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
  // What the runs are judged by: latency, what of it is spent on the way, device_latency,
  // throughput, p95. Only what both sides have; empty where all of it is the wall.
  std::vector<MetricChange> call;
  std::vector<MetricChange> metrics;
  std::vector<RefusedMetric> refused;
  OpComparison ops;
  std::vector<Difference> differences;
  std::uint64_t runs[2] = {};
  std::uint64_t samples[2] = {};  // of wall, else of the first metric
  bool cold[2] = {};              // whether these are cold
  std::uint64_t apart[2] = {};    // cold inferences that were set apart

  // The one that decides whether B is faster: the first of call, else wall; null: neither is there.
  const MetricChange* headline() const;
};

struct CompareOptions {
  std::size_t top = 20;            // rows of ops kept
  bool with_unchanged = true;      // else no rows of ops that are the same
  bool regressions_first = false;  // what is slower or added before what is faster or removed
  // What a row of ops is of: op, part, node, layer, kind or rule.
  Grouping grouping = Grouping::op;
  const Rules* rules = nullptr;  // of Grouping::rule; null: the built-in ones that fit the graph
};

class Comparer {
 public:
  // The runs must live as long. A usage error when nothing may be compared: no runs, the timelines
  // on clocks with no known relation, or no number in common.
  // `beside`: what the sides have of the same runs in other formats, asked for what a run is judged
  // by where the runs do not have it (a latency file beside raw buffers).
  static Result<Comparer> make(std::span<const RunSamples> a, std::span<const RunSamples> b,
                               std::span<const RunSamples> beside_a = {},
                               std::span<const RunSamples> beside_b = {});
  // B alone, with nothing to be compared with: for limits of B itself. A usage error where it has
  // no number at all.
  static Result<Comparer> alone(std::span<const RunSamples> b,
                                std::span<const RunSamples> beside_b = {});
  ~Comparer();
  Comparer(Comparer&&) noexcept;

  bool is_alone() const;
  // Of B alone its numbers, without ops and differences.
  Comparison compare(const CompareOptions& options) const;

  // A number by its name, whatever its case; what a run is judged by (latency, device_latency,
  // throughput, p50 to p99); share(DMA), a part of the wall; or findings(high), findings(medium),
  // findings(low), findings, findings('rule'): how many there are of the run nearest to the median.
  // A usage error that names the nearest, or why it is refused.
  Result<MetricChange> metric(std::string_view name) const;
  // The sum of a column over the ops whose node, name or kind matches; empty: the column that
  // decides, of these ops. A usage error when a side has none; `text`, the pattern as it was
  // written, finds the nearest names for it.
  Result<MetricChange> op_metric(const Pattern& pattern, std::string_view column,
                                 std::string_view text = {}) const;

 private:
  struct Held;
  explicit Comparer(std::unique_ptr<Held> held);
  std::unique_ptr<Held> held_;
};

}  // namespace npuscope::analysis
