// The page's table of kinds against the vendor's summary of the same inference.
#include <gmock/gmock.h>

#include <map>

#include "flow/flow.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "report/show/show.hpp"

namespace npuscope::report::show_against_summary_test {
namespace {

struct SummaryOfKind {
  std::uint64_t count = 0;
  std::uint64_t ucycles = 0;
  std::uint64_t threads = 0;  // of the largest group that runs it
};

std::map<std::string, SummaryOfKind> by_kind(const qaic::OpstatsSummary& summary) {
  std::map<std::string, SummaryOfKind> kinds;
  for (const auto& core : summary.cores) {
    for (const auto& row : core.rows) {
      if (row.type != qaic::OpstatsRow::Type::op) continue;
      SummaryOfKind& kind = kinds[row.kind];
      kind.count += row.count;
      kind.ucycles += row.ucycles;
      const auto threads = std::count_if(core.threads.begin(), core.threads.end(),
                                         [&](const auto& each) { return each.group == row.group; });
      kind.threads = std::max(kind.threads, std::uint64_t(threads));
    }
  }
  return kinds;
}

// Cloud AI 100 runs transfers beside the thread that issues them, and one op on all HVX threads.
TEST(ShowAgainstSummary, RunsAreItsCountsAndWorkItsTimeWhereOneThreadRunsAnOp) {
  const auto flow = run_flow(repository_model("light_squeezenet.onnx"), request_for(4, 70));
  ASSERT_FALSE(flow.profiles.empty());
  const Profile& profile = flow.profiles.front();
  const auto expected = by_kind(qaic::summarise(profile));
  const analysis::Analysis analysis(profile);
  const analysis::OpTable table = analysis.ops({analysis::Grouping::kind, 1'000});
  ASSERT_EQ(table.rows.size(), expected.size());
  const std::size_t work = *table.place_of("work");
  std::size_t compared[2] = {};  // on one thread, on several
  for (const auto& row : table.rows) {
    const std::string kind(profile.text(row.label));
    const SummaryOfKind& summary = expected.at(kind);
    EXPECT_EQ(row.runs, summary.count) << kind;
    if (summary.threads == 1) {
      EXPECT_EQ(*row.values[work], double(summary.ucycles)) << kind;
    } else {
      EXPECT_GE(*row.values[work], double(summary.ucycles)) << kind;
      EXPECT_LE(*row.values[work], double(summary.ucycles * summary.threads)) << kind;
    }
    compared[summary.threads > 1] += 1;
  }
  EXPECT_GE(compared[0], 3u);  // convolutions, transfers from DDR, between cores
  EXPECT_GE(compared[1], 3u);
  EXPECT_EQ(table.columns[work].total + table.column("issue")->total,
            double(analysis.coarse().work));
}

}  // namespace
}  // namespace npuscope::report::show_against_summary_test
