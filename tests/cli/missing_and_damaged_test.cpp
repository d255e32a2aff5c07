// A file that was named and cannot be opened, and one that was cut off: every command says so, and
// no status or gate passes over it.
#include <gmock/gmock.h>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "sanitized.hpp"

namespace npuscope::cli::missing_and_damaged_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* begin = R"({"traceEvents":[
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"A"},
{"ph":"X","pid":1,"tid":1,"ts":100,"dur":50,"name":"B"})";

struct MissingAndDamaged : TraceFolder {
  void SetUp() override {
    TraceFolder::SetUp();
    write("whole.json", std::string(begin) + "]}\n");
    write("cut.json", std::string(begin) + ",\n{\"ph\":\"X\",\"pid\":1,\"ti");
  }

  // Each command as it asks about files.
  std::vector<std::vector<std::string>> questions(const std::vector<std::string>& files) const {
    std::vector<std::vector<std::string>> all;
    for (const char* command : {"show", "ops", "units", "timeline", "path", "graph", "diagnose"}) {
      all.push_back({command});
    }
    all.push_back({"query", "--sql", "SELECT count(*) FROM spans"});
    all.push_back({"convert", "--to", "json", "-o", path("out")});
    for (auto& arguments : all) {
      arguments.insert(arguments.begin() + 1, files.begin(), files.end());
    }
    return all;
  }
};

TEST_F(MissingAndDamaged, AFileThatIsNotThereIsStatusThreeBesideThePageOfTheOther) {
  for (auto arguments : questions({path("whole.json"), path("missing.json")})) {
    SCOPED_TRACE(arguments[0]);
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.output, Not(IsEmpty()));
    EXPECT_THAT(outcome.errors, HasSubstr("missing.json: no such file or folder; check the path"));
    arguments.push_back("--keep-going");
    EXPECT_EQ(run_npuscope(arguments).status, 0);
  }
}

TEST_F(MissingAndDamaged, AFileThatIsNotThereCountsOnEitherSideOfADiff) {
  const std::string whole = path("whole.json"), missing = path("missing.json");
  for (const char* side : {"--a", "--b"}) {
    std::vector<std::string> arguments{"diff", "--a", whole, "--b", whole, side, missing};
    EXPECT_EQ(run_npuscope(arguments).status, 3) << side;
    arguments.push_back("--json");
    EXPECT_EQ(run_npuscope(arguments).status, 3) << side;
    arguments.push_back("--keep-going");
    EXPECT_EQ(run_npuscope(arguments).status, 0) << side;
  }
}

TEST_F(MissingAndDamaged, ACutTraceIsToldOnStandardErrorByEveryCommand) {
  for (const auto& arguments : questions({path("cut.json")})) {
    SCOPED_TRACE(arguments[0]);
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.errors,
                HasSubstr("cut.json: damaged: the file ends in the middle; copy it again if it "
                          "should not (byte 130); all figures are of what could be read\n"));
  }
}

TEST_F(MissingAndDamaged, ACutTraceSaysSoBeforeAnythingElseOfThePage) {
  for (const char* command : {"show", "ops", "path", "units"}) {
    const std::string page = run_npuscope({command, path("cut.json")}).output;
    const std::string rest = page.substr(page.find('\n') + 1);
    EXPECT_THAT(rest, StartsWith("  warning")) << command;
    EXPECT_THAT(rest.substr(0, rest.find('\n')), HasSubstr("damaged: the file ends")) << command;
    EXPECT_THAT(run_npuscope({command, path("cut.json"), "--json"}).output,
                HasSubstr("\"partial\": true"))
        << command;
  }
}

TEST_F(MissingAndDamaged, NoGatePassesOnAProfileThatWasCutOff) {
  const std::vector<std::string> gated{"diff",      path("whole.json"), path("cut.json"),
                                       "--fail-if", "wall > +50%",      "--inconclusive=pass"};
  const Outcome outcome = run_npuscope(gated);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("wall > +50%"));
  EXPECT_THAT(outcome.errors,
              HasSubstr("npuscope: no gate is passed on a damaged profile; copy its file again, or "
                        "judge what could be read with --allow-partial\n"));
  auto allowed = gated;
  allowed.push_back("--allow-partial");
  EXPECT_EQ(run_npuscope(allowed).status, 0);
}

TEST_F(MissingAndDamaged, AGateThatFailsIsStatusOneWhateverElseIsWrong) {
  const Outcome outcome =
      run_npuscope({"diff", "--a", path("whole.json"), "--b", path("cut.json"), "--b",
                    path("missing.json"), "--fail-if", "count(spans) > -100%"});
  EXPECT_EQ(outcome.status, 1);
}

TEST_F(MissingAndDamaged, AWrongFlagIsStatusTwoForSeveralProfilesAsForOne) {
  EXPECT_EQ(run_npuscope({"ops", "--sort", "nope", path("whole.json")}).status, 2);
  EXPECT_EQ(run_npuscope({"ops", "--sort", "nope", path("whole.json"), path("cut.json")}).status,
            2);
}

// However small the file, what is made of it could take all of the machine's memory.
TEST_F(MissingAndDamaged, AFileTookAsMuchMemoryAsItWanted) {
  if (test_support::is_sanitized())
    GTEST_SKIP() << "a sanitizer takes more than the limit by itself";
  std::string text = std::string(begin);
  for (int i = 0; i < 400'000; ++i) {
    text += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(150 + i) +
            ",\"dur\":1,\"name\":\"name " + std::to_string(i) + "\"}";
  }
  write("large.json", text + "]}\n");
  const Outcome stopped = run_npuscope({"show", path("large.json"), "--max-memory", "40MiB"});
  EXPECT_THAT(stopped.output, HasSubstr("damaged: reading stopped after"));
  EXPECT_THAT(stopped.errors, HasSubstr("limit is 40 MiB; --max-memory raises it"));
  EXPECT_EQ(run_npuscope({"show", path("large.json"), "--max-memory=4GiB"}).errors, "");
}

}  // namespace
}  // namespace npuscope::cli::missing_and_damaged_test
