// npuscope convert as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/unpacked_text.hpp"
#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::convert_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Convert = TraceFolder;

std::size_t slices_in(const std::string& chrome_json) {
  std::size_t count = 0;
  const auto json = nlohmann::json::parse(chrome_json);
  for (const auto& event : json["traceEvents"]) count += event["ph"] == "X";
  return count;
}

TEST_F(Convert, WritesEveryFormatAndSaysWhere) {
  for (const char* format : {"chrome", "perfetto", "csv", "sqlite", "json"}) {
    const std::string output = path(std::string("out.") + format);
    const Outcome outcome =
        run_npuscope({"convert", path("trace.json"), "--to", format, "-o", output});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, StartsWith("wrote " + output + " ("));
    EXPECT_TRUE(std::filesystem::exists(output));
  }
  EXPECT_THAT(read("out.sqlite"), StartsWith("SQLite format 3"));
  EXPECT_THAT(read("out.csv"), StartsWith("id,unit,op,kind,start,duration,"));
  EXPECT_EQ(slices_in(read("out.chrome")), 3u);
  EXPECT_EQ(nlohmann::json::parse(read("out.json"))["spans"]["start"][0], 1'000'000);
}

// So that a profile can be attached to a public report.
TEST_F(Convert, ScrubbedNothingOfItNamesAnything) {
  write("customer.json", R"({"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"host77"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"alice"}},
{"ph":"X","pid":1,"tid":2,"ts":10,"dur":50,"name":"their_layer","cat":"kernel",
 "args":{"path":"/home/alice/customer.onnx","bytes":4096}}]})");
  std::string written;
  for (const char* format : {"chrome", "perfetto", "csv", "sqlite", "json"}) {
    const std::string output = path(std::string("out.") + format);
    const Outcome outcome = run_npuscope(
        {"convert", path("customer.json"), "--scrub", "--format", format, "-o", output});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    written += read(output);
  }
  EXPECT_EQ(
      run_npuscope({"report", path("customer.json"), "--scrub", "-o", path("out.html")}).status, 0);
  const std::string html = read("out.html");
  for (const char* id : {"npuscope-report", "npuscope-data"}) {
    written += test_support::unpacked_text(test_support::script_of(html, id));
  }
  EXPECT_THAT(written, HasSubstr("\"command\":\"report\""));
  for (const char* name : {"customer", "host77", "alice", "their_layer", "/home"}) {
    EXPECT_EQ(written.find(name), std::string::npos) << name;
  }
  EXPECT_THAT(read("out.chrome"), HasSubstr("\"op_1\""));
  EXPECT_THAT(read("out.chrome"), HasSubstr("4096"));
  EXPECT_EQ(run_npuscope({"report", "--a", path("trace.json"), "--b", path("trace.json"), "--scrub",
                          "-o", path("out.html")})
                .status,
            2);
}

