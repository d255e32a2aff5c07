// What the viewer's text says of nodes in warm inferences, beside the spans of a cold one.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "number_meaning.hpp"
#include "report/ops/ops_document.hpp"
#include "report/show/show.hpp"

namespace npuscope::report::ops_warm_cycles_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

// A trace of inference 0, which took 900 cycles, and a node's cycles in so many inferences.
Profile optrace_set(std::vector<double> node_cycles) {
  ProfileBuilder made("PCYCLE", ClockKind::unit_cycles);
  made.span(made.unit("HMX", Engine::hmx), "MatMul_0", 100, 1'000, SpanKind::op, "conv");
  for (std::uint32_t i = 0; i < node_cycles.size(); ++i) {
    Measure measure;
    measure.subject = Measure::Subject::op;
    measure.what = made.text("node cycles");
    measure.kind = MeasureKind::work;
    measure.value = node_cycles[i];
    measure.instance = i;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  }
  Provenance& from = made.profile.provenance;
  from.files = {"chrometrace.json"};
  from.instrumentation = "optrace";
  from.inferences = std::uint32_t(node_cycles.size());
  from.temperature = node_cycles.size() > 1 ? Provenance::Temperature::cold_then_warm
                                            : Provenance::Temperature::cold;
  return std::move(made.profile);
}

std::string text_of(const Profile& profile) {
  const auto document = ops_document(analysis::Analysis(profile), {});
  EXPECT_TRUE(document) << document.error().message;
  return document_text(*document, 200);
}

// They were in JSON only, without a word on which inference they are of.
TEST(OpsWarmCycles, AreAColumnByDefaultThatSaysOfWhichInferencesItIs) {
  const Profile profile = optrace_set({900, 500, 400, 420});
  const std::string text = text_of(profile);
  EXPECT_THAT(text, HasSubstr("node cycles, warm"));
  EXPECT_THAT(text, HasSubstr("  420"));
  EXPECT_THAT(text,
              HasSubstr("node cycles: median of inferences 1 to 3, warm, summed over threads"));
  EXPECT_THAT(text, HasSubstr("times of spans are of one inference, the cold one"));
  const auto document = ops_document(analysis::Analysis(profile), {});
  const auto json =
      nlohmann::json::parse(documents_json({&*document, 1}, {}))["profiles"][0]["ops"];
  EXPECT_EQ(json["node_cycles_of"], "inferences 1 to 3, warm");
  EXPECT_EQ(json["rows"][0]["node_cycles"], 420);
}

// `ops` had them, the page did not.
TEST(OpsWarmCycles, WereNotInTheOpsOfThePage) {
  const Profile profile = optrace_set({900, 500, 400, 420});
  const analysis::Analysis analysis(profile);
  EXPECT_THAT(document_text(first_page(analysis, {}), 100), HasSubstr("work  node, warm"));
  const auto full = show_document(analysis, {});
  ASSERT_TRUE(full);
  const std::string text = document_text(*full, 160);
  EXPECT_THAT(text, HasSubstr("node cycles, warm"));
  EXPECT_THAT(text, HasSubstr("node cycles: median of inferences 1 to 3, warm"));
  const auto json = nlohmann::json::parse(documents_json({&*full, 1}, {}))["profiles"][0]["ops"];
  EXPECT_EQ(json["rows"][0]["node_cycles"], 420);
  EXPECT_EQ(json["node_cycles_of"], "inferences 1 to 3, warm");
}

TEST(OpsWarmCycles, OfAColdInferenceAloneAreCalledSo) {
  const std::string text = text_of(optrace_set({900}));
  EXPECT_THAT(text, HasSubstr("node cycles, cold"));
  EXPECT_THAT(text, HasSubstr("node cycles: of inference 0, cold"));
  EXPECT_THAT(text_of(optrace_set({})), Not(HasSubstr("node cycles")));
}

}  // namespace
}  // namespace npuscope::report::ops_warm_cycles_test
