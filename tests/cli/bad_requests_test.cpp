// What makes no sense gets one clear sentence, status 2 and no output, in every command alike; and
// a profile that makes no sense is no reason to fail.
#include <gmock/gmock.h>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "sanitized.hpp"

namespace npuscope::cli::bad_requests_test {
namespace {

using testing::HasSubstr;

// Two ops of which each, by its inputs, needs the other first.
constexpr const char* cyclic = R"json({"header":{"header_version":{"major":1,"minor":0,"patch":0},
"version":{"major":1,"minor":1,"patch":0},"artifact_type":"OP_TRACE"},
"traceEvents": [
{ "name": "q::ConvLayer", "ph": "X", "tid": 256, "pid": 0, "ts": 0, "dur": 100, "args": { "ID": "0x0000100000000012","HTP Op Type": "q::ConvLayer","Data Type": "Float16","Rank": 4,"Inputs Ops": ["0x0000100100000016"],"Flags": ["uses_hmx"],"QNN Op Type": "Conv2d","QNN Op Name": "Conv_0","Start Cycle": 9000,"Duration (cycles)" : 100,
                     "Dominant Path Cycles" : 100
}
},
{ "name": "q::Softmax", "ph": "X", "tid": 512, "pid": 0, "ts": 120, "dur": 80, "args": { "ID": "0x0000100100000016","HTP Op Type": "q::Softmax","Data Type": "Float16","Rank": 4,"Inputs Ops": ["0x0000100000000012"],"Flags": ["uses_hvx"],"QNN Op Type": "Softmax","QNN Op Name": "Softmax_1","Start Cycle": 9120,"Duration (cycles)": 80,"Dominant Path Cycles": 80} },
{ "cat": "__metadata", "pid": 0, "tid": 256, "ph": "M", "name": "thread_name", "args": {"name": "Type: HMX"}},
{ "cat": "__metadata", "pid": 0, "tid": 512, "ph": "M", "name": "thread_name", "args": {"name": "Type: HVX"}},
{ "cat": "__metadata", "pid": 0, "ph": "M", "name": "process_name", "args": {"name": "Core 0 Overview"}}
]
})json";

struct Request {
  std::vector<std::string> arguments;  // behind the command and the file
  std::string sentence;
};

constexpr const char* no_pattern =
    ": not a regular expression without back references and look-around; check its brackets and "
    "escapes";
constexpr const char* time_advice = "write it like 12.5ms, 300us, 1000cyc or 20ticks";

const std::vector<Request>& of_every_command() {
  static const std::vector<Request> requests{
      {{"--op", "("}, std::string("--op '('") + no_pattern},
      {{"--unit", "[a-"}, std::string("--unit '[a-'") + no_pattern},
      {{"--op", "(?=x)y"}, std::string("--op '(?=x)y'") + no_pattern},
      {{"--op", "no such op"}, "--op 'no such op': no op's name, kind or node matches"},
      {{"--unit", "no such unit"}, "--unit 'no such unit': no unit's name matches"},
      {{"--from", "20cyc", "--until", "10cyc"},
       "--from 20cyc --to 10cyc: the window is empty; end it after its begin"},
      {{"--from", "20cyc", "--until", "20cyc"},
       "--from 20cyc --to 20cyc: the window is empty; end it after its begin"},
      {{"--until=-5cyc"}, "select"},
      {{"--from", "soon"}, std::string("--from soon: not a time; ") + time_advice},
      {{"--from", "nancyc"}, std::string("--from nancyc: not a time; ") + time_advice},
      {{"--until", "5"}, std::string("--to 5: a time needs a unit; ") + time_advice},
  };
  return requests;
}

struct BadRequests : TraceFolder {
  void SetUp() override {
    TraceFolder::SetUp();
    write("cyclic.json", cyclic);
  }

  // The command with its file, or files.
  std::vector<std::string> command(const std::string& name) const {
    const std::string file = path("cyclic.json");
    if (name == "diff") return {name, file, file};
    if (name == "query") return {name, file, "--sql", "SELECT 1"};
    if (name == "convert") return {name, file, "--to", "csv", "-o", path("copy")};
    return {name, file};
  }

  void expect_refused(std::vector<std::string> arguments, const Request& request) const {
    arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 2) << line;
    EXPECT_EQ(outcome.output, "") << line;
    EXPECT_THAT(outcome.errors, HasSubstr(request.sentence)) << line;
    EXPECT_EQ(outcome.errors.rfind("npuscope: ", 0), 0u) << line;
    EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1) << line;
  }
};

constexpr const char* commands[] = {"show",  "timeline", "path",  "memory",  "graph",   "ops",
                                    "units", "diff",     "query", "convert", "diagnose"};

