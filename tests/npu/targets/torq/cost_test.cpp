#include "npu/targets/torq/execute.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::cost_test {
namespace {

using testing::ElementsAre;

// Bytes and cycles of the transfers in the timeline of the vendor's phase dump.
TEST(DmaCycles, AreThoseOfTheVendorsTimeline) {
  EXPECT_DOUBLE_EQ(sl2610().dma_rate(Direction::in), 8 * 0.65 * 16 / 17.5);
  for (const auto& [bytes, cycles] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {364, 77}, {2, 1}, {8, 2}, {4, 1}, {188, 40}, {264, 56}, {0, 0}}) {
    EXPECT_EQ(dma_cycles(bytes, sl2610(), Direction::in), cycles) << bytes;
  }
  EXPECT_EQ(dma_cycles(4, sl2610(), Direction::out), 1u);
}

TEST(DmaCycles, FollowTheLengthOfBursts) {
  const auto with = [](std::string_view line, std::string_view other) {
    return *parse_target(changed_toml(line, other), "t.toml");
  };
  // 1 beat of 2.5: 5.2 * 0.4 = 2.08 bytes a cycle.
  EXPECT_EQ(dma_cycles(2080, with("mtu_in = 4", "mtu_in = 0"), Direction::in), 1000u);
  EXPECT_EQ(dma_cycles(2080, with("mtu_in = 4", "mtu_in = 0"), Direction::out), 438u);
  EXPECT_EQ(dma_cycles(800, with("factor = 0.65", "factor = 1.0"), Direction::in), 110u);
}

TEST(CdmaCycles, AreAtLeastOne) {
  EXPECT_EQ(cdma_cycles(0, sl2610()), 1u);
  EXPECT_EQ(cdma_cycles(5, sl2610()), 1u);
  EXPECT_EQ(cdma_cycles(6, sl2610()), 2u);  // 16 * 0.36 = 5.76 a cycle
  EXPECT_EQ(cdma_cycles(4096, sl2610()), 712u);
}

// The addition of the vendor's phase dump.
ProgramMaker addition() {
  ProgramMaker make;
  for (const std::uint64_t bytes : {364, 2, 8, 4, 4, 188, 264}) {
    make.transfer(Unit::dma_in, bytes);
  }
  const std::uint32_t add = make.kernel(2, 2);
  make.task({ProgramMaker::run(Unit::slice, add)});
  make.task({ProgramMaker::wait(Unit::slice)});
  make.transfer(Unit::dma_out, 4);
  return make;
}

TEST(Estimate, WalksTheAdditionAsTheVendorDoes) {
  const Program program = addition().program;
  ASSERT_TRUE(check_program(program, 2, "addition"));
  const Estimate estimate = estimate_times(program, sl2610());
  std::vector<std::int64_t> ends;
  for (const Interval& task : estimate.tasks) ends.push_back(task.end);
  EXPECT_THAT(ends, ElementsAre(77, 78, 80, 81, 82, 122, 178, 179, 180, 181));
  EXPECT_EQ(estimate.steps[14], (Interval{178, 180}));  // the slice
  EXPECT_EQ(estimate.programs, std::vector<Interval>({{0, 181}}));
  EXPECT_THAT(estimate.dispatches, ElementsAre(181));
}

TEST(Estimate, LetsUnitsRunBesideEachOther) {
  ProgramMaker make;
  const std::uint32_t slow = make.kernel(1000, 1000), quick = make.kernel(10, 10);
  const std::uint32_t css = make.kernel(7, 7, true);
  make.task({ProgramMaker::run(Unit::slice, slow, 0)});   // 0 to 1000
  make.task({ProgramMaker::run(Unit::slice, quick, 1)});  // 1 to 11
  make.task({ProgramMaker::start(Unit::dma_out, 4755)});  // 2 to 1003
  make.transfer(Unit::dma_in, 47);                        // 2 to 12
  make.task({ProgramMaker::wait(Unit::slice, 1)});        // over
  make.task({ProgramMaker::wait(Unit::slice, 0)});        // 1000
  make.task({ProgramMaker::wait(Unit::dma_out)});         // 1003
  make.task({ProgramMaker::run(Unit::css, css)});         // 8000, whatever it does
  make.task({ProgramMaker::wait(Unit::css)});
  make.transfer(Unit::cdma_dtcm_to_lram, 57);  // 10
  ASSERT_TRUE(check_program(make.program, 2, "made"));
  const Estimate estimate = estimate_times(make.program, sl2610());
  std::vector<std::int64_t> ends;
  for (const Interval& task : estimate.tasks) ends.push_back(task.end);
  EXPECT_THAT(ends, ElementsAre(1, 2, 2, 12, 12, 1000, 1003, 1004, 9003, 9013));
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Timeline, OfTheAdditionIsTheVendorsByteForByte) {
  Compilation compilation;
  compilation.program = addition().program;
  compilation.estimate = estimate_times(compilation.program, sl2610());
  compilation.operations.resize(1);
  compilation.action_operations = {0, 0};
  compilation.kernel_operations = {0};
  compilation.task_operations.resize(10);
  compilation.places = {{}, {2, 1, 0, 10, 18, 1}};
  const auto path = std::filesystem::path(testing::TempDir()) / "npuscope-torq-timeline.csv";
  ASSERT_TRUE(npuscope::torq::write_timeline(timeline_of(compilation), path));
  const std::string written = contents(path);
  std::filesystem::remove(path);
  EXPECT_EQ(written,
            "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n"
            "0,77,0,DMA In,loc(unknown),364\n1,1,77,DMA In,loc(unknown),2\n"
            "2,2,78,DMA In,loc(unknown),8\n3,1,80,DMA In,loc(unknown),4\n"
            "4,1,81,DMA In,loc(unknown),4\n5,40,82,DMA In,loc(unknown),188\n"
            "6,56,122,DMA In,loc(unknown),264\n9,1,180,DMA Out,loc(unknown),4\n"
            "7,2,178,Slice 0,loc(unknown),\n");
  const std::string sample = NPUSCOPE_SHARED_DIR "/data/torq/timeline_v3_taskId.csv";
  if (!std::filesystem::exists(sample)) GTEST_SKIP();
  EXPECT_EQ(written, contents(sample));
}

}  // namespace
}  // namespace npuscope::npu::torq::cost_test
