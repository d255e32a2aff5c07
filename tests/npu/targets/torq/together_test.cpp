// Layers that do not fit LRAM, cut by rows together. Steps and cycles are those of torq-compiler
// 2.3.0.
#include <gmock/gmock.h>

#include <algorithm>

#include "npu/targets/torq/program_steps.hpp"

namespace npuscope::npu::torq::together_test {
namespace {

using testing::IsSupersetOf;

// Convolutions one after the other with so many channels each, as many rows as columns.
Compilation layers(int rows, int columns, int window, const std::vector<int>& channels) {
  std::string body, x = "x";
  for (std::size_t i = 1; i < channels.size(); ++i) {
    const bool is_last = i + 1 == channels.size();
    body += fmt::format(
        "ws{0} = Constant <value_ints = [{1},{2},{3},{3}]> ()\nw{0} = ConstantOfShape (ws{0})\n"
        "bs{0} = Constant <value_ints = [{1}]> ()\nb{0} = ConstantOfShape (bs{0})\n"
        "c{0} = Conv <kernel_shape = [{3},{3}], pads = [{4},{4},{4},{4}]> ({5}, w{0}, b{0})\n"
        "{6} = Relu (c{0})\n",
        i, channels[i], channels[i - 1], window, window / 2, x,
        is_last ? "y" : fmt::format("x{}", i));
    x = fmt::format("x{}", i);
  }
  const auto shape = [&](int width) {
    return fmt::format("float[1,{},{},{}]", width, rows, columns);
  };
  return compiled(body, shape(channels.front()), shape(channels.back()));
}

Compilation layers(int extent, int window, const std::vector<int>& channels) {
  return layers(extent, extent, window, channels);
}

std::size_t count_of(const std::vector<std::string>& steps, const std::string& step) {
  return std::size_t(std::ranges::count(steps, step));
}

// Each slice has a copy of data that are larger than the weights: 230,400 bytes twice do not fit.
TEST(Together, OneLayerWhoseDataDoNotFitTwiceIsCut) {
  const Compilation one = layers(60, 3, {32, 32});
  EXPECT_EQ(cycles_of(one), 412'122);
  EXPECT_THAT(steps_of(one.program), IsSupersetOf({"in 119040", "0: conv2d_0 67968"}));
}

// 30 rows of the second need 31 of the first, which need 32 of the data.
TEST(Together, ATileOfRowsGoesThroughAllLayers) {
  const std::vector<std::string> steps = steps_of(layers(60, 3, {32, 32, 16}).program);
  EXPECT_EQ(count_of(steps, "in 122880"), 2u);   // 32 rows of the data, for each tile
  EXPECT_EQ(count_of(steps, "out 59520"), 4u);   // 31 rows of each slice's channels
  EXPECT_EQ(count_of(steps, "in 119040"), 2u);   // for the second layer
  EXPECT_EQ(count_of(steps, "out 230400"), 0u);  // never all of what is between
}

// The rows that each layer needs around a tile are computed again for the next: the compiler does
// so too, 34,181,566 cycles, four times those of layers cut apart.
TEST(Together, SixLayersAreComputedSeveralTimesOver) {
  EXPECT_EQ(cycles_of(layers(80, 3, std::vector<int>(7, 64))), 37'062'340);
}

TEST(Together, AHundredTallLayersHadNoRoomInTheProgram) {
  const Compilation tall = layers(20'000, 64, 3, std::vector<int>(101, 16));
  EXPECT_LT(tall.program.tasks.size(), max_tasks / 4);
}

TEST(Together, ResultsWithoutAWindowStayForTheNextLayer) {
  const Compilation pair = layers(60, 1, {32, 64, 32});
  EXPECT_EQ(cycles_of(pair), 159'197);
  const std::vector<std::string> steps = steps_of(pair.program);
  EXPECT_EQ(count_of(steps, "in 76800"), 3u);
  EXPECT_EQ(count_of(steps, "out 38400"), 6u);
}

TEST(Together, ATileHasAllChannelsWhereThatTakesFewerTiles) {
  const std::vector<std::string> steps = steps_of(layers(100, 3, {8, 24, 24}).program);
  EXPECT_THAT(steps, testing::Not(testing::Contains("in 864")));  // half of the last one's weights
}

TEST(Together, ALayerThatOthersReadIsMadeAlone) {
  const Compilation both = compiled(
      "ws = Constant <value_ints = [32,32,3,3]> ()\nw = ConstantOfShape (ws)\n"
      "a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)\n"
      "b = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (a, w)\ny = Add (a, b)\n",
      "float[1,32,60,60]", "float[1,32,60,60]");
  EXPECT_EQ(count_of(steps_of(both.program), "in 122880"), 0u);
}

// No operation states more LRAM than there is.
TEST(Together, TilesOfWholeChannelsFitLram) {
  const auto most_of = [](const Compilation& compilation) {
    std::uint64_t most = 0;
    for (const CompiledOperation& each : compilation.operations)
      most = std::max(most, each.lram_bytes);
    return most;
  };
  EXPECT_LE(most_of(compiled("y = Add (x, x)\n", "float[1,64,112,112]", "float[1,64,112,112]")),
            sl2610().lram_for_data());
  EXPECT_LE(most_of(compiled("ws = Constant <value_ints = [1,64,1,1]> ()\n"
                             "w = ConstantOfShape (ws)\ny = Add (x, w)\n",
                             "float[1,64,56,56]", "float[1,64,56,56]")),
            sl2610().lram_for_data());
}

}  // namespace
}  // namespace npuscope::npu::torq::together_test
