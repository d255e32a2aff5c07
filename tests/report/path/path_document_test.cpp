#include "report/path/path_document.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "npuscope/formats/open.hpp"
#include "number_meaning.hpp"

namespace npuscope::report::path_document_test {
namespace {

using ::testing::HasSubstr;

Profile small_profile() {
  test_support::ProfileBuilder made;
  made.profile.provenance.files = {"small"};
  made.profile.provenance.format = "Chrome trace";
  const UnitId hvx = made.unit("HVX", Engine::hvx), hmx = made.unit("HMX", Engine::hmx);
  made.span(hvx, "Load", 1'000, 1'400, SpanKind::op, "copy");
  made.span(hmx, "MatMul", 1'450, 2'000, SpanKind::sync, "matmul");
  made.span(hvx, "Scale", 1'400, 1'990, SpanKind::op, "mul");
  made.span(hmx, "MatMul", 2'000, 3'000, SpanKind::op, "matmul");
  made.span(hvx, "Other", 2'000, 2'700, SpanKind::op, "copy");
  made.span(hmx, "Softmax", 3'010, 3'500, SpanKind::op, "softmax");
  made.span(hmx, "Softmax", 3'500, 3'520, SpanKind::barrier, "softmax");
  const auto edge = [&](const char* from, const char* from_kind, const char* to,
                        const char* to_kind) {
    made.profile.edges.push_back({made.op(from, from_kind), made.op(to, to_kind), EdgeKind::data});
  };
  edge("Load", "copy", "MatMul", "matmul");
  edge("Scale", "mul", "MatMul", "matmul");
  edge("MatMul", "matmul", "Softmax", "softmax");
  MeasureColumn dominant;
  dominant.what = made.text("dominant path");
  dominant.kind = MeasureKind::dominant_path;
  for (const std::int64_t value : {400, 0, 590, 1'000, 0, 490, 0}) dominant.values.push_back(value);
  dominant.meaning = test_support::meaning_of(dominant.kind, made.profile.text(dominant.what));
  made.profile.spans.measures.push_back(std::move(dominant));
  return std::move(made.profile);
}

std::string expected(const std::string& file) {
  std::ifstream in(std::filesystem::path(NPUSCOPE_TEST_DATA) / "path" / file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(PathDocument, AsText) {
  const Profile profile = small_profile();
  const auto document =
      path_document(analysis::Analysis(profile), {.faster = {"MatMul=2x", "unit:HVX=50%"}});
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document_text(*document, 110), expected("small.txt"));
}

TEST(PathDocument, TheLongestStepsInTheOrderOfTime) {
  const Profile profile = small_profile();
  const auto document = path_document(analysis::Analysis(profile), {.top = 1, .steps = 2});
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}));
  const auto& steps = json["profiles"][0]["steps"];
  ASSERT_EQ(steps["rows"].size(), 2u);
  EXPECT_EQ(steps["rows"][0]["op"], "Scale");
  EXPECT_EQ(steps["rows"][1]["op"], "MatMul");
  EXPECT_EQ(steps["rows"][1]["after"], "Scale");
  EXPECT_EQ(steps["rows"][1]["semaphore"], 10);
  EXPECT_EQ(json["profiles"][0]["ops"]["rows"].size(), 1u);
}

// Whatever is grouped, its parts are the wall.
TEST(PathDocument, PartsAddUpToTheWall) {
  const Profile profile = small_profile();
  const auto document = path_document(analysis::Analysis(profile), {});
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}));
  std::int64_t sum = 0;
  for (const auto& row : json["profiles"][0]["parts"]["rows"])
    sum += row["time"].get<std::int64_t>();
  EXPECT_EQ(sum, 2'520);
  EXPECT_EQ(json["profiles"][0]["path"]["wall"], 2'520);
}

TEST(PathDocument, RefusesRulesThatMakeNoSense) {
  const Profile profile = small_profile();
  const auto message = [&](std::vector<std::string> faster, std::vector<std::string> slower = {}) {
    const auto document =
        path_document(analysis::Analysis(profile), {.faster = faster, .slower = slower});
    return document ? std::string() : document.error().message;
  };
  EXPECT_EQ(message({"MatMul"}), "--faster MatMul: expected PATTERN=FACTOR, as in 'MatMul=2x'");
  EXPECT_EQ(message({"=2x"}), "--faster =2x: expected PATTERN=FACTOR, as in 'MatMul=2x'");
  for (const char* wrong :
       {"M=", "M=2", "M=x", "M=nanx", "M=-2x", "M=infx", "M=0x", "M=%", "M=1e999x"}) {
    EXPECT_THAT(message({wrong}), HasSubstr("is not a factor; write 2x")) << wrong;
  }
  EXPECT_EQ(message({"MatMul=150%"}), "--faster MatMul=150%: that would be slower; use --slower");
  EXPECT_EQ(message({}, {"MatMul=0.5x"}),
            "--slower MatMul=0.5x: that would be faster; use --faster");
  EXPECT_THAT(message({"MatMul=1e7x"}), HasSubstr("at most a million times"));
  EXPECT_EQ(message({"Conv=2x"}),
            "--faster Conv=2x: no op of the profile matches; it has 'MatMul', 'Other', 'Scale'; "
            "npuscope ops lists all");
  EXPECT_EQ(
      message({"unit:DMA=2x"}),
      "--faster unit:DMA=2x: no unit of the profile matches; it has 'HVX', 'HMX'; npuscope units "
      "lists all");
  EXPECT_THAT(message({"Mat(=2x"}), HasSubstr("--faster"));
  EXPECT_EQ(message({"Mat.*=0", "Soft=100%"}, {"Load=1e6x", "Load=1e6x"}), "");
}

// The reference figures of the vendor's own sample.
TEST(PathDocument, OfAVendorsTraceAddsUpToItsTimeline) {
  const std::filesystem::path folder =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/qnn/chain8";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no samples here";
  const std::filesystem::path paths[] = {folder};
  const auto opened = open_profiles(paths);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto document = path_document(analysis::Analysis(opened->profiles.at(0)), {});
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}));
  const auto& page = json["profiles"][0];
  EXPECT_EQ(page["path"]["wall"], 64'829);
  std::map<std::string, std::int64_t> parts;
  std::int64_t sum = 0;
  for (const auto& row : page["parts"]["rows"]) {
    parts[row["part"]] = row["time"];
    sum += row["time"].get<std::int64_t>();
  }
  EXPECT_EQ(sum, 64'829);
  EXPECT_EQ(parts["work, HMX"], 12'312);
  EXPECT_EQ(parts["work, HVX"], 29'862);
  // The input's transfer was in flight from the end of its issue, which began at 22 and took 3267,
  // until the wait for it was over at 15894.
  EXPECT_EQ(page["steps"]["rows"][1]["op"], "MatMul_0");
  EXPECT_EQ(page["steps"]["rows"][1]["reason"], "DMA wait");
  EXPECT_EQ(page["steps"]["rows"][1]["after"], "Input");
  EXPECT_EQ(page["steps"]["rows"][1]["dma"], 15'894 - 22 - 3'267);
}

// The last step ends with the timeline: what it waited before is not waited again after it.
TEST(PathDocument, PartsAddUpToTheWallThatEndsWithThePath) {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(hmx, "A", 0, 100);
  made.span(hmx, "B", 120, 200);
  const auto document = path_document(analysis::Analysis(made.profile), {});
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}))["profiles"][0];
  std::int64_t sum = 0;
  for (const auto& row : json["parts"]["rows"]) sum += row["time"].get<std::int64_t>();
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(json["path"]["wall"], 200);
}

