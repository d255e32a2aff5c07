#include "npu/targets/torq/target.hpp"

#include <gmock/gmock.h>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::target_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string message_of(const std::string& toml) {
  const auto target = parse_target(toml, "t.toml");
  EXPECT_FALSE(target);
  return target ? "" : target.error().message;
}

TEST(Sl2610, IsWhatTheVendorsCompilerSays) {
  EXPECT_EQ(sl2610().name, "torq-sl2610");
  EXPECT_EQ(sl2610().lram_bytes, 512u << 10);
  EXPECT_EQ(sl2610().slices.count, 2u);
  EXPECT_EQ(sl2610().slices.alu_width, 256u);
  EXPECT_EQ(sl2610().css.estimated_cycles, 8000u);
  EXPECT_EQ(sl2610().clock_hz, 800e6);
  EXPECT_DOUBLE_EQ(sl2610().cdma_rate(), 5.76);
  EXPECT_EQ(sl2610().css_cycles_per_element("unheard of"), 4.0);
  EXPECT_EQ(sl2610().elements_a_cycle("fma", 1), 16.0);
  EXPECT_EQ(sl2610().elements_a_cycle("fma", 2), 8.0);
  EXPECT_EQ(sl2610().elements_a_cycle("fma", 4), 4.0);
  EXPECT_EQ(sl2610().code_bytes("conv2d"), 376u);
}

TEST(ParseTorqTarget, RefusesValuesThatMakeNoSense) {
  EXPECT_THAT(message_of(changed_toml("count = 2 ", "count = 3 ")),
              EndsWith("slices.count must be between 1 and 2"));
  EXPECT_THAT(message_of(changed_toml("clock_hz = 800e6", "clock_hz = 0")),
              HasSubstr("npu.clock_hz must be between"));
  EXPECT_THAT(message_of(changed_toml("bytes = 524288", "bytes = 20000")),
              HasSubstr("lram.bytes must be between"));
  EXPECT_THAT(message_of(changed_toml("reserved_bytes = 1280", "reserved_bytes = 524288")),
              HasSubstr("at least 16 KiB less than lram.bytes"));
  EXPECT_THAT(message_of(changed_toml("group_width = 64", "group_width = 60")),
              HasSubstr("a divisor of alu_width"));
  EXPECT_THAT(message_of(changed_toml("factor = 0.65", "factor = nan")), HasSubstr("dma.factor"));
  EXPECT_THAT(message_of(changed_toml("bytes_per_cycle = 8.0", "bytes_per_cycle = 0.01")),
              HasSubstr("dma.factor must be larger"));
  EXPECT_THAT(message_of(changed_toml("default = 4.0", "other = 4.0")),
              HasSubstr("a table with an entry `default`"));
  EXPECT_THAT(message_of(changed_toml("reduce_max = 1", "reduce_max = 'x'")),
              HasSubstr("slices.elements_a_cycle.reduce_max must be a number"));
  EXPECT_THAT(message_of(changed_toml("start_s = 3e-6", "start_s = -1")),
              HasSubstr("host.start_s must be between"));
}

// A program keeps the target that it was compiled for, and runs with later versions.
TEST(ParseTorqTarget, LacksWhatProgramsOfBeforeDidNotHave) {
  const std::string line = "normalization_code_bytes = 5888 ";
  const auto target = parse_target(changed_toml(line, "# "), "old.torq");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->css.normalization_code_bytes, target->css.softmax_code_bytes);
}

// Whatever line is missing, the answer is a sentence about it.
TEST(ParseTorqTarget, NamesWhateverIsMissing) {
  const std::string& whole = sl2610().toml;
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at = whole.find('\n', at) + 1) {
    std::string text = whole;
    text.erase(at, text.find('\n', at) + 1 - at);
    const auto target = parse_target(text, "t.toml");
    const bool is_field = whole.substr(at, whole.find('\n', at) - at).find(" = ") != whole.npos;
    if (!target) {
      ++refused;
      EXPECT_TRUE(target.error().message.find("t.toml") == 0) << target.error().message;
    }
    EXPECT_TRUE(target || is_field || whole[at] == '[') << target.error().message;
  }
  EXPECT_GT(refused, 50);
  EXPECT_FALSE(parse_target("architecture = \"torq\"\n", "t.toml"));
}

TEST(ParseTorqTarget, RefusesAnotherArchitecture) {
  const auto target = read_target(*find_target_file("aic100"));
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().kind, ErrorKind::usage);
  EXPECT_EQ(target.error().message,
            "targets/aic100.toml: it describes a Cloud AI 100 or Hexagon NPU; this needs a "
            "Synaptics Torq NPU: torq-sl2610, torq-sr200, or the path of such a .toml file");
}

TEST(BuiltInTargets, HaveNoFieldThatNobodyReads) {
  for (const char* name : {"torq-sl2610", "torq-sr200"}) {
    const auto file =
        find_target_file(fmt::format("{}/targets/{}.toml", NPUSCOPE_SOURCE_DIR, name));
    ASSERT_TRUE(file) << file.error().message;
    const auto target = read_target(*file);
    EXPECT_TRUE(target) << target.error().message;
  }
}

}  // namespace
}  // namespace npuscope::npu::torq::target_test
