// Tiles of operators in a row, and the pieces that let one begin before the other ends.
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <gtest/gtest.h>

#include <map>

#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"

namespace npuscope::npu::nsp::interleave_test {
namespace {

TaskSpec tile(std::uint32_t node, std::uint32_t index, std::uint32_t tiles) {
  TaskSpec spec;
  spec.node = node;
  spec.tile = index;
  spec.tiles = tiles;
  return spec;
}

TaskSpec task(qaic::ThreadGroup group) {
  TaskSpec spec;
  spec.group = group;
  return spec;
}

TEST(InterleaveTiles, TakesTheOperatorsOfARowInTurn) {
  TaskGraph tasks(1);
  for (std::uint32_t node : {0u, 1u, 2u}) {
    for (std::uint32_t index : {0u, 1u}) {
      const TaskIndex before = node * 2 + index - 2;
      tasks.add(tile(node, index, 2), node == 0 ? TaskNeeds{} : TaskNeeds{{before, true}});
    }
  }
  EXPECT_EQ(interleave_tiles(tasks), (std::vector<TaskIndex>{0, 2, 4, 1, 3, 5}));
}

TEST(InterleaveTiles, EndsTheRowWhereATileNeedsALaterOneOfTheOperatorBefore) {
  TaskGraph tasks(1);
  tasks.add(tile(0, 0, 2), {});
  tasks.add(tile(0, 1, 2), {});
  tasks.add(tile(1, 0, 2), {{1, false}});  // its memory is still in use
  tasks.add(tile(1, 1, 2), {{1, true}});
  EXPECT_EQ(interleave_tiles(tasks), (std::vector<TaskIndex>{0, 1, 2, 3}));
}

TEST(InterleaveTiles, PutsWhatDependsOnATileBehindAllAndTheRestBeforeThem) {
  TaskGraph tasks(1);
  tasks.add(tile(0, 0, 2), {});
  tasks.add(tile(0, 1, 2), {});
  tasks.add(task(qaic::ThreadGroup::dma_issue), {{1, true}});  // 2: stores a tile
  tasks.add(task(qaic::ThreadGroup::hmx), {{2, true}});        // 3: late as well
  tasks.add(task(qaic::ThreadGroup::hmx), {});                 // 4: after 3 on its queue
  tasks.add(task(qaic::ThreadGroup::dma_issue), {});           // 5: a constant for the next
  tasks.add(tile(1, 0, 2), {{0, true}, {5, true}});
  tasks.add(tile(1, 1, 2), {{1, true}});
  EXPECT_EQ(interleave_tiles(tasks), (std::vector<TaskIndex>{5, 0, 6, 1, 7, 2, 3, 4}));
}

TEST(InterleaveTiles, EndsTheRowAtAnotherTaskOnHvx) {
  TaskGraph tasks(1);
  tasks.add(tile(0, 0, 2), {});
  tasks.add(tile(0, 1, 2), {});
  tasks.add(task(qaic::ThreadGroup::hvx), {});
  tasks.add(tile(1, 0, 2), {});
  tasks.add(tile(1, 1, 2), {});
  EXPECT_EQ(interleave_tiles(tasks), (std::vector<TaskIndex>{0, 1, 2, 3, 4}));
}

// By every task's needs, on the tasks of real models.
TEST(InterleaveTiles, KeepsEveryNeedBeforeItsTaskAndEachOperatorsTilesInOrder) {
  for (const char* preset : {"bert-base", "amber-7b"}) {
    const bool decoder = std::string_view(preset) == "amber-7b";
    const Graph graph = generated_model(preset, {4, 128, decoder ? 128 : 0}, 2);
    for (std::uint32_t cores : {1u, 2u, 3u}) {
      const CompileOptions options = options_for(cores);
      const Target target = aic100();
      Lowering lowering(graph, target, options);
      const LoweredNetwork network = lowering.run();
      const auto order = interleave_tiles(network.tasks);
      std::vector<std::size_t> place(order.size(), order.size());
      for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last;  // by queue, node
      for (TaskIndex i = 0; i < order.size(); ++i) {
        ASSERT_LT(place[i], order.size()) << "not in the order";
        for (const TaskNeed& need : network.tasks.needs(i)) ASSERT_LT(place[need.task], place[i]);
        auto& before = last[{network.tasks.queue_of(i), network.tasks.tasks()[i].node}];
        if (network.tasks.runs_in_program_order(i)) {
          ASSERT_LE(before, place[i]);
          before = place[i];
        }
      }
    }
  }
}

TEST(Pieces, AreFoundByTheirBytes) {
  Pieces pieces;
  pieces.core_bytes = {{10}, {20}, {30}};
  const auto part = [&](std::uint64_t begin, std::uint64_t end) {
    const BufferPart found = part_of_bytes(pieces, 0, begin, end);
    return std::pair(found.first, found.last);
  };
  EXPECT_EQ(part(0, 10), std::pair(0u, 1u));
  EXPECT_EQ(part(10, 11), std::pair(1u, 2u));
  EXPECT_EQ(part(9, 31), std::pair(0u, 3u));
  EXPECT_EQ(part(59, 60), std::pair(2u, 3u));
}

TEST(Pieces, KeepTheirBytesWhenNeighboursAreJoined) {
  Pieces pieces;
  pieces.core_bytes = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  EXPECT_EQ(joined(pieces, 2).core_bytes,
            (std::vector<std::vector<std::uint64_t>>{{4, 6}, {12, 14}}));
}

TEST(BufferParts, OverlapAsFractionsDo) {
  const BufferPart all, first{0, 1, 2}, second{1, 2, 2}, third{2, 3, 5};
  EXPECT_TRUE(all.overlaps(first) && all.contains(second));
  EXPECT_FALSE(first.overlaps(second));
  EXPECT_TRUE(third.overlaps(first) && third.overlaps(second));  // 0.4 to 0.6
  EXPECT_FALSE(first.contains(third));
}

}  // namespace
}  // namespace npuscope::npu::nsp::interleave_test
