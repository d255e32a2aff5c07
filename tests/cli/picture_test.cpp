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

TEST_F(Picture, OfTheWaterfallAndOfTheTimeline) {
  write("slower.json", read("trace.json"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"diff", path("trace.json"), path("slower.json")},
        std::vector<std::string>{"memory", path("trace.json")}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--svg", path("none.svg")});
    const Outcome nothing = run_npuscope(arguments);
    EXPECT_EQ(nothing.status, 3) << nothing.errors;
    EXPECT_THAT(nothing.errors, HasSubstr("nothing to draw"));
    EXPECT_FALSE(std::filesystem::exists(path("none.svg")));
  }
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