// What is inferred stands apart from what is recorded, and is marked as a guess.
TEST(PathDocument, InferredReasonsAreMarked) {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hmx, "A", 0, 1'000);
  made.span(hvx, "B", 0, 4'980);
  made.span(hmx, "C", 5'000, 6'000);
  const auto document = path_document(analysis::Analysis(made.profile), {});
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}));
  const auto& profile = json["profiles"][0];
  EXPECT_EQ(profile["path"]["inferred_steps"], 1);
  EXPECT_EQ(profile["path"]["inferred_waiting"], 4'000);
  EXPECT_EQ(profile["path"]["inferred_within"], 100);
  const auto& step = profile["steps"]["rows"].back();
  EXPECT_EQ(step["reason"], "unit");
  EXPECT_EQ(step["after"], "A");
  EXPECT_EQ(step["likely_after"], "B");
  EXPECT_EQ(step["likely_after_unit"], "HVX");
  EXPECT_EQ(step["likely_ended_before"], 20);
  EXPECT_TRUE(profile["steps"]["rows"][0]["likely_after"].is_null());
  const std::string text = document_text(*document, 110);
  EXPECT_THAT(text, HasSubstr("waiting, reason inferred"));
  EXPECT_THAT(text, HasSubstr("likely after, inferred"));
  EXPECT_THAT(text, HasSubstr("Inferred: of 1 step nothing recorded says why it waited"));
  EXPECT_THAT(document_text(*path_document(analysis::Analysis(small_profile()), {}), 110),
              ::testing::Not(HasSubstr("nferred")));
}

}  // namespace
}  // namespace npuscope::report::path_document_test
