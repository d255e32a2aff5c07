#include "report/compare/diff_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "report/compare/diff_text.hpp"
#include "report/compare/gate_text.hpp"
#include "report/compare/judgement.hpp"
#include "report/picture/xml_check.hpp"

namespace npuscope::report::diff_document_test {
namespace {

using test_support::ProfileBuilder;

std::string expected(const char* file) {
  std::stringstream text;
  text << std::ifstream(std::string(NPUSCOPE_TEST_DATA "/diff/") + file).rdbuf();
  return text.str();
}

struct Timed {
  const char* name;
  const char* kernel;
  std::int64_t cycles;
};

// Inferences of these ops one after another; all but the first take `noise` cycles more each time.
Profile run_of(const char* file, const std::vector<Timed>& ops, std::uint32_t inferences,
               std::int64_t noise) {
  ProfileBuilder made;
  made.profile.provenance.files = {file};
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::int64_t now = 0;
  for (std::uint32_t inference = 0; inference < inferences; ++inference) {
    for (const Timed& op : ops) {
      const std::int64_t end = now + op.cycles + inference * noise;
      made.span(hmx, op.name, now, end, SpanKind::op, op.kernel);
      made.profile.spans.instance.push_back(inference);
      now = end;
    }
  }
  return std::move(made.profile);
}

struct Compared {
  Compared(Profile of_a, Profile of_b, const std::vector<const char*>& gates)
      : a(std::move(of_a)), b(std::move(of_b)) {
    const analysis::RunSamples run_a(a), run_b(b);
    const auto comparer = analysis::Comparer::make({&run_a, 1}, {&run_b, 1});
    diff.comparison = comparer->compare({20, false});
    diff.a = {&a};
    diff.b = {&b};
    for (const char* text : gates) {
      analysis::Gate gate = *read_gate(text);
      diff.gates.push_back({gate, *analysis::judge(gate, *comparer)});
    }
  }

  Profile a, b;
  Diff diff;
};

Compared one_sample() {
  return {run_of("before.json", {{"conv", "conv2d", 600}, {"relu", "relu", 50}}, 1, 0),
          run_of("after.json", {{"conv", "winograd", 700}, {"b|d", "<new>", 20}}, 1, 0),
          {"wall > +3%", "work < -10%"}};
}

Compared several_samples() {
  return {run_of("before.json", {{"conv", "conv2d", 600}, {"relu", "relu", 50}}, 6, 1),
          run_of("after.json", {{"conv", "conv2d", 700}, {"relu", "relu", 51}}, 6, 1),
          {"wall > +3%", "op('relu').work > +1%"}};
}

TEST(DiffDocument, OneSampleASide) {
  const Compared compared = one_sample();
  EXPECT_EQ(document_text(diff_document(compared.diff), 100), expected("one_sample.txt"));
  EXPECT_TRUE(any_gate_failed(compared.diff));
}

TEST(DiffDocument, SeveralSamples) {
  const Compared compared = several_samples();
  EXPECT_EQ(document_text(diff_document(compared.diff), 120), expected("several_samples.txt"));
}

TEST(DiffDocument, Markdown) {
  EXPECT_EQ(diff_markdown(one_sample().diff), expected("one_sample.md"));
}

TEST(DiffDocument, JsonHasAllNumbersUnrounded) {
  const Compared compared = several_samples();
  const auto json = nlohmann::json::parse(document_json(diff_document(compared.diff), {}));
  EXPECT_EQ(json["sides"]["files_a"][0], "before.json");
  EXPECT_EQ(json["sides"]["cold_apart_a"], 1);
  const auto& wall = json["numbers"][0]["rows"][0];
  EXPECT_EQ(wall["name"], "wall");
  EXPECT_EQ(wall["kind"], "wall");
  EXPECT_EQ(wall["a"], 656);
  EXPECT_EQ(wall["b"], 757);
  EXPECT_EQ(wall["delta"], 101);
  EXPECT_EQ(wall["samples_a"], 5);
  EXPECT_NEAR(wall["p"].get<double>(), 2.0 / 252, 1e-12);
  EXPECT_LT(wall["change_low"].get<double>(), wall["change"].get<double>());
  EXPECT_EQ(json["gates"]["rows"][0]["outcome"], "failed");
  EXPECT_EQ(json["ops"]["rows"][0]["name"], "conv");
  EXPECT_EQ(json["numbers"][1]["unchanged"]["rows"][0]["name"], "count(ops)");
}

TEST(GitHub, NamesOfFilesCannotEndOrBeginACommand) {
  Judgement judgement;
  JudgedGate& judged = judgement.gates.emplace_back();
  judged.gate.text = "op('a\n::error::b\r') > 3%";
  judged.gate.name = "x::y,z\n::add-mask::q";
  judged.result.outcome = analysis::GateOutcome::failed;
  judgement.unjudged.push_back({*read_gate("wall > 3%"), "no '\n::stop-commands::t' 100%"});
  const std::vector<std::string> lines = github_annotations(judgement);
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find_first_of("\r\n"), line.npos) << line;
    EXPECT_EQ(line.find("::"), 0u) << line;
  }
  EXPECT_THAT(lines[0], ::testing::StartsWith(
                            "::error title=x%3A%3Ay%2Cz\\x0a%3A%3Aadd-mask%3A%3Aq::gate x::y,z"));
  EXPECT_EQ(lines[1], "::error title=wall > 3%25::no '\\x0a::stop-commands::t' 100%25");
}

