// AI Hub hands out a trace alone, with its summary (QHAS) or with the viewer's text: what the path,
// what-if and the dominant path say must not depend on which of them is at hand.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "analysis/path/path_groups.hpp"
#include "flow/flow.hpp"
#include "flow/generated_run.hpp"
#include "npuscope/analysis/path.hpp"
#include "sanitized.hpp"

namespace npuscope::subsets_test {
namespace {

using analysis::CriticalPath;
using analysis::PathAnalysis;

const std::vector<std::vector<std::string>> subsets{
    {".json"},
    {".json", "_qnn_htp_analysis_summary.json"},
    {".json", "_profile.txt"},
    {".json", "_qnn_htp_analysis_summary.json", "_profile.txt"}};

std::string name_of(const Profile& profile, std::uint32_t row) {
  if (row >= profile.spans.size()) return "none";
  const std::size_t op = index_of(profile.spans.op[row]);
  return fmt::format("{} at {}", op < profile.ops.size() ? profile.text(profile.ops[op].name) : "-",
                     profile.spans.start[row]);
}

std::map<std::string, std::int64_t> shares_of(const Profile& profile, const CriticalPath& path) {
  std::map<std::string, std::int64_t> shares;
  for (const analysis::PathStep& step : path.steps) {
    shares[name_of(profile, step.row)] += step.duration;
  }
  return shares;
}

double wall_without(const Profile& profile, const PathAnalysis& analysis, StringId name) {
  analysis::Scaling scaling;
  scaling.of_op.assign(profile.ops.size() + 1, 1);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    if (profile.ops[i].name == name) scaling.of_op[i] = 0.5;
  }
  return analysis.wall_if(scaling);
}

StringId same_name(const Profile& profile, std::string_view name) {
  for (const Op& op : profile.ops) {
    if (profile.text(op.name) == name) return op.name;
  }
  return StringId::empty;
}

void expect_the_same(const Profile& alone, const Profile& with, std::uint64_t seed) {
  const auto analysis = PathAnalysis::create(alone, std::nullopt);
  const auto other = PathAnalysis::create(with, std::nullopt);
  must(analysis);
  must(other);
  const CriticalPath path = analysis->observed(), other_path = other->observed();
  EXPECT_EQ(path.wall, other_path.wall);
  EXPECT_EQ(path.work, other_path.work);
  EXPECT_EQ(path.gaps, other_path.gaps);
  EXPECT_EQ(shares_of(alone, path), shares_of(with, other_path));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 6; ++round) {
    const StringId name = alone.ops[random() % alone.ops.size()].name;
    const StringId there = same_name(with, alone.text(name));
    ASSERT_NE(there, StringId::empty) << alone.text(name);
    EXPECT_EQ(wall_without(alone, *analysis, name), wall_without(with, *other, there))
        << alone.text(name);
  }
  const auto vendor = analysis::vendor_path(alone, path.steps);
  const auto other_vendor = analysis::vendor_path(with, other_path.steps);
  must(vendor);
  must(other_vendor);
  EXPECT_EQ(vendor->wall, other_vendor->wall);
  EXPECT_EQ(vendor->owned, other_vendor->owned);
  EXPECT_EQ(vendor->differing, other_vendor->differing);
  ASSERT_EQ(vendor->segments.size(), other_vendor->segments.size());
  for (std::size_t i = 0; i < vendor->segments.size(); ++i) {
    const auto &a = vendor->segments[i], &b = other_vendor->segments[i];
    EXPECT_EQ(name_of(alone, a.row), name_of(with, b.row));
    EXPECT_EQ(std::tuple(a.start, a.duration, a.critical),
              std::tuple(b.start, b.duration, b.critical));
  }
}

TEST(SubsetsOfAnOptrace, SayTheSameOfPathAndGainsAsTheTraceAlone) {
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= test_support::rounds(6); ++seed) {
      const GeneratedRun run = optrace_run({.seed = seed, .tasks = 100, .shape = shape},
                                           *npu::nsp::builtin_target("htp-v75"));
      const std::vector<Profile> profiles = read_subsets(run, subsets);
      ASSERT_GT(profiles[0].spans.size(), 50u);
      for (std::size_t i = 1; i < profiles.size(); ++i) {
        SCOPED_TRACE(fmt::format("shape {} seed {} subset {}", int(shape), seed, i));
        expect_the_same(profiles[0], profiles[i], seed);
        // That the other files were there: the summary gives a rate, the text calls of the host.
        EXPECT_NE(profiles[i].provenance.files.size(), profiles[0].provenance.files.size());
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::subsets_test
