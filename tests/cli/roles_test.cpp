// What slices of a generic trace are, in every command: annotations are no work of any.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::roles_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kineto = NPUSCOPE_TEST_DATA "/chrome/kineto.json";

using Roles = TraceFolder;

json show(const std::string& file, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"show", "--json", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_npuscope(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  return json::parse(outcome.output)["profiles"][0];
}

// Ticks by part of the wall.
json parts_of(const json& page) {
  json parts = json::object();
  for (const json& row : page["wall"]["rows"]) parts[row["part"].get<std::string>()] = row["ticks"];
  return parts;
}

TEST_F(Roles, NoCommandCountsAnAnnotationAsWork) {
  for (const char* command : {"ops", "units", "timeline", "path", "memory", "diff"}) {
    std::vector<std::string> arguments{command, kineto};
    if (std::string(command) == "diff") arguments.push_back(kineto);
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << command << outcome.errors;
    EXPECT_THAT(outcome.output, Not(HasSubstr("ProfilerStep"))) << command;
    EXPECT_THAT(outcome.output, Not(HasSubstr("PyTorch Profiler"))) << command;
  }
  const Outcome queried = run_npuscope(
      {"query", "--csv", kineto, "--sql",
       "SELECT kind, role, count(*) FROM spans WHERE op_name LIKE 'P%r%' GROUP BY 1, 2"});
  EXPECT_THAT(queried.output, HasSubstr("annotation,frame,2\ninference,frame,1")) << queried.errors;
}

TEST_F(Roles, ShowHasTheFinding) {
  EXPECT_THAT(run_npuscope({"show", kineto}).output,
              HasSubstr("Host bound: the device is idle for 86.5 % of the wall"));
}

TEST_F(Roles, OutliveBothTraceFormats) {
  const json parts = parts_of(show(kineto));
  for (const char* format : {"chrome", "perfetto"}) {
    const std::string out = path(std::string("again.") + format);
    ASSERT_EQ(run_npuscope({"convert", "--to", format, kineto, "-o", out}).status, 0);
    EXPECT_EQ(parts_of(show(out)), parts) << format;
  }
}

TEST_F(Roles, AUsersTableCountsFirst) {
  write("mine.toml",
        "[[rule]]\ncategory = '^user$'\nrole = 'annotation'\n"
        "[[rule]]\ncategory = '^matrix$'\nrole = 'kernel'\n");
  const json before = parts_of(show(path("trace.json")));
  EXPECT_EQ(before["other_work"], 150'000);
  const json after = parts_of(show(path("trace.json"), {"--roles", path("mine.toml")}));
  EXPECT_FALSE(after.contains("other_work"));
  EXPECT_EQ(after["compute_alone"], 50'000);
}

TEST_F(Roles, ATableThatIsNoneIsWrongUsageAndOneThatIsMissingIsInput) {
  write("mine.toml", "[[rule]]\nname = 'x'\nrole = 'works'\n");
  const Outcome wrong = run_npuscope({"show", kineto, "--roles", path("mine.toml")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("mine.toml:3: 'role' must be one of: kernel, copy"));
  EXPECT_EQ(run_npuscope({"show", "--roles", path("none.toml"), kineto}).status, 3);
}

}  // namespace
}  // namespace npuscope::cli::roles_test
