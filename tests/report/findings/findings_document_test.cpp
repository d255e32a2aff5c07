// The page of findings, whole, and what is found in runs whose truth is known.
#include "report/findings/findings_document.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "flow/flow.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/formats/open.hpp"
#include "report/words/reference_page.hpp"

namespace npuscope::report::findings_document_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A layout conversion, then a product that waits for its weights.
Profile small_run() {
  ProfileBuilder made("cycles of core 0");
  made.profile.provenance.files = {"run.json"};
  made.profile.provenance.platform = Provenance::Platform::cloud_ai_100;
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  const UnitId hmx = made.unit("HMX", Engine::hmx, core);
  made.span(hvx, "in", 0, 2'000, SpanKind::op, "q::ForceFormat_Crouton");
  made.span(hmx, "MatMul", 2'000, 3'500, SpanKind::dma_wait, "q::ConvLayer_s1.opt");
  made.span(hmx, "MatMul", 3'500, 10'000, SpanKind::op, "q::ConvLayer_s1.opt");
  made.profile.edges = {
      {made.op("in", "q::ForceFormat_Crouton"), made.op("MatMul", "q::ConvLayer_s1.opt")}};
  return std::move(made.profile);
}

Document document_of(const Profile& profile, const FindingsRequest& request = {}) {
  auto document = make_findings_document(analysis::Analysis(profile), request);
  EXPECT_TRUE(document) << document.error().message;
  return document ? std::move(*document) : Document{};
}

nlohmann::json json_of(const Document& document) {
  return nlohmann::json::parse(documents_json({&document, 1}, {}))["profiles"][0];
}

std::vector<std::string> rules_in(const Document& document) {
  std::vector<std::string> rules;
  const auto json = json_of(document);
  for (const auto& row : json["ranking"]["rows"]) rules.push_back(row["rule"]);
  return rules;
}

TEST(FindingsDocument, AsText) {
  const Profile profile = small_run();
  const std::string printed = document_text(document_of(profile, {.with_rest = true}), 100);
  std::stringstream expected;
  expected << std::ifstream(NPUSCOPE_TEST_DATA "/diagnose/small_run.txt").rdbuf();
  if (printed != expected.str()) {
    std::ofstream(std::filesystem::temp_directory_path() / "diagnose-small_run.txt") << printed;
  }
  EXPECT_EQ(printed, expected.str());
}

TEST(FindingsDocument, AsJson) {
  const Profile profile = small_run();
  const auto json = json_of(document_of(profile));
  EXPECT_EQ(json["summary"]["wall"], 10'000);
  EXPECT_EQ(json["summary"]["found"], json["findings"].size());
  const auto& first = json["findings"][0];
  EXPECT_EQ(first["rule"], "boundary-tax");
  EXPECT_EQ(first["gain_ticks"], 2'000);
  EXPECT_EQ(first["gain_share"], 0.2);
  EXPECT_EQ(first["rows"][0]["what"], "format conversion");
  EXPECT_EQ(first["rows"][0]["value"], 2'000);
  EXPECT_EQ(first["rows"][0]["unit"], "cycles");
  EXPECT_EQ(first["rows"][0]["kind"], "active");
  EXPECT_EQ(first["rows"][0]["text"], "2,000 cycles");
}

TEST(FindingsDocument, AsCsvTheRankingOrTheEvidence) {
  const Profile profile = small_run();
  const Document document = document_of(profile);
  EXPECT_THAT(*documents_csv({&document, 1}, ""),
              ::testing::StartsWith("rank,rule,title,weight,gain_share,gain_of,"
                                    "call_gain_share\n1,"));
  EXPECT_THAT(*documents_csv({&document, 1}, "findings"),
              HasSubstr("\nboundary-tax,time,format conversion,\"2,000 cycles\",2000,cycles,"));
}

TEST(FindingsDocument, OfOneRuleThatCannotBeTriedIsAnErrorOfTheInput) {
  const Profile profile = small_run();
  const auto document = make_findings_document(analysis::Analysis(profile), {.rule = "tiny-dma"});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().kind, ErrorKind::input);
  EXPECT_EQ(document.error().message,
            "run.json: tiny-dma cannot be tried: the profile lacks bytes of transfers");
  EXPECT_EQ(make_findings_document(analysis::Analysis(profile), {.rule = "luck"}).error().kind,
            ErrorKind::usage);
  EXPECT_EQ(make_findings_document(analysis::Analysis(Profile{}), {}).error().kind,
            ErrorKind::input);
}

Profile open_one(const std::filesystem::path& path) {
  auto opened = open_profiles({&path, 1});
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(opened->profiles.at(0));
}

// Eight small products, cold: conversions and transfers decide, not the products.
TEST(FindingsOfSamples, Chain8) {
  const std::filesystem::path folder = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared samples are not here";
  const Profile profile = open_one(folder);
  const Document document = document_of(profile);
  EXPECT_THAT(rules_in(document),
              ElementsAre("host-overhead", "exposed-dma", "boundary-tax", "one-thread-op",
                          "slow-packets", "cold-inference", "no-unit-busy", "first-calls",
                          "uncounted-waits", "aggregate-read-as-wall"));
  const auto findings = json_of(document)["findings"];
  const auto value = [&](std::size_t finding, const std::string& key) {
    for (const auto& row : findings[finding]["rows"]) {
      if (row["key"] == key) return row["value"].get<double>();
    }
    return -1.0;
  };
  EXPECT_NEAR(value(0, "beyond_seconds"), 2.404e-3, 1e-6);  // 2.40 of 2.44 ms
  EXPECT_NEAR(findings[0]["call_gain_share"].get<double>(), 0.985, 0.001);
  EXPECT_EQ(value(2, "time"), 29'862);      // both conversions
  EXPECT_EQ(value(1, "dma_wait"), 11'834);  // 18.3 % of the wall
  EXPECT_NEAR(value(1, "dma_wait_share_of_wall"), 0.1825, 0.0001);
  for (const auto& finding : findings) {  // a warm graph takes 35,519 cycles
    if (finding.contains("gain_ticks")) {
      EXPECT_LE(finding["gain_ticks"].get<double>(), 35'520) << finding["rule"];
    }
  }
  EXPECT_NEAR(value(8, "stated_utilisation"), 0.5979, 0.0001);
  EXPECT_NEAR(value(8, "domain_share_of_wall"), 0.1899, 0.0001);
}

// docs/rules.md is where they are said.
TEST(Rules, AreEachOnThePageWithAllThatItShouldSay) {
  const std::vector<std::string>& names = analysis::finding_rules();
  std::vector<std::string> of_page;
  for (const ReferenceEntry& entry : entries_of(ReferencePage::rules)) {
    of_page.push_back(entry.names.front());
  }
  EXPECT_EQ(of_page, names);
  for (const std::string& name : names) {
    const auto document = rule_document(name);
    ASSERT_TRUE(document);
    const auto& facts = document->sections.front().facts;
    ASSERT_EQ(facts.size(), 6u);
    for (const auto& fact : facts) {
      const auto* text = std::get_if<std::string>(&fact.value.held());
      ASSERT_NE(text, nullptr) << name;
      EXPECT_GT(text->size(), fact.field.key == "rule" ? 0u : 10u) << name << fact.field.key;
    }
  }
  EXPECT_FALSE(rule_document("luck"));
}

TEST(FindingsOfSamples, BertSummary) {
  const Profile profile =
      open_one(NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.opstats.summary.txt");
  EXPECT_THAT(rules_in(document_of(profile)),
              ElementsAre("vector-bound", "softmax", "throttled-clock", "dma-issue-utilisation"));
}

// Decoding one token reads all weights for one row of activations. Its 8 heads of keys go evenly to
// 8 cores.
TEST(FindingsOfReference, ADecoderIsMemoryBound) {
  auto model = npu::generate_onnx(*npu::make_architecture("qwen3-0.6b", {}), {1, 1, 128}, {});
  ASSERT_TRUE(model);
  const auto path = std::filesystem::path(::testing::TempDir()) / "npuscope-findings-decode.onnx";
  ASSERT_TRUE(write_file_atomically(path, as_byte_span(model->bytes)));
  const auto flow = run_flow(path, request_for(8, 70));
  std::filesystem::remove(path);
  ASSERT_FALSE(flow.profiles.empty());
  const auto rules = rules_in(document_of(flow.profiles.back()));
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.front(), "memory-bound");
  EXPECT_THAT(rules, Not(Contains("exposed-dma")));
  EXPECT_THAT(rules, Not(Contains("imbalance")));
}

// 50 MB of weights at what four cores can draw take half the time, and they are fetched ahead.
TEST(FindingsOfReference, ResNet50WithOneImageIsMemoryBound) {
  const auto flow = run_flow(repository_model("light_resnet50.onnx"), request_for(4, 70));
  ASSERT_FALSE(flow.profiles.empty());
  const auto rules = rules_in(document_of(flow.profiles.back()));
  ASSERT_FALSE(rules.empty());
  EXPECT_EQ(rules.front(), "memory-bound");
  EXPECT_THAT(rules, Not(Contains("exposed-dma")));
}

}  // namespace
}  // namespace npuscope::report::findings_document_test
