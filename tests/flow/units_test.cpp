// Busy and waiting time of every unit against what the simulator knows of every task.
#include "npuscope/analysis/units.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <map>

#include "flow/flow.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::units_test {
namespace {

// A counter at 19.2 MHz after `time`: 19.2e6 / 1e12 = 12 / 625000 ticks a picosecond.
std::int64_t ticks_after(Picoseconds time) {
  return time.value / 625'000 * 12 + time.value % 625'000 * 12 / 625'000;
}

struct Known {
  std::vector<Interval> kernels, syncs;
};

TEST(UnitsAgainstTruth, BusyAndSyncsAreThoseOfTheTasksOfEachThread) {
  npu::nsp::SimulationOptions options;
  options.keep_truth = true;
  options.samples = 1;
  const ModelFlow flow =
      run_flow(repository_model("light_squeezenet.onnx"), request_for(4, 70), options);
  ASSERT_EQ(flow.profiles.size(), 1u);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Known> threads;
  std::int64_t work = 0;
  for (const npu::nsp::TaskTruth& task : flow.simulated.inferences[0].truth) {
    std::uint32_t queue = 0;
    while (flow.program.queue_begin[queue + 1] <= task.task) ++queue;
    Known& known = threads[{queue / qaic::thread_groups, task.thread}];
    known.kernels.push_back({ticks_after(task.start), ticks_after(task.kernel_end)});
    known.syncs.push_back({ticks_after(task.sync_begin), ticks_after(task.start)});
    work += length_of(known.kernels.back());
  }
  const Profile& profile = flow.profiles[0];
  const auto table = analysis::Analysis(profile).units();
  std::size_t compared = 0;
  std::int64_t waited = 0, counted = 0;
  for (const analysis::UnitRow& row : table.units) {
    const Unit& unit = profile.units[index_of(row.unit)];
    if (unit.engine == Engine::dma) continue;  // transfers, beside the thread that issues them
    const Known& known = threads.at({unit.core, unit.lane});
    const IntervalSet busy = union_of(known.kernels);
    EXPECT_EQ(row.busy, length_of(busy)) << unit.core << ", " << unit.lane;
    EXPECT_EQ(row.at_syncs, length_of(difference_of(union_of(known.syncs), busy)));
    EXPECT_EQ(row.waiting, row.at_syncs + row.at_barriers + row.waiting_for_dma);
    EXPECT_LE(row.busy + row.waiting, table.wall);
    waited += row.at_syncs;
    counted += row.work;
    compared += 1;
  }
  EXPECT_EQ(compared, threads.size());
  EXPECT_GT(waited, 0);
  EXPECT_EQ(counted, work);
}

TEST(OpsAgainstTruth, RunsOfEachOpAreOneForEachTaskAndWorkAddsUpOverAnyGrouping) {
  const ModelFlow flow = run_flow(repository_model("light_squeezenet.onnx"), request_for(4, 70));
  const Profile& profile = flow.profiles.at(0);
  using analysis::Grouping;
  const auto table_by = [&](Grouping grouping) {
    analysis::OpOptions options;
    options.grouping = grouping;
    options.top = ~std::size_t{0};
    options.details = true;
    return analysis::Analysis(profile).ops(options);
  };
  const auto names = table_by(Grouping::name);
  std::uint64_t runs = 0;
  for (const auto& row : names.rows) runs += row.runs;
  EXPECT_EQ(runs, flow.program.tasks.size());
  const double work = names.column("work")->total;
  EXPECT_GT(work, 0);
  for (const Grouping grouping : {Grouping::kind, Grouping::node, Grouping::layer, Grouping::core,
                                  Grouping::device, Grouping::unit, Grouping::memory}) {
    EXPECT_EQ(table_by(grouping).column("work")->total, work);
  }
  EXPECT_EQ(table_by(Grouping::core).cores, 4u);
}

}  // namespace
}  // namespace npuscope::units_test
