// npuscope report as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/raw_buffers.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::report_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Report = TraceFolder;

TEST_F(Report, IsOneFileOfHtml) {
  const Outcome outcome = run_npuscope({"report", path("trace.json"), "-o", path("report.html")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith(path("report.html") + ": "));
  const std::string html = read("report.html");
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr("id=\"npuscope-report\">H4sI"));
  const Outcome piped = run_npuscope({"report", path("trace.json"), "-o", "-"});
  EXPECT_THAT(piped.output, StartsWith("<!doctype html>"));
  EXPECT_THAT(piped.errors, HasSubstr("open it in a browser"));
}

TEST_F(Report, JsonSaysWhatThePageShows) {
  const Outcome outcome = run_npuscope({"report", path("trace.json"), "--json", "--unit=worker"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto report = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(report["command"], "report");
  EXPECT_EQ(report["profiles"][0]["selection"], "units matching 'worker'");
  EXPECT_EQ(report["profiles"][0]["pages"]["ops_kind"]["values"]["ops"]["rows"][0]["kind"], "user");
}

TEST_F(Report, ItsDataAloneIsWhatThePageHolds) {
  const Outcome outcome =
      run_npuscope({"report", path("trace.json"), "--report-data", "-o", path("data.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("drop it on the page of any report"));
  const auto data = nlohmann::json::parse(read("data.json"));
  EXPECT_EQ(data["format"], "npuscope report data");
  EXPECT_EQ(data["version"], 1);
  run_npuscope({"report", path("trace.json"), "-o", path("report.html")});
  const std::string html = read("report.html");
  EXPECT_THAT(html, HasSubstr("id=\"npuscope-data\">" + data["data"].get<std::string>()));
  const Outcome printed = run_npuscope({"report", path("trace.json"), "--json"});
  EXPECT_EQ(nlohmann::json::parse(printed.output)["profiles"], data["report"]["profiles"]);
}

TEST_F(Report, NeverReplacesAnInput) {
  const std::string before = read("trace.json");
  EXPECT_EQ(run_npuscope({"report", path("trace.json"), "-o", path("./trace.json")}).status, 2);
  EXPECT_EQ(run_npuscope({"report", path(""), "-o", path("trace.json")}).status, 2);
  EXPECT_EQ(read("trace.json"), before);
}

TEST_F(Report, AFileThatCannotBeWrittenIsAnOutputError) {
  EXPECT_EQ(run_npuscope({"report", path("trace.json"), "-o", path("no/r.html")}).status, 4);
  EXPECT_EQ(run_npuscope({"report", path("trace.json"), "-o", "/dev/full"}).status, 4);
  EXPECT_EQ(run_npuscope({"report", path("none.json"), "-o", path("r.html")}).status, 3);
}

TEST_F(Report, AGateOfOneSideWasPassedUnjudged) {
  const Outcome outcome = run_npuscope(
      {"report", path("trace.json"), "-o", path("gate.html"), "--fail-if", "latency > 0 ms"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("gates need two sides; name --a and --b"));
  EXPECT_THAT(run_npuscope({"report", path("trace.json"), "--json", "--graph", "x"}).errors,
              HasSubstr("--graph has no effect without --a"));
}

TEST_F(Report, OfTwoSidesHasWhatDiffPrints) {
  const std::string after = path("after.json");
  std::string text = read("trace.json");
  text.replace(text.find("\"dur\":100"), 9, "\"dur\":140");
  write("after.json", text);
  const std::vector<std::string> sides{"--a", path("trace.json"), "--b", after};
  const auto with_sides = [&](std::vector<std::string> words) {
    words.insert(words.end(), sides.begin(), sides.end());
    return run_npuscope(words);
  };
  const Outcome outcome = with_sides({"report", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto report = nlohmann::json::parse(outcome.output);
  ASSERT_EQ(report["profiles"].size(), 2u);
  const auto& values = report["comparison"]["values"];
  const auto printed = nlohmann::json::parse(with_sides({"diff", "--json"}).output);
  EXPECT_EQ(values["sides"], printed["sides"]);
  EXPECT_EQ(values["numbers"], printed["numbers"]);
  EXPECT_EQ(report["arguments"][2], "--a");

  const Outcome gated =
      with_sides({"report", "--fail-if", "wall > +3%", "-o", path("report.html")});
  EXPECT_EQ(gated.status, 1) << gated.errors;
  EXPECT_THAT(read("report.html"), StartsWith("<!doctype html>")) << "to look at what failed";
  EXPECT_EQ(run_npuscope({"report", "--a", path("trace.json")}).status, 2);
  EXPECT_EQ(run_npuscope({"report"}).status, 2);
  EXPECT_EQ(with_sides({"report", "-o", after}).status, 2);
}

// Buffers became one run of which the first inference, warm as it was, stood apart as cold.
TEST_F(Report, JudgedGatesOfRawBuffersOtherwiseThanDiff) {
  make_raw_buffers(path("bin"), path("stats"), 6);
  std::filesystem::create_directory(path("warm"));
  for (const auto& entry : std::filesystem::directory_iterator(path("stats"))) {
    if (entry.path().string().find("-inf-0-") != std::string::npos) continue;
    std::filesystem::copy(entry.path(), path("warm") / entry.path().filename());
  }
  const std::vector<std::string> sides{"--a",        path("stats"),
                                       path("bin"),  "--b",
                                       path("warm"), path("bin"),
                                       "--fail-if",  "work > +2%",
                                       "--fail-if",  "wall > +3%",
                                       "--fail-if",  "wall.max > 5s",
                                       "--fail-if",  "device_latency.p95 > 5s",
                                       "--json"};
  std::vector<std::string> report{"report"}, diff{"diff"};
  report.insert(report.end(), sides.begin(), sides.end());
  diff.insert(diff.end(), sides.begin(), sides.end());
  const nlohmann::json by_report =
      nlohmann::json::parse(run_npuscope(report).output)["comparison"]["values"];
  const nlohmann::json by_diff = nlohmann::json::parse(run_npuscope(diff).output);
  EXPECT_EQ(by_report["gates"], by_diff["gates"]);
  EXPECT_EQ(by_report["sides"], by_diff["sides"]);
}

}  // namespace
}  // namespace npuscope::cli::report_test
