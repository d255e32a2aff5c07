#include "formats/torq/pass_times.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "formats/torq/files.hpp"

namespace npuscope::torq::pass_times_test {
namespace {

using ::testing::HasSubstr;

std::filesystem::path file_of(std::string_view text) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "npuscope_pass_times";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string read(std::string_view text) {
  const auto reports = read_pass_times(file_of(text));
  if (!reports) return reports.error().message;
  std::string out;
  for (const PassReport& report : *reports) {
    constexpr const char* forms[] = {"tree", "list", "actions"};
    out += fmt::format("{} {:.4f}", forms[std::size_t(report.form)], report.wall_seconds);
    if (report.rest_seconds) out += fmt::format(" rest {:.4f}", *report.rest_seconds);
    if (report.left_out > 0) out += fmt::format(" left out {}", report.left_out);
    out += "\n";
    for (const PassTime& pass : report.passes) {
      out += fmt::format("  {} x{} {:.4f} {:.4f}\n", pass.name, pass.runs,
                         pass.own_seconds.value_or(-1), pass.whole_seconds);
    }
  }
  return out;
}

constexpr std::string_view line =
    "===-------------------------------------------------------------------------===\n";

std::string report(std::string_view rows) {
  return fmt::format(
      "{0}                         ... Execution time report ...\n{0}  Total Execution Time: 1.0 "
      "seconds\n\n  ----User Time----  ----Wall Time----  ----Name----\n{1}",
      line, rows);
}

const std::string tree = report(
    "    0.9000 ( 90.0%)    0.6000 ( 60.0%)  'func.func' Pipeline\n"
    "    0.5000 ( 50.0%)    0.4000 ( 40.0%)    TileAndFuse\n"
    "    0.0500 (  5.0%)    0.0500 (  5.0%)    Canonicalizer\n"
    "    0.0100 (  1.0%)    0.0100 (  1.0%)      (A) DominanceInfo\n"
    "    0.2000 ( 20.0%)    0.2000 ( 20.0%)  Canonicalizer\n"
    "    0.1000 ( 10.0%)    0.2000 ( 20.0%)  Rest\n"
    "    1.2000 (100.0%)    1.0000 (100.0%)  Total\n");

TEST(PassTimes, OfATreeAreThoseOfEachPassAlone) {
  EXPECT_EQ(read("a line of something else\n" + tree),
            "tree 1.0000 rest 0.2000\n"
            "  TileAndFuse x1 0.4000 0.4000\n"
            "  Canonicalizer x2 0.2400 0.2500\n"
            "  'func.func' Pipeline x1 0.1500 0.6000\n"
            "  (A) DominanceInfo x1 0.0100 0.0100\n");
}

TEST(PassTimes, EachPassManagerHasAReport) {
  const std::string wall_only = report(
      "    0.0100 ( 50.0%)  Inliner\n    0.0200 (100.0%)  Total\n"
      "  nothing\n    broken ( 1%)  x\n");
  EXPECT_EQ(read(tree + wall_only + "\n").substr(0, 30), read(tree).substr(0, 30));
  EXPECT_THAT(read(tree + wall_only), HasSubstr("tree 0.0200\n  Inliner x1 0.0100 0.0100\n"));
}

TEST(PassTimes, AListSaysNothingOfAPassAlone) {
  EXPECT_EQ(read(report("    1.2000 (100.0%)    1.0000 (100.0%)  root\n"
                        "    0.9000 ( 90.0%)    0.6000 ( 60.0%)  'func.func' Pipeline\n"
                        "    0.5000 ( 50.0%)    0.7000 ( 40.0%)  TileAndFuse\n")),
            "list 1.0000\n  TileAndFuse x1 -1.0000 0.7000\n"
            "  'func.func' Pipeline x1 -1.0000 0.6000\n");
}

TEST(PassTimes, OfJsonAreThoseOfTheText) {
  const auto row = [](double wall, std::string_view name) {
    return fmt::format(
        R"({{"user": {{"duration": 9, "percentage": 1}}, "wall": {{"duration":   {:.4f}, )"
        R"("percentage": 1}}, "name": "{}")",
        wall, name);
  };
  const std::string json =
      "other output\n[\n" + row(0.6, "'func.func' Pipeline") + ", \"passes\": [\n" +
      row(0.4, "TileAndFuse") + ", \"passes\": [\n{}]},\n" + row(0.05, "Canonicalizer") +
      ", \"passes\": [\n" + row(0.01, "(A) DominanceInfo") +
      ", \"passes\": [\n{}]},\n{}]},\n{}]},\n" + row(0.2, "Canonicalizer") +
      ", \"passes\": [\n{}]},\n" + row(0.2, "Rest") + "},\n" + row(1, "Total") + "}\n]\n";
  EXPECT_EQ(read(json), read(tree));
  EXPECT_TRUE(looks_like_pass_times(json));
}

std::string event(char phase, int thread, int time, std::string_view name,
                  std::string_view pass = "") {
  std::string text =
      fmt::format(R"({{"name": "{}", "cat": "PERF", "ph": "{}", "pid": 0, "tid": {}, "ts": {})",
                  name, phase, thread, time);
  if (!pass.empty()) {
    text += fmt::format(
        R"(, "args": {{"desc": "`pass-execution` running `{}` on Operation `func.func`"}})", pass);
  }
  return text + "}";
}

// A pass within one of its own name counts once in the time with what it runs.
TEST(PassTimes, OfActionsNestByThread) {
  const std::string text =
      "[" + event('B', 1, 0, "pass-execution", "Outer") + ",\n" +
      event('B', 1, 100, "pass-execution", "Inner") + ",\n" + event('B', 1, 110, "apply-pattern") +
      ",\n" + event('E', 1, 190, "apply-pattern") + ",\n" +
      event('B', 1, 200, "pass-execution", "Outer") + ",\n" + event('E', 1, 250, "pass-execution") +
      ",\n" + event('E', 1, 400, "pass-execution") + ",\n" +
      event('B', 2, 150, "pass-execution", "Inner") + ",\n" +
      event('E', 2, 1150, "pass-execution") + ",\n" + event('E', 1, 1000, "pass-execution") + "]";
  EXPECT_TRUE(looks_like_pass_times(text));
  const auto reports = read_pass_times(file_of(text));
  ASSERT_TRUE(reports) << reports.error().message;
  const PassReport& report = reports->front();
  EXPECT_EQ(report.threads, 2u);
  EXPECT_NEAR(report.wall_seconds, 1150e-6, 1e-9);
  std::string out;
  for (const PassTime& pass : report.passes) {
    out += fmt::format("{} x{} {:.0f} {:.0f}\n", pass.name, pass.runs, 1e6 * *pass.own_seconds,
                       1e6 * pass.whole_seconds);
  }
  EXPECT_EQ(out, "Inner x2 1250 1300\nOuter x2 750 1000\n");
}

TEST(PassTimes, AreNotThereInOtherFiles) {
  EXPECT_FALSE(looks_like_pass_times(R"([{"name": "a", "cat": "PERF", "ph": "B"}])"));
  EXPECT_FALSE(looks_like_pass_times(""));
  EXPECT_THAT(read("nothing of the kind\n"), HasSubstr("--profile-actions-to=FILE"));
  EXPECT_THAT(read(report("")), HasSubstr("not a report"));
}

// Whatever stands in the rows: an answer or a sentence, and no time below 0 to a pass alone.
TEST(PassTimes, OfForgedRowsAreNeverBelowZero) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string rows;
    for (std::uint32_t i = 0; i < random() % 20; ++i) {
      rows += fmt::format("    {} ( 1.0%)  {}{}\n", random() % 4 == 0 ? "1e999" : "0.5",
                          std::string(random() % 600, ' '), random() % 3 == 0 ? "Total" : "P");
    }
    std::string text = report(rows);
    if (!text.empty() && random() % 2 == 0) text[random() % text.size()] = char(random() % 256);
    const auto reports = read_pass_times(file_of(text));
    if (!reports) continue;
    for (const PassReport& each : *reports) {
      for (const PassTime& pass : each.passes) EXPECT_GE(pass.own_seconds.value_or(0), 0);
    }
  }
}

// The compiler's own reports.
TEST(PassTimes, OfTheRealCompiler) {
  const std::string path = sample("real/add_int8/mlir-timing.txt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the samples";
  const auto reports = read_pass_times(path);
  ASSERT_TRUE(reports) << reports.error().message;
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_EQ(reports->front().passes.front().name, "TileAndFuse");
  EXPECT_DOUBLE_EQ(reports->front().wall_seconds, 0.4978);
  EXPECT_EQ((*reports)[1].rest_seconds, -3.2865);
}

}  // namespace
}  // namespace npuscope::torq::pass_times_test
