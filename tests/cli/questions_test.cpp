// What all commands that answer questions have in common, as a user runs them.
#include <gmock/gmock.h>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Questions = TraceFolder;

// Some ended with the status of wrong usage.
TEST_F(Questions, AFileThatCannotAnswerIsAnInputOfAnotherKind) {
  write("counter.json", R"([{"ph":"C","pid":1,"ts":1,"name":"memory","args":{"bytes":7}}])");
  for (const char* command : {"ops", "units", "timeline", "path", "graph"}) {
    const Outcome outcome = run_npuscope({command, path("counter.json")});
    EXPECT_EQ(outcome.status, 3) << command;
    EXPECT_EQ(outcome.output, "") << command;
    EXPECT_THAT(outcome.errors, HasSubstr("counter.json: ")) << command;
    EXPECT_THAT(outcome.errors, EndsWith("\n")) << command;
  }
}

}  // namespace
}  // namespace npuscope::cli