TEST_F(Convert, WhatItWroteOpensAgain) {
  for (const char* name : {"again.json", "again.pftrace"}) {
    const char* format = std::string(name) == "again.json" ? "chrome" : "perfetto";
    ASSERT_EQ(
        run_npuscope({"convert", path("trace.json"), "--to", format, "-o", path(name)}).status, 0);
    const Outcome outcome = run_npuscope({"show", path(name), "--full"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("WALL  200.0 us")) << name;
    EXPECT_THAT(outcome.output, HasSubstr("server > worker      3  150.0 us   75.0 %")) << name;
  }
}

TEST_F(Convert, KeepsWhatReachesIntoTheWindowAndCutsItWhenAsked) {
  ASSERT_EQ(run_npuscope({"convert", path("trace.json"), "--to", "chrome", "--from", "70us",
                          "--until", "120us", "-o", path("part.json")})
                .status,
            0);
  const auto whole = nlohmann::json::parse(read("part.json"))["traceEvents"].back();
  EXPECT_EQ(slices_in(read("part.json")), 1u);
  EXPECT_EQ(whole["dur"], 100);
  ASSERT_EQ(run_npuscope({"convert", path("trace.json"), "--to", "chrome", "--from", "70us",
                          "--until", "120us", "--cut", "-o", path("part.json")})
                .status,
            0);
  EXPECT_EQ(nlohmann::json::parse(read("part.json"))["traceEvents"].back()["dur"], 30);
}

TEST_F(Convert, TakesATimeAfterToForTheEndOfTheWindow) {
  const Outcome outcome = run_npuscope({"convert", path("trace.json"), "--to", "chrome", "--from",
                                        "0", "--to", "5us", "-o", path("part.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(slices_in(read("part.json")), 1u);
}

TEST_F(Convert, TheEndingNamesTheFormatWhereItIsClear) {
  EXPECT_EQ(run_npuscope({"convert", path("trace.json"), "-o", path("a.db")}).status, 0);
  EXPECT_THAT(read("a.db"), StartsWith("SQLite format 3"));
  const Outcome outcome = run_npuscope({"convert", path("trace.json"), "-o", path("a.json")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(
      outcome.errors,
      "npuscope: --format is missing: name the format, chrome, perfetto, csv, sqlite or json\n");
}

TEST_F(Convert, ListsWhatTheFormatCannotHold) {
  const Outcome outcome = run_npuscope(
      {"convert", path("trace.json"), "--to", "chrome", "--op", "matmul", "-o", path("a.json")});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("not held, or not as it was:\n             1  notes\n"));
  const Outcome as_json = run_npuscope({"convert", path("trace.json"), "--json", "--to", "chrome",
                                        "--op", "matmul", "-o", path("a.json")});
  const auto json = nlohmann::json::parse(as_json.output);
  EXPECT_EQ(json["not_held"][0]["what"], "notes");
  EXPECT_EQ(json["files"][0]["path"], path("a.json"));
}

TEST_F(Convert, AnInputIsNeverReplaced) {
  const std::string before = read("trace.json");
  for (const auto& input : {path("trace.json"), folder_.string()}) {
    const Outcome outcome =
        run_npuscope({"convert", input, "--to", "chrome", "-o", path("./trace.json")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("is an input too"));
  }
  EXPECT_EQ(read("trace.json"), before);
}

TEST_F(Convert, AnInputIsNotReplacedByItsNamesakeInAFolder) {
  const std::string before = read("trace.json");
  for (const char* format : {"chrome", "json"}) {
    const Outcome outcome =
        run_npuscope({"convert", path("trace.json"), "--to", format, "-o", folder_.string()});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("is an input too"));
  }
  EXPECT_EQ(read("trace.json"), before);
}

TEST_F(Convert, ATableDoesNotReplaceAnInputOfItsName) {
  write("spans.csv", read("trace.json"));
  const std::string before = read("spans.csv");
  const Outcome outcome =
      run_npuscope({"convert", path("spans.csv"), "--to", "csv", "-o", folder_.string()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("is an input too"));
  EXPECT_EQ(read("spans.csv"), before);
}

TEST_F(Convert, TablesOfAnEarlierProfileDoNotStayBesideTheNew) {
  std::filesystem::create_directories(path("tables"));
  write("tables/phases.csv", "of another profile");
  const Outcome outcome =
      run_npuscope({"convert", path("trace.json"), "--to", "csv", "-o", path("tables/")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("phases.csv")));
  EXPECT_FALSE(std::filesystem::exists(path("tables/phases.csv")));
  EXPECT_TRUE(std::filesystem::exists(path("tables/spans.csv")));
}

TEST_F(Convert, WhatHasNoTimelineMakesNoTrace) {
  write("empty.json", R"({"traceEvents":[]})");
  for (const char* format : {"chrome", "perfetto"}) {
    const Outcome outcome =
        run_npuscope({"convert", path("empty.json"), "--to", format, "-o", path("none")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr("has no timeline"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("none")));
  EXPECT_EQ(run_npuscope({"convert", path("trace.json"), "--to", "csv", "-o", ""}).status, 2);
}

TEST_F(Convert, WhatCannotBeWrittenKeepsTheOldFile) {
  write("old.db", "old");
  const Outcome missing =
      run_npuscope({"convert", path("trace.json"), "--to", "chrome", "-o", path("missing/a.json")});
  EXPECT_EQ(missing.status, 4);
  for (const char* format : {"chrome", "csv", "json", "perfetto"}) {
    EXPECT_EQ(
        run_npuscope({"convert", path("trace.json"), "--to", format, "-o", "/dev/full"}).status, 4)
        << format;
  }
  EXPECT_EQ(run_npuscope({"convert", path("trace.json"), "--to", "sqlite", "-o", path("old.db"),
                          "--op", "nothing"})
                .status,
            2);
  EXPECT_EQ(read("old.db"), "old");
}

TEST_F(Convert, StandardOutputHasTheResultAlone) {
  const Outcome outcome = run_npuscope({"convert", path("trace.json"), "--to", "json", "-o", "-"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_TRUE(nlohmann::json::accept(outcome.output));
  EXPECT_THAT(outcome.errors, StartsWith("wrote /dev/stdout"));
}

TEST_F(Convert, WhatGoesIntoAPipeHasASizeToo) {
  for (const char* format : {"json", "csv", "chrome", "perfetto"}) {
    const Outcome outcome =
        run_npuscope({"convert", path("trace.json"), "--to", format, "-o", "-", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const auto json = nlohmann::json::parse(outcome.errors);
    EXPECT_EQ(json["files"][0]["bytes"], outcome.output.size()) << format;
    EXPECT_GT(outcome.output.size(), 0u);
  }
}

TEST_F(Convert, SeveralProfilesTakeAFolder) {
  write("second.json", R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"a"}])");
  const std::vector<std::string> inputs{path("trace.json"), path("second.json")};
  EXPECT_EQ(run_npuscope({"convert", inputs[0], inputs[1], "--to", "chrome", "-o", path("x.json")})
                .status,
            2);
  const Outcome outcome =
      run_npuscope({"convert", inputs[0], inputs[1], "--to", "chrome", "-o", path("out/")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(slices_in(read("out/trace.json")), 3u);
  EXPECT_EQ(slices_in(read("out/second.json")), 1u);
}

}  // namespace
}  // namespace npuscope::cli::convert_test
