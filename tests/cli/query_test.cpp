// npuscope query as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::query_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Query : public TraceFolder {
 protected:
  Outcome ask(const std::string& sql, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"query", path("trace.json"), "--sql", sql};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_npuscope(arguments);
  }
};

TEST_F(Query, PrintsATable) {
  const Outcome outcome = ask("SELECT op, work, spans FROM op_times ORDER BY work DESC");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, R"(op        work  spans
step    100000      2
matmul   50000      1
)");
}

// SQLite asks for no time within a function: this search alone would take hours.
TEST_F(Query, AFunctionThatTakesForeverEndsSoonAfterTheTimeout) {
  const Outcome outcome =
      ask("SELECT instr(replace(hex(zeroblob(30000000)), '00', 'a'), "
          "replace(hex(zeroblob(1000000)), '00', 'a') || 'b')",
          {"--timeout", "100ms"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "npuscope: SQL: stopped after 0.1 s; ask for less, or allow more with --timeout\n");
}

TEST_F(Query, PrintsCsvAndJson) {
  EXPECT_EQ(ask("SELECT op, work FROM op_times ORDER BY op", {"--csv"}).output,
            "op,work\nmatmul,50000\nstep,100000\n");
  EXPECT_EQ(
      nlohmann::json::parse(ask("SELECT op, work FROM op_times ORDER BY op", {"--json"}).output)
          .at("rows"),
      nlohmann::json::parse(R"([{"op":"matmul","work":50000},{"op":"step","work":100000}])"));
}

TEST_F(Query, TakesSqlFromAFileOrStandardInput) {
  write("question.sql", "-- how many\nSELECT count(*) AS spans FROM spans;\n");
  const Outcome from_file =
      run_npuscope({"query", path("trace.json"), "-f", path("question.sql"), "--csv"});
  EXPECT_EQ(from_file.output, "spans\n3\n") << from_file.errors;
  const Outcome from_input = run_npuscope({"query", path("trace.json"), "--sql", "-", "--csv"},
                                          "< '" + path("question.sql") + "'");
  EXPECT_EQ(from_input.output, "spans\n3\n") << from_input.errors;
}

TEST_F(Query, NamesSeveralProfiles) {
  write("other.json", R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"step"}])");
  const std::string sql =
      "SELECT (SELECT count(*) FROM spans) AS plain, (SELECT count(*) FROM old.spans) AS old, "
      "(SELECT count(*) FROM new.spans) AS new";
  const Outcome named = run_npuscope(
      {"query", "old=" + path("trace.json"), "new=" + path("other.json"), "--sql", sql});
  EXPECT_EQ(named.status, 0) << named.errors;
  EXPECT_EQ(named.output, "old: " + path("trace.json") + "\nnew: " + path("other.json") +
                              "\n\nplain  old  new\n    3    3    1\n");
  const Outcome as = run_npuscope(
      {"query", path("trace.json"), path("other.json"), "--as", "old,new", "--csv", "--sql", sql});
  EXPECT_EQ(as.output, "plain,old,new\n3,3,1\n") << as.errors;
  const Outcome lettered = run_npuscope({"query", path("trace.json"), path("other.json"), "--csv",
                                         "--sql", "SELECT count(*) FROM b.spans"});
  EXPECT_EQ(lettered.output, "count(*)\n1\n") << lettered.errors;
  const Outcome many = run_npuscope({"query", path("trace.json"), "--as", "a,b", "--sql", sql});
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.errors, HasSubstr("only 1 profiles to name"));
}

TEST_F(Query, AsksAPart) {
  EXPECT_EQ(ask("SELECT op_name, duration FROM spans", {"--csv", "--op", "step", "--until", "20us"})
                .output,
            "op_name,duration\nstep,20000\n");
}

TEST_F(Query, RowsAreLimited) {
  const std::string many =
      "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 1500)"
      " SELECT x FROM r";
  const Outcome text = ask(many);
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(std::count(text.output.begin(), text.output.end(), '\n'), 1001);
  EXPECT_EQ(text.errors,
            "npuscope: these are the first 1000 rows, there are more; --max-rows sets how many\n");
  const Outcome all = ask(many, {"--csv"});
  EXPECT_EQ(std::count(all.output.begin(), all.output.end(), '\n'), 1501);
  EXPECT_EQ(all.errors, "");
  const Outcome few = ask(many, {"--json", "--max-rows", "2"});
  const auto json = nlohmann::json::parse(few.output);
  EXPECT_EQ(json.at("rows"), nlohmann::json::parse(R"([{"x": 1}, {"x": 2}])"));
  EXPECT_EQ(json.at("has_more"), true);
  EXPECT_THAT(few.errors, HasSubstr("the first 2 rows"));
}

TEST_F(Query, BadRequestsGetOneSentence) {
  const auto expect_usage = [](const Outcome& outcome, const char* sentence) {
    EXPECT_EQ(outcome.status, 2) << sentence;
    EXPECT_THAT(outcome.errors, AllOf(StartsWith("npuscope: "), HasSubstr(sentence)));
    EXPECT_EQ(outcome.output, "");
  };
  expect_usage(ask("DELETE FROM spans"), "a query changes nothing");
  expect_usage(ask("SELECT nme FROM ops"), "no such column: nme; ops has id, name");
  expect_usage(ask("SELECT 1", {"-f", "x.sql"}), "excludes");
  expect_usage(ask("SELECT 1", {"--timeout", "soon"}), "no time like");
  expect_usage(ask("SELECT 1", {"--timeout", "-1s"}), "no time like");
  expect_usage(
      ask("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT sum(x) FROM r",
          {"--timeout", "100ms"}),
      "stopped after 0.1 s");
  expect_usage(run_npuscope({"query", path("trace.json")}), "give one query");
  expect_usage(run_npuscope({"query", "--sql", "SELECT 1"}), "name the files");
  expect_usage(run_npuscope({"query", "main=" + path("trace.json"), "--sql", "SELECT 1"}),
               "cannot be called 'main'");
  EXPECT_EQ(run_npuscope({"query", path("trace.json"), "-f", path("none.sql")}).status, 3);
  EXPECT_EQ(run_npuscope({"query", path("none.json"), "--sql", "SELECT 1"}).status, 3);
}

TEST_F(Query, AStoppedQueryLeavesJsonUnended) {
  const Outcome outcome =
      ask("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
          {"--json", "--timeout", "100ms"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output.substr(0, 2'000), HasSubstr("\"rows\": [\n{\"x\": 1}"));
  EXPECT_FALSE(nlohmann::json::accept(outcome.output));
}

TEST_F(Query, ListsWhatCanBeAsked) {
  const Outcome text = run_npuscope({"query", "--schema"});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.output, HasSubstr("op_times (view): what each op costs"));
  const auto json = nlohmann::json::parse(run_npuscope({"query", "--schema", "--json"}).output);
  EXPECT_EQ(json["tables"][0]["name"], "spans");
}

}  // namespace
}  // namespace npuscope::cli::query_test
