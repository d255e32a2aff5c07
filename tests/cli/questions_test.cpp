// What all commands that answer questions have in common, as a user runs them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/raw_buffers.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::questions_test {
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

// Each buffer was a page of its own, the cold one first.
TEST_F(Questions, RawBuffersOfOneProgramAreInferencesOfOneProfile) {
  make_raw_buffers(path("bin"), path("stats"), 4);
  const auto pages = [&](const char* command) {
    const Outcome outcome = run_npuscope({command, "--json", path("bin"), path("stats")});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return nlohmann::json::parse(outcome.output)["profiles"];
  };
  for (const char* command : {"show", "ops", "units", "timeline", "path", "memory"}) {
    EXPECT_EQ(pages(command).size(), 1u) << command;
  }
  const auto path_of_all = pages("path")[0]["path"];
  EXPECT_EQ(path_of_all["inferences"], 4);
  const auto one = run_npuscope({"path", "--json", path("bin"), path("stats"), "--inference=2"});
  const auto timeline = pages("timeline")[0];
  EXPECT_THAT(timeline.dump(), HasSubstr("\"inferences\":4"));
  EXPECT_EQ(nlohmann::json::parse(one.output)["profiles"][0]["path"]["inference"], 2);
}

// Some commands took --inference, one --core, and of several buffers show had a page for each.
TEST_F(Questions, ChooseACoreAndAnInferenceAlike) {
  make_raw_buffers(path("bin"), path("stats"), 3);
  for (const char* command : {"show", "ops", "units", "timeline", "memory", "diagnose"}) {
    const Outcome outcome =
        run_npuscope({command, "--json", path("bin"), path("stats"), "--core=1", "--inference=2"});
    EXPECT_EQ(outcome.status, 0) << command << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors, "") << command;
    const auto profiles = nlohmann::json::parse(outcome.output)["profiles"];
    ASSERT_EQ(profiles.size(), 1u) << command;
    EXPECT_THAT(profiles[0].dump(), HasSubstr("core 1, inference 2")) << command;
    if (std::string_view(command) == "memory") {
      // The verdict of one core looked like that of the chip.
      EXPECT_THAT(profiles[0].dump(), HasSubstr("the rest shares the DDR"));
    }
    const Outcome wrong = run_npuscope({command, path("bin"), path("stats"), "--core=7"});
    EXPECT_EQ(wrong.status, 2) << command;
    EXPECT_THAT(wrong.errors, HasSubstr("no such core; the cores are: 0, 1")) << command;
  }
}

}  // namespace
}  // namespace npuscope::cli::questions_test
