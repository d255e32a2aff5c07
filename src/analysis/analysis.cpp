#include "npuscope/analysis/analysis.hpp"

#include "analysis/answers.hpp"
#include "analysis/inference_times.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/ops/op_times.hpp"
#include "analysis/units/unit_busy.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "npuscope/analysis/samples.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis {

namespace {

// Of those that have a wall.
std::map<std::uint32_t, Interval> walls_by_number(const SpanExtents& extents) {
  std::map<std::uint32_t, Interval> walls;
  for (const InferenceExtent& inference : extents.inferences) {
    if (!inference.runs || inference.number == every_instance) continue;
    walls.emplace_hint(walls.end(), inference.number, inference.wall);
  }
  return walls;
}

}  // namespace

struct Analysis::Answers {
  std::optional<Profile> own;  // where it was moved in
  const Profile* profile = nullptr;
  Lazy<SpansByUnit> spans_by_unit;
  Lazy<SelfTimes> self_times;
  Lazy<SpanExtents> extents;
  Lazy<std::map<std::uint32_t, Interval>> inference_extents;
  Lazy<std::vector<UnitBusy>> unit_busy;
  Lazy<BusyTogether> busy_together;
  Lazy<Inferences> inferences;
  Lazy<IssuesBeside> issues_beside;
  LazyWhileHeld<OpSpansInGroups> spans_by_op;
  Lazy<Coarse> coarse;
  Lazy<std::vector<PhaseRow>> phases;
  Lazy<std::vector<NumberRow>> numbers;
  Lazy<std::optional<Call>> call;
  Lazy<OpTimes> op_times;
  Lazy<UnitTable> units;
  Lazy<UnitNumbers> unit_numbers;
  Lazy<Overlap> overlap;
  Lazy<Concurrency> concurrency;
  Lazy<std::vector<ImbalanceRow>> imbalance;
  Lazy<Result<PathAnalysis>> path;
  Lazy<OpTraffic> traffic;
  Lazy<Spill> spill;
  Lazy<std::vector<TransferSize>> transfers;
  Lazy<OpGraph> graph;
};

Analysis::Analysis(const Profile& profile) : answers_(std::make_unique<Answers>()) {
  answers_->profile = &profile;
}

Analysis::Analysis(Profile&& profile) : answers_(std::make_unique<Answers>()) {
  answers_->profile = &answers_->own.emplace(std::move(profile));
}

Analysis::~Analysis() = default;
Analysis::Analysis(Analysis&&) noexcept = default;
Analysis& Analysis::operator=(Analysis&&) noexcept = default;

const Profile& Analysis::profile() const { return *answers_->profile; }

Analysis Analysis::part(const Filter& filter) const {
  return Analysis(filtered(profile(), filter));
}

const SpanExtents& Analysis::extents() const {
  return answers_->extents.get([&] { return extents_of(profile()); });
}

Interval Analysis::timeline_extent() const { return extents().timeline; }

const std::map<std::uint32_t, Interval>& Analysis::inference_extents() const {
  return answers_->inference_extents.get([&] { return walls_by_number(extents()); });
}

const SpansByUnit& Analysis::spans_by_unit() const {
  return answers_->spans_by_unit.get([&] { return SpansByUnit(profile()); });
}

const SelfTimes& Analysis::self_times() const {
  return answers_->self_times.get([&] { return find_self_times(*this); });
}

const std::vector<UnitBusy>& Analysis::unit_busy() const {
  return answers_->unit_busy.get(
      [&] { return find_unit_busy(*this, answers_->spans_by_unit.is_known()); });
}

const BusyTogether& Analysis::busy_together() const {
  return answers_->busy_together.get([&] { return find_busy_together(*this); });
}

const Inferences& Analysis::inferences() const {
  return answers_->inferences.get(
      [&] { return Inferences(*this, every_instance, max_inferences); });
}

const IssuesBeside& Analysis::issues_beside() const {
  return answers_->issues_beside.get([&] { return IssuesBeside(profile(), self_times()); });
}

std::shared_ptr<const OpSpansInGroups> Analysis::spans_by_op() const {
  return answers_->spans_by_op.get([&] { return OpSpansInGroups(*this); });
}

const Coarse& Analysis::coarse() const {
  return answers_->coarse.get([&] { return find_coarse(*this); });
}

const std::vector<PhaseRow>& Analysis::phases() const {
  return answers_->phases.get([&] { return analyse_phases(profile()); });
}

const std::vector<NumberRow>& Analysis::numbers() const {
  return answers_->numbers.get([&] { return analyse_numbers(profile()); });
}

const std::optional<Call>& Analysis::call() const {
  return answers_->call.get([&] { return analyse_call(profile()); });
}

OpTable Analysis::ops(const OpOptions& options) const { return find_op_table(*this, options); }

const OpTimes& Analysis::op_times() const {
  return answers_->op_times.get([&] { return find_op_times(*this); });
}

std::vector<OneCoreOp> Analysis::one_core_ops(double min_share) const {
  return find_one_core_ops(*this, min_share);
}

const UnitTable& Analysis::units() const {
  return answers_->units.get([&] { return find_units(*this); });
}

std::vector<UnitGroupRow> Analysis::unit_groups(UnitGrouping grouping) const {
  return find_unit_groups(*this, grouping);
}

const UnitNumbers& Analysis::unit_numbers() const {
  return answers_->unit_numbers.get([&] { return analyse_unit_numbers(profile()); });
}

const Overlap& Analysis::overlap() const {
  return answers_->overlap.get([&] { return find_overlap(*this); });
}

const Concurrency& Analysis::concurrency() const {
  return answers_->concurrency.get([&] { return find_concurrency(*this); });
}

const std::vector<ImbalanceRow>& Analysis::imbalance() const {
  return answers_->imbalance.get([&] { return find_imbalance(*this); });
}

std::vector<SteadyUse> Analysis::steady_use() const { return find_steady_use(*this); }

TimelineRows Analysis::timeline(const TimelineRequest& request) const {
  return find_timeline(*this, request);
}

TimelineCells Analysis::cells(const TimelineRows& rows, const CellsRequest& request) const {
  return find_cells(*this, rows, request);
}

const Result<PathAnalysis>& Analysis::path() const {
  return answers_->path.get([&] {
    PathBasics known{{}, &extents()};
    if (answers_->spans_by_unit.is_known()) {  // else the path keeps less of them
      known.all_spans = [&] {                  // kept as long as the path
        return std::shared_ptr<const SpansByUnit>(std::shared_ptr<void>(), &spans_by_unit());
      };
    }
    return PathAnalysis::create(profile(), std::nullopt, known);
  });
}

Result<PathAnalysis> Analysis::path(std::uint32_t inference) const {
  return PathAnalysis::create(profile(), inference, {{}, &extents()});
}

const OpTraffic& Analysis::traffic() const {
  return answers_->traffic.get([&] { return OpTraffic(profile()); });
}

MemoryTable Analysis::memory(const MemoryOptions& options) const {
  return find_memory(*this, options);
}

const Spill& Analysis::spill() const {
  return answers_->spill.get([&] { return find_spill(*this); });
}

const std::vector<TransferSize>& Analysis::transfers() const {
  return answers_->transfers.get([&] { return find_transfers(*this); });
}

BandwidthSeries Analysis::bandwidth(std::size_t buckets) const {
  return find_bandwidth(*this, buckets);
}

const OpGraph& Analysis::graph() const {
  return answers_->graph.get([&] { return op_graph(profile()); });
}

Diagnosis Analysis::findings(const DiagnoseOptions& options) const {
  return find_findings(*this, options);
}

}  // namespace npuscope::analysis
