// Busy and waiting time of every unit against the simulator's own times, over programs of many
// shapes, several cores and inferences, as both emitters write them.
#include <gtest/gtest.h>

#include "flow/generated_run.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::busy_and_wait_test {
namespace {

struct Known {
  std::vector<Interval> work, syncs, barriers, dma_waits;

  std::int64_t busy() const { return length_of(union_of(work)); }
  std::int64_t sum_of_work() const {
    std::int64_t sum = 0;
    for (const Interval& each : work) sum += length_of(each);
    return sum;
  }
  // Each moment once: working, else waiting for DMA, at a semaphore, at a barrier.
  std::int64_t waiting_for_dma() const {
    return length_of(difference_of(union_of(dma_waits), union_of(work)));
  }
  std::int64_t at_syncs() const {
    return length_of(difference_of(union_of(syncs), union_of(union_of(work), union_of(dma_waits))));
  }
  std::int64_t at_barriers() const {
    const IntervalSet before =
        union_of(union_of(work), union_of(union_of(dma_waits), union_of(syncs)));
    return length_of(difference_of(union_of(barriers), before));
  }
};

struct Place {
  std::uint32_t core = 0, lane = 0;
  bool transfers = false;  // the engine's, else the thread's own
  auto operator<=>(const Place&) const = default;
};

// What the statistics buffer of one inference should say.
std::map<Place, Known> known_of(const GeneratedRun& run,
                                const npu::nsp::SimulatedInference& inference) {
  std::map<Place, Known> places;
  for (const npu::nsp::TaskTruth& task : inference.truth) {
    const Interval work{run.ticks(task.start), run.ticks(task.kernel_end)};
    const std::uint32_t core = run.core_of(task.task);
    Known& thread = places[{core, task.thread, false}];
    thread.work.push_back(work);
    thread.syncs.push_back({run.ticks(task.sync_begin), work.begin});
    thread.barriers.push_back({work.end, run.ticks(task.barrier_end)});
    const std::int64_t transferred = run.ticks(task.transfer_end);
    if (transferred <= work.end) continue;
    places[{core, task.thread, true}].work.push_back({work.begin, transferred});
  }
  return places;
}

analysis::UnitTable table_of(const Profile& profile) { return analysis::Analysis(profile).units(); }

void expect_known(const analysis::UnitRow& row, const Known& known) {
  EXPECT_EQ(row.busy, known.busy());
  EXPECT_EQ(row.work, known.sum_of_work());
  EXPECT_EQ(row.waiting_for_dma, known.waiting_for_dma());
  EXPECT_EQ(row.at_syncs, known.at_syncs());
  EXPECT_EQ(row.at_barriers, known.at_barriers());
  EXPECT_EQ(row.waiting, row.waiting_for_dma + row.at_syncs + row.at_barriers);
}

TEST(BusyAndWait, AreTheSimulatorsInStatisticsBuffers) {
  std::int64_t at_syncs = 0, at_barriers = 0, of_engines = 0;
  for (const npu::nsp::Target& target : {npu::nsp::realistic_target(), exact_target()}) {
    for (const Shape shape : all_shapes) {
      for (std::uint32_t cores = 1; cores <= 4; ++cores) {
        const GeneratedRun run = device_run({.seed = cores * 10 + std::uint64_t(shape),
                                             .cores = cores,
                                             .tasks = 60 * cores,
                                             .shape = shape,
                                             .inferences = 2},
                                            target);
        ASSERT_EQ(run.profiles.size(), 2u);
        for (std::size_t i = 0; i < run.profiles.size(); ++i) {
          SCOPED_TRACE(fmt::format("{}, shape {}, {} cores, inference {}", target.name, int(shape),
                                   cores, i));
          const Profile& profile = run.profiles[i];
          auto known = known_of(run, run.simulated.inferences[i]);
          for (const analysis::UnitRow& row : table_of(profile).units) {
            const Unit& unit = profile.units[index_of(row.unit)];
            const bool engine = unit.engine == Engine::dma;
            const std::uint32_t lane =
                engine ? profile.units[index_of(unit.parent)].lane : unit.lane;
            const auto found = known.find({unit.core, lane, engine});
            ASSERT_NE(found, known.end());
            expect_known(row, found->second);
            at_syncs += row.at_syncs;
            at_barriers += row.at_barriers;
            of_engines += engine ? row.busy : 0;
            known.erase(found);
          }
          EXPECT_TRUE(known.empty());
        }
      }
    }
  }
  EXPECT_GT(at_syncs, 0);
  EXPECT_GT(at_barriers, 0);
  EXPECT_GT(of_engines, 0);
}

// By lane, in cycles of the core: 256 is the thread of HMX and DMA, 512 on are those of HVX. Waits
// for semaphores are not in an optrace; those for transfers are, of an HVX op by its first thread.
std::map<std::uint32_t, Known> known_of_lanes(const GeneratedRun& run) {
  std::map<std::uint32_t, Known> lanes;
  for (const npu::nsp::OpTraceRecord& record : run.simulated.inferences.at(0).op_trace) {
    const bool hvx = record.thread < run.program.hvx_threads;
    Known& lane = lanes[hvx ? 512 + record.thread : 256];
    const auto at = [](std::uint64_t cycle) { return std::int64_t(cycle); };
    const qaic::Task& task = run.program.tasks[record.task];
    const bool is_sync = (task.flags & qaic::task_end_stats) != 0;
    const bool is_dma = run.group_of(record.task) == qaic::ThreadGroup::dma_issue && !is_sync;
    // A transfer is marked as under way in the barrier, on the same thread.
    const Interval work{at(record.start_cycle), at(is_dma ? record.leave_cycle : record.end_cycle)};
    (is_sync ? lane.syncs : lane.work).push_back(work);
    const bool waited = record.waited_for != npu::nsp::OpTraceRecord::nothing;
    if (waited && (!hvx || record.thread == 0)) {
      lane.dma_waits.push_back({at(record.wait_cycle), at(record.start_cycle)});
    }
  }
  return lanes;
}

TEST(BusyAndWait, AreTheSimulatorsInOptraces) {
  std::int64_t waited = 0, at_syncs = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(fmt::format("shape {}, seed {}", int(shape), seed));
      const GeneratedRun run = optrace_run({.seed = seed, .tasks = 80, .shape = shape},
                                           *npu::nsp::builtin_target("htp-v75"));
      const Profile& profile = run.profiles.at(0);
      auto known = known_of_lanes(run);
      for (const analysis::UnitRow& row : table_of(profile).units) {
        const auto found = known.find(profile.units[index_of(row.unit)].lane);
        ASSERT_NE(found, known.end());
        EXPECT_EQ(row.busy, found->second.busy());
        EXPECT_EQ(row.work, found->second.sum_of_work());
        EXPECT_EQ(row.waiting_for_dma, found->second.waiting_for_dma());
        EXPECT_EQ(row.at_syncs, found->second.at_syncs());
        waited += row.waiting_for_dma;
        at_syncs += row.at_syncs;
        known.erase(found);
      }
      EXPECT_TRUE(known.empty());
    }
  }
  EXPECT_GT(waited, 0);
  EXPECT_GT(at_syncs, 0);
}

}  // namespace
}  // namespace npuscope::busy_and_wait_test
