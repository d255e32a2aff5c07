// npuscope explain and npuscope record-help.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::reference_pages_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ReferencePages, ExplainPrintsTheEntryOfATermOfSeveralWords) {
  const Outcome outcome = run_npuscope({"explain", "dominant", "path"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("dominant path, QHAS\n  Each moment of the timeline"));
  EXPECT_EQ(run_npuscope({"explain", "Dominant paths"}).output, outcome.output);
}

TEST(ReferencePages, ATermThatIsNearlyThereIsNamed) {
  const Outcome outcome = run_npuscope({"explain", "doman"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(
      outcome.errors,
      "npuscope: unknown name 'doman' (did you mean 'domain'?); npuscope explain lists all\n");
  EXPECT_EQ(
      run_npuscope({"record-help", "qnnn"}).errors,
      "npuscope: unknown name 'qnnn' (did you mean 'qnn'?); npuscope record-help lists all\n");
  EXPECT_THAT(run_npuscope({"record-help", "abacus"}).errors,
              StartsWith("npuscope: unknown name 'abacus'; "));
}

TEST(ReferencePages, WithoutANameAllAreListed) {
  EXPECT_THAT(run_npuscope({"explain"}).output, HasSubstr("wall, active, work, busy"));
  EXPECT_THAT(run_npuscope({"record-help"}).output, HasSubstr("  torq             Torq, "));
}

TEST(ReferencePages, JsonHasTheSameAsTheText) {
  const auto json = nlohmann::json::parse(run_npuscope({"record-help", "torq", "--json"}).output);
  const std::string commands = json["entry"]["commands"][0];
  EXPECT_THAT(run_npuscope({"record-help", "torq"}).output,
              HasSubstr("    " + commands.substr(0, commands.find('\n'))));
  const auto terms = nlohmann::json::parse(run_npuscope({"explain", "--json"}).output);
  EXPECT_GT(terms["entries"]["rows"].size(), 70u);
}

}  // namespace
}  // namespace npuscope::cli::reference_pages_test
