// --svg of the commands that draw, as a user runs them.
#include <gmock/gmock.h>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::picture_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Picture = TraceFolder;

const std::string data = NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.";

TEST_F(Picture, IsWrittenBesideThePageOrInsteadOfIt) {
  const std::string latency = data + "latency.txt";
  const Outcome both = run_npuscope({"latency", latency, "--svg", path("l.svg")});
  EXPECT_EQ(both.status, 0) << both.errors;
  EXPECT_THAT(both.output, HasSubstr("LATENCY"));
  const Outcome alone = run_npuscope({"latency", latency, "--svg", "-"});
  EXPECT_EQ(alone.status, 0) << alone.errors;
  EXPECT_EQ(alone.output, read("l.svg"));
  EXPECT_THAT(alone.output, StartsWith("<?xml"));
  EXPECT_EQ(run_npuscope({"latency", latency}).output, both.output);
}

// It had status 3 before a gate was judged or a page printed: a job failed because nothing changed.
TEST_F(Picture, OfAComparisonWithoutAChangeSaysSoAndGatesAreJudged) {
  write("same.json", read("trace.json"));
  std::vector<std::string> words{"diff", path("trace.json"), path("same.json")};
  const Outcome page = run_npuscope(words);
  words.insert(words.end(), {"--svg", path("diff.svg")});
  const Outcome drawn = run_npuscope(words);
  EXPECT_EQ(drawn.status, 0) << drawn.errors;
  EXPECT_EQ(drawn.output, page.output);
  EXPECT_THAT(read("diff.svg"), HasSubstr("No op changed between A and B."));
  words.insert(words.end(), {"--require", "wall.max < 1 ns"});
  EXPECT_EQ(run_npuscope(words).status, 1);
}

TEST_F(Picture, OfMemoryWithoutBytesIsRefusedAsThePageIs) {
  const Outcome page = run_npuscope({"memory", path("trace.json")});
  const Outcome drawn = run_npuscope({"memory", path("trace.json"), "--svg", path("none.svg")});
  EXPECT_EQ(drawn.status, 3) << drawn.errors;
  EXPECT_EQ(drawn.errors, page.errors);
  EXPECT_FALSE(std::filesystem::exists(path("none.svg")));
}

TEST_F(Picture, HasTheWidthThatIsAskedFor) {
  const Outcome drawn =
      run_npuscope({"timeline", path("trace.json"), "--svg", "-", "--svg-width", "400"});
  EXPECT_THAT(drawn.output, HasSubstr("width=\"400\""));
}

TEST_F(Picture, IsNeverWrittenOverAnInput) {
  const std::string trace = read("trace.json");
  for (const char* command : {"timeline", "graph"}) {
    const Outcome over = run_npuscope({command, path("trace.json"), "--svg", path("./trace.json")});
    EXPECT_EQ(over.status, 2) << over.errors;
  }
  write("other.json", trace);
  for (const char* side : {"trace.json", "other.json"}) {
    const Outcome over =
        run_npuscope({"diff", path("trace.json"), path("other.json"), "--svg", path(side)});
    EXPECT_EQ(over.status, 2) << over.errors;
  }
  EXPECT_EQ(read("trace.json"), trace);
  EXPECT_EQ(read("other.json"), trace);
}

TEST_F(Picture, WidthAloneSaysThatItNeedsAPicture) {
  const Outcome idle = run_npuscope({"latency", data + "latency.txt", "--svg-width", "400"});
  EXPECT_THAT(idle.errors, HasSubstr("--svg"));
  EXPECT_THAT(idle.output, Not(HasSubstr("<svg")));
}

}  // namespace
}  // namespace npuscope::cli::picture_test