TEST_F(BadRequests, OfAPartOfTheProfileAreRefusedByEveryCommand) {
  std::size_t tried = 0;
  for (const char* name : commands) {
    for (const Request& request : of_every_command()) {
      if (test_support::takes(tried++)) expect_refused(command(name), request);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path("copy")));
}

TEST_F(BadRequests, OfOneCommandAreRefusedByIt) {
  const std::vector<std::pair<const char*, Request>> requests{
      {"path",
       {{"--faster", "no such op=2x"}, "--faster no such op=2x: no op of the profile matches"}},
      {"path", {{"--faster", "unit:none=2x"}, "--faster unit:none=2x: no unit of the profile"}},
      {"path", {{"--faster", "unit:=2x"}, "--faster unit:=2x: expected PATTERN=FACTOR"}},
      {"path", {{"--faster", "(=2x"}, std::string("--faster '('") + no_pattern}},
      {"path", {{"--faster", "Conv=0x"}, "'0x' is not a factor; write 2x"}},
      {"path", {{"--slower", "Conv=-2x"}, "'-2x' is not a factor; write 2x"}},
      {"path", {{"--faster", "Conv"}, "--faster Conv: "}},
      {"path", {{"--inference", "7"}, "leave out --inference"}},
      {"path", {{"--steps", "-1"}, "--steps: -1 is not a whole number from 1 to 1000000"}},
      {"ops", {{"--inference", "7"}, "--inference 7: "}},
      {"ops", {{"--sort", "nothing"}, "no column 'nothing' to sort by; it has op, runs"}},
      {"ops", {{"--columns", "nothing"}, "nothing"}},
      {"ops", {{"--rules", "nothing"}, "are not built in; use one of: bookkeeping"}},
      {"ops", {{"--by", "nothing"}, "--by: 'nothing' is unknown"}},
      {"graph", {{"--path", "no such op", "Conv_0"}, "matches 'no such op'; the nearest names"}},
      {"timeline", {{"--width", "-3"}, "--width: -3 is not a whole number from 60 to 1000"}},
      {"timeline", {{"--core", "9"}, "--core 9: no such core; the cores are: 0"}},
      {"diff", {{"--fail-if", "wall >"}, "--fail-if"}},
  };
  for (const auto& [name, request] : requests) expect_refused(command(name), request);
}

TEST_F(BadRequests, OfSqlAreRefusedWhateverTheyWouldDo) {
  constexpr const char* reads_only =
      "only SELECT, WITH, VALUES, EXPLAIN and PRAGMA table_info are allowed";
  const std::vector<std::pair<std::string, std::string>> statements{
      {"DELETE FROM spans", reads_only},
      {"UPDATE spans SET start = 0", reads_only},
      {"INSERT INTO ops DEFAULT VALUES", reads_only},
      {"CREATE TABLE x (a)", reads_only},
      {"CREATE TEMP VIEW x AS SELECT 1", reads_only},
      {"DROP TABLE spans", reads_only},
      {"ATTACH '" + path("other.db") + "' AS other", reads_only},
      {"VACUUM INTO '" + path("other.db") + "'", reads_only},
      {"PRAGMA writable_schema = 1", reads_only},
      {"SELECT 1; DELETE FROM spans", "there is a second statement; a query is one"},
      {"SELEC 1", "line 1, column 1: near \"SELEC\": syntax error"},
      {"SELECT absent FROM spans", "no such column: absent; spans has id, unit"},
      {"SELECT * FROM absent", "no such table: absent"},
      {"", "give one query"},
  };
  for (const auto& [sql, sentence] : statements) {
    expect_refused({"query", path("cyclic.json")}, {{"--sql", sql}, sentence});
  }
  EXPECT_FALSE(std::filesystem::exists(path("other.db")));
}

// Edges that lead in a circle are the profile's fault, and said on the pages that follow edges.
TEST_F(BadRequests, ACircleOfEdgesIsSaidAndHurtsNobody) {
  for (const char* name : commands) {
    const Outcome outcome = run_npuscope(command(name));
    const bool has_no_bytes = name == std::string_view("memory");
    EXPECT_EQ(outcome.status, has_no_bytes ? 3 : 0) << name << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors.empty(), !has_no_bytes) << name << ": " << outcome.errors;
  }
  EXPECT_THAT(run_npuscope(command("path")).output, HasSubstr("The edges lead in circles: 2 ops"));
  EXPECT_THAT(run_npuscope(command("graph")).output, HasSubstr("Conv_0, Softmax_1"));
}

}  // namespace
}  // namespace npuscope::cli::bad_requests_test
