#include "npu/targets/ipu/target.hpp"

#include <gmock/gmock.h>

#include "ipu_fixture.hpp"

namespace npuscope::npu::ipu::target_test {
namespace {

std::string with_change(const std::string& from, const std::string& to) {
  std::string toml = muffin().toml;
  const std::size_t at = toml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return toml.replace(at, from.size(), to);
}

std::string error_of(const std::string& toml) {
  const auto target = parse_target(toml, "t.toml");
  return target ? "" : target.error().message;
}

TEST(Target, HasTheFiguresOfTheFile) {
  EXPECT_EQ(muffin().name, "ipu-muffin");
  EXPECT_EQ(muffin().cores, 2u);
  EXPECT_EQ(muffin().clock_hz, 900e6);
  EXPECT_EQ(muffin().passes_of("SOFTMAX"), 12);
  EXPECT_EQ(muffin().passes_of("an operator that it does not name"), 2);
  EXPECT_DOUBLE_EQ(muffin().ddr_bytes_per_s, 14.9e9 * 0.7);
}

TEST(Target, AbsurdFiguresAreRefusedWithTheirLine) {
  EXPECT_THAT(error_of(with_change("count = 2 ", "count = 3 ")),
              testing::MatchesRegex("t.toml:[0-9]+: cores.count must be between 1 and 2"));
  EXPECT_THAT(error_of(with_change("hz = 900e6", "hz = 0")),
              testing::HasSubstr("clock.hz must be"));
  EXPECT_THAT(error_of(with_change("hz = 900e6", "hz = nan")),
              testing::HasSubstr("clock.hz must be"));
  EXPECT_THAT(error_of(with_change("memory_bytes = 1048576", "memory_bytes = -1")),
              testing::HasSubstr("cores.memory_bytes must be"));
  EXPECT_THAT(error_of(with_change("SOFTMAX = 12", "SOFTMAX = 1e9")),
              testing::HasSubstr("vector.passes.SOFTMAX must be"));
  EXPECT_THAT(error_of(with_change("default = 2", "other = 2")),
              testing::HasSubstr("vector.passes.default is missing"));
  EXPECT_THAT(error_of(with_change("version = \"S3", "version = \"X3")),
              testing::HasSubstr("a text like S3.1.2"));
  EXPECT_THAT(error_of(with_change("architecture = \"ipu\"", "architecture = \"nsp\"")),
              testing::HasSubstr("this needs a target whose architecture is ipu"));
}

TEST(Target, EveryFieldIsNeeded) {
  const std::string toml = muffin().toml;
  std::size_t fields = 0;
  for (std::size_t at = 0; at < toml.size();) {
    const std::size_t end = toml.find('\n', at);
    const std::string line = toml.substr(at, end - at);
    const bool is_pass = line.find(" = ") != line.npos && std::isupper((unsigned char)line[0]);
    const bool is_field = line.find(" = ") != line.npos && line[0] != '#' && !is_pass &&
                          !line.starts_with("LayerNorm");
    if (is_field) {
      ++fields;
      std::string without = toml;
      without.erase(at, end - at);
      EXPECT_NE(error_of(without), "") << line;
    }
    at = end + 1;
  }
  EXPECT_GE(fields, 25u);
}

TEST(BuiltInTargets, HaveNoFieldThatNobodyReads) {
  for (const char* name : {"ipu-muffin"}) {
    const auto file =
        find_target_file(fmt::format("{}/targets/{}.toml", NPUSCOPE_SOURCE_DIR, name));
    ASSERT_TRUE(file) << file.error().message;
    const auto target = read_target(*file);
    EXPECT_TRUE(target) << target.error().message;
  }
}

}  // namespace
}  // namespace npuscope::npu::ipu::target_test
