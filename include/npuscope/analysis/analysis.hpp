// Every question about one profile, and what the answers share: each is worked out when it is first
// asked for, once, whoever asks and from however many threads.
//
//   const Analysis analysis(profile);
//   analysis.coarse().wall                        64829 ticks, first start to last end
//   analysis.units().engines[0].domain            the busiest HMX
//   analysis.ops({.grouping = Grouping::kind})    a row for each kernel
//   analysis.part(filter).units()                 the same of some units, ops or a window
//
// Questions with options are answered anew each time; what they need in common is not. The profile
// that is asked about must not change, and must live as long unless it was moved in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/call.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/graph.hpp"
#include "npuscope/analysis/imbalance.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/numbers.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/overlap.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/analysis/phases.hpp"
#include "npuscope/analysis/spill.hpp"
#include "npuscope/analysis/timeline_cells.hpp"
#include "npuscope/analysis/timeline_rows.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/profile/filter.hpp"

namespace npuscope {
class SelfTimes;
}

namespace npuscope::analysis {

class Inferences;
class IssuesBeside;
class OpSpansInGroups;
struct SpanExtents;
struct BusyTogether;
struct OpTimes;
struct UnitBusy;
struct UnitNumbers;

class Analysis {
 public:
  explicit Analysis(const Profile& profile);
  explicit Analysis(Profile&& profile);
  ~Analysis();
  Analysis(Analysis&&) noexcept;
  Analysis& operator=(Analysis&&) noexcept;

  const Profile& profile() const;
  Analysis part(const Filter& filter) const;

  // Where the time went.
  const Coarse& coarse() const;
  const std::vector<PhaseRow>& phases() const;
  const std::vector<NumberRow>& numbers() const;  // that the profile has of the run
  const std::optional<Call>& call() const;        // none: no file has the host's view and the NPU's

  // Operators.
  OpTable ops(const OpOptions& options = {}) const;
  // Those whose kernel runs on all cores elsewhere, and those that last at least `min_share` of the
  // wall; the longest first.
  std::vector<OneCoreOp> one_core_ops(double min_share = 0.005) const;

  // Hardware.
  const UnitTable& units() const;
  std::vector<UnitGroupRow> unit_groups(UnitGrouping grouping) const;
  const Overlap& overlap() const;
  const Concurrency& concurrency() const;  // of units
  const std::vector<ImbalanceRow>& imbalance() const;
  // What part of each inference's wall the busiest unit of a class worked; empty for one inference.
  std::vector<SteadyUse> steady_use() const;

  // What ran when. Cells are of rows that timeline() made.
  TimelineRows timeline(const TimelineRequest& request = {}) const;
  TimelineCells cells(const TimelineRows& rows, const CellsRequest& request) const;

  // What decided how long it took: of the inference nearest the median, or of another one.
  const Result<PathAnalysis>& path() const;
  Result<PathAnalysis> path(std::uint32_t inference) const;

  // Bytes.
  const OpTraffic& traffic() const;
  MemoryTable memory(const MemoryOptions& options = {}) const;
  const Spill& spill() const;
  const std::vector<TransferSize>& transfers() const;  // sizes that occur, small ones first
  // At most so many buckets (at least 1), fewer when the timeline has not so many ticks. None
  // without spans that carry bytes.
  BandwidthSeries bandwidth(std::size_t buckets) const;

  const OpGraph& graph() const;
  Diagnosis findings(const DiagnoseOptions& options = {}) const;

  // What most answers start from.
  Interval timeline_extent() const;    // timeline_of(profile())
  const SpanExtents& extents() const;  // analysis/inference_times.hpp, for the questions themselves
  // First start to last end of each inference, where spans say of which they are; by its number.
  const std::map<std::uint32_t, Interval>& inference_extents() const;
  const SpansByUnit& spans_by_unit() const;
  // Row i: the duration of span i less what of its kind lies wholly inside it, on its unit: nested
  // slices count once, in the innermost. Each slice is inside one other, the last to begin of those
  // that contain it. What overlaps in part, as rows of several threads drawn as one do by some
  // ticks, keeps its whole duration, so that the sum is never less than the union, and a wait
  // inside work takes nothing from it, but for one of kind `wait`: a host that waits in the midst
  // of an op does not work meanwhile. Asynchronous spans and transfers are whole, frames and
  // instants zero.
  const SelfTimes& self_times() const;      // profile/self_times.hpp
  const OpTimes& op_times() const;          // analysis/ops/op_times.hpp, as the next ones:
  const UnitNumbers& unit_numbers() const;  // for the questions themselves
  const std::vector<UnitBusy>& unit_busy() const;
  const BusyTogether& busy_together() const;
  const Inferences& inferences() const;  // more than 65,536 are not told apart
  const IssuesBeside& issues_beside() const;
  // As large as the profile: there while anyone holds it, not beyond this.
  std::shared_ptr<const OpSpansInGroups> spans_by_op() const;

 private:
  struct Answers;
  std::unique_ptr<Answers> answers_;
};

}  // namespace npuscope::analysis
