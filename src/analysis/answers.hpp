// How Analysis finds its answers: a function for each, where the question is answered.
#pragma once

#include "analysis/ops/op_times.hpp"
#include "analysis/units/busy_together.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

Column<std::int64_t> find_self_times(const Analysis& analysis);
Coarse find_coarse(const Analysis& analysis);
OpTable find_op_table(const Analysis& analysis, const OpOptions& options);
OpTimes find_op_times(const Analysis& analysis);
std::vector<OneCoreOp> find_one_core_ops(const Analysis& analysis, double min_share);
// `by_unit`: from the spans by unit, which are there already; else from the rows where that is less
// work. Both give the same.
std::vector<UnitBusy> find_unit_busy(const Analysis& analysis, bool by_unit);
BusyTogether find_busy_together(const Analysis& analysis);
UnitTable find_units(const Analysis& analysis);
std::vector<UnitGroupRow> find_unit_groups(const Analysis& analysis, UnitGrouping grouping);
Overlap find_overlap(const Analysis& analysis);
Concurrency find_concurrency(const Analysis& analysis);
std::vector<ImbalanceRow> find_imbalance(const Analysis& analysis);
std::vector<SteadyUse> find_steady_use(const Analysis& analysis);
TimelineRows find_timeline(const Analysis& analysis, const TimelineRequest& request);
TimelineCells find_cells(const Analysis& analysis, const TimelineRows& rows,
                         const CellsRequest& request);
MemoryTable find_memory(const Analysis& analysis, const MemoryOptions& options);
Spill find_spill(const Analysis& analysis);
std::vector<TransferSize> find_transfers(const Analysis& analysis);
BandwidthSeries find_bandwidth(const Analysis& analysis, std::size_t buckets);
Diagnosis find_findings(const Analysis& analysis, const DiagnoseOptions& options);

}  // namespace npuscope::analysis
