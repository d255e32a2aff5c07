#include "report/compare/gate_text.hpp"

#include <gmock/gmock.h>

#include <random>

namespace npuscope::report::gate_file_test {
namespace {

using analysis::Gate;
using ::testing::HasSubstr;

constexpr const char* file = R"(# what a release must keep
inconclusive = "warn"

[[gate]]
name = "budget"
require = "latency.p95 < 33 ms"
reason = "30 frames a second"

[[gate]]
fail_if = "ddr_read_bytes > 20 MB"  # of one inference
inconclusive = "fail"
)";

std::string error_of(const std::string& text) {
  const auto read = read_gate_file(text, "gates.toml");
  return read ? "" : read.error().message;
}

TEST(GateFile, HasGatesWithNamesReasonsAndPolicies) {
  const GateFile read = *read_gate_file(file, "gates.toml");
  ASSERT_EQ(read.gates.size(), 2u);
  const Gate& budget = read.gates[0].gate;
  EXPECT_EQ(budget.name, "budget");
  EXPECT_EQ(budget.reason, "30 frames a second");
  EXPECT_EQ(budget.text, "latency.p95 < 33 ms");
  EXPECT_TRUE(budget.is_requirement);
  EXPECT_EQ(budget.comparator, Gate::Comparator::at_least);  // fails at 33 ms and above
  EXPECT_EQ(budget.percent, 95);
  EXPECT_DOUBLE_EQ(budget.threshold, 0.033);
  EXPECT_FALSE(read.gates[0].inconclusive);
  EXPECT_EQ(read.gates[1].inconclusive, Inconclusive::fail);
  EXPECT_EQ(read.gates[1].gate.threshold, 20e6);
  EXPECT_EQ(read.inconclusive, Inconclusive::warn);
}

TEST(GateFile, ThatIsWrongSaysWhichLine) {
  EXPECT_THAT(error_of(""), HasSubstr("gates.toml: [[gate]] is missing"));
  EXPECT_THAT(error_of("[[gate]]\nname = 'x'\n"),
              HasSubstr("gates.toml:1: a gate has either fail_if or require, this one has none"));
  EXPECT_THAT(error_of("[[gate]]\nfail_if = 'wall > 3ms'\nrequire = 'wall < 3ms'\n"),
              HasSubstr("not both"));
  EXPECT_THAT(error_of("[[gate]]\nrequire = 'wall < 3ms'\nresaon = 'x'\n"),
              HasSubstr("gates.toml:3: 'resaon' is unknown (did you mean 'reason'?)"));
  EXPECT_THAT(error_of("[[gates]]\nrequire = 'wall < 3ms'\n"),
              HasSubstr("gates.toml:1: 'gates' is unknown (did you mean 'gate'?)"));
  EXPECT_THAT(error_of("[[gate]]\n\nrequire = 'wall <'\n"),
              HasSubstr("gates.toml:3: require 'wall <': it has no number to compare with"));
  EXPECT_THAT(error_of("[[gate]]\nrequire = 3\n"), HasSubstr("'require' must be a text in quotes"));
  EXPECT_THAT(error_of("inconclusive = 'no'\n"), HasSubstr("must be one of: fail, warn, pass"));
  EXPECT_THAT(error_of("gate = 3\n"), HasSubstr("begin each with [[gate]]"));
  EXPECT_THAT(error_of("gate = [3]\n"), HasSubstr("'gate' must be tables"));
  EXPECT_THAT(error_of("[[gate]\n"), HasSubstr("gates.toml:1: "));
}

TEST(GateFile, FlippedBytesGiveGatesOrAnError) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000; ++i) {
    std::string broken = file;
    for (int flips = 0; flips < 3; ++flips) broken[random() % broken.size()] = char(random());
    const auto read = read_gate_file(broken, "gates.toml");
    EXPECT_TRUE(read || !read.error().message.empty());
  }
}

}  // namespace
}  // namespace npuscope::report::gate_file_test