TEST(GitHub, AnOpsNameIsNoCommandOfTheJob) {
  const std::vector<Timed> before{{"##[add-mask]x", "k", 100}}, after{{"##[add-mask]x", "k", 200}};
  const Compared compared(run_of("a", before, 1, 0), run_of("b", after, 1, 0), {});
  const std::string text = diff_markdown(compared.diff);
  EXPECT_THAT(text, ::testing::HasSubstr("| slower | &#35;&#35;&#91;add-mask&#93;x |"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("##[")));
}

// The op that got much faster does not push out the one that got slower.
TEST(GitHub, TheSummaryHasRegressionsFirst) {
  const auto ops = [](std::int64_t fast, std::int64_t slow) {
    return std::vector<Timed>{{"fast", "k", fast}, {"slow", "k", slow}};
  };
  const Profile a = run_of("a", ops(900, 100), 1, 0), b = run_of("b", ops(100, 200), 1, 0);
  const analysis::RunSamples run_a(a), run_b(b);
  const auto comparer = analysis::Comparer::make({&run_a, 1}, {&run_b, 1});
  EXPECT_EQ(comparer->compare({.top = 1}).ops.rows[0].name_a, "fast");
  Diff diff;
  diff.a = {&a};
  diff.b = {&b};
  diff.comparison = comparer->compare({.top = 1, .regressions_first = true});
  EXPECT_THAT(diff_markdown(diff), ::testing::HasSubstr("| slower | `slow` |"));
  for (const char* gate : {"wall > +3%", "op('slow') > +3%", "work > +3%"}) {
    diff.gates.push_back({*read_gate(gate), *analysis::judge(*read_gate(gate), *comparer)});
  }
  diff.gates[0].result.outcome = analysis::GateOutcome::passed;
  diff.gates[1].result.outcome = analysis::GateOutcome::failed;
  const std::string text = diff_markdown(diff);
  EXPECT_LT(text.find("**failed**"), text.find("**inconclusive**"));
  EXPECT_LT(text.find("**inconclusive**"), text.find("<summary>1 gate passed</summary>"));
}

TEST(DiffDocument, LinesFitTheWidth) {
  for (const std::size_t width : {60, 80, 120}) {
    std::istringstream lines(document_text(diff_document(one_sample().diff), width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }),
                std::ptrdiff_t(width))
          << line;
    }
  }
}

TEST(DiffDocument, AProfileWithItselfIsShort) {
  const std::vector<Timed> ops{{"conv", "conv2d", 600}};
  const Compared compared(run_of("x", ops, 1, 0), run_of("x", ops, 1, 0), {"count(ops) > 0%"});
  EXPECT_FALSE(any_gate_failed(compared.diff));
  const std::string text = document_text(diff_document(compared.diff), 100);
  EXPECT_THAT(text, ::testing::HasSubstr("wall is the same: 600 cycles -> 600 cycles, 0 %"));
  EXPECT_THAT(text, ::testing::HasSubstr("1 same"));
}

analysis::OpDifference difference(const char* name, double a, double b) {
  analysis::OpDifference row;
  row.name_a = row.name_b = name;
  row.estimate.a = a;
  row.estimate.b = b;
  row.change = b > a ? analysis::OpChange::slower : analysis::OpChange::faster;
  return row;
}

TEST(DiffSvg, EachFallBeginsWhereTheOneBeforeEndsAndTheLastIsTheSum) {
  const std::vector<analysis::OpDifference> rows{difference("a", 10, 12), difference("b", 50, 20),
                                                 difference("same", 7, 7), difference("c", 0, 5),
                                                 difference("d", 3, 2)};
  const auto all = falls_of(rows, 10);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "b");
  EXPECT_EQ(all[0].from, 0);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].from, all[i - 1].to);
  EXPECT_EQ(all.back().to, 2 - 30 + 5 - 1);
  const auto some = falls_of(rows, 3);
  ASSERT_EQ(some.size(), 3u);
  EXPECT_EQ(some[2].name, "2 other ops");
  EXPECT_EQ(some[2].ops, 2u);
  EXPECT_EQ(some.back().to, all.back().to);
  EXPECT_TRUE(falls_of({difference("same", 7, 7)}, 3).empty());
}

TEST(DiffSvg, IsAPictureOfTheWaterfall) {
  Compared compared(run_of("a.json", {{"MatMul_0", "conv", 100}, {"<b>", "soft", 50}}, 1, 0),
                    run_of("b.json", {{"MatMul_0", "conv", 130}, {"<b>", "soft", 40}}, 1, 0), {});
  const std::string svg = diff_svg(compared.diff, {});
  EXPECT_EQ(problem_in(svg), "");
  for (const char* part : {">What changed, by work</text>", ">+30 cycles</text>",
                           ">-10 cycles</text>", ">+20 cycles</text>", ">all ops<", "&lt;b&gt;"}) {
    EXPECT_THAT(svg, ::testing::HasSubstr(part));
  }
}

TEST(DiffSvg, WithoutAChangeThePictureSaysSo) {
  Compared compared(run_of("a.json", {{"MatMul_0", "conv", 100}}, 1, 0),
                    run_of("b.json", {{"MatMul_0", "conv", 100}}, 1, 0), {});
  const std::string svg = diff_svg(compared.diff, {});
  EXPECT_EQ(problem_in(svg), "");
  EXPECT_THAT(svg, ::testing::HasSubstr(">No op changed between A and B.</text>"));
  EXPECT_THAT(svg, ::testing::HasSubstr(verdict_text(compared.diff).substr(0, 20)));
}

}  // namespace
}  // namespace npuscope::report::diff_document_test
