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

// The warning named it twice.
TEST_F(Questions, AFileThatIsPassedOverIsNamedOnce) {
  write("counter.json", R"([{"ph":"C","pid":1,"ts":1,"name":"memory","args":{"bytes":7}}])");
  write("trace.json", R"([{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"op"}])");
  for (const char* command : {"ops", "units", "timeline"}) {
    const Outcome outcome = run_npuscope({command, path("counter.json"), path("trace.json")});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const auto first = outcome.errors.find(path("counter.json"));
    ASSERT_NE(first, std::string::npos) << command;
    EXPECT_EQ(outcome.errors.rfind(path("counter.json")), first) << outcome.errors;
  }
}

}  // namespace
}  // namespace npuscope::cli
