// Files as AI Hub's own client writes them: tests/fuzz/open/aihub.json is of its 0.56.0, made of a
// result that was filled here.
#include "formats/aihub/profile_json.hpp"

#include <gmock/gmock.h>

#include "analysis/latency.hpp"
#include "analysis/ops/expected_provider.hpp"

namespace npuscope::aihub::profile_json_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Pair;

Result<Profile> read(const std::string& text) {
  auto source = open_byte_source(text, "results.json");
  return read_profile_json(**source);
}

Profile profile_of(const std::string& summary, const std::string& layers = "") {
  auto profile =
      read(R"({"execution_summary": {)" + summary + R"(}, "execution_detail": [)" + layers + "]}");
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? std::move(*profile) : Profile{};
}

std::vector<std::pair<std::string, double>> numbers_of(const Profile& profile,
                                                       Measure::Subject subject,
                                                       std::uint32_t id = 0) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const Measure& each : profile.measures) {
    if (each.subject != subject || each.subject_id != id) continue;
    numbers.emplace_back(profile.text(each.what), each.value);
  }
  return numbers;
}

TEST(AiHub, AFileOfItsClient) {
  auto source =
      open_byte_source(std::filesystem::path(NPUSCOPE_SOURCE_DIR "/tests/fuzz/open/aihub.json"));
  const auto read = read_profile_json(**source);
  ASSERT_TRUE(read) << read.error().message;
  const Profile& profile = *read;
  EXPECT_THAT(profile.spans.duration, ElementsAre(1995, 350, 321, 281, 290, 288, 301, 284));
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(profile.provenance.platform, Provenance::Platform::hexagon);
  EXPECT_THAT(
      numbers_of(profile, Measure::Subject::profile),
      ElementsAre(Pair("first load", 2495537), Pair("warm load", 331363),
                  Pair("peak memory of the first load", 353968128),
                  Pair("peak memory of a warm load", 26341376),
                  Pair("peak memory of inference, most", 2658496),
                  Pair("peak memory of inference, least", 1708032), Pair("layers on CPU", 1),
                  Pair("layers on GPU", 1), Pair("layers on NPU", 5)));
  EXPECT_THAT(numbers_of(profile, Measure::Subject::op, 1),
              ElementsAre(Pair("shortest time", 127), Pair("shortest cycles", 180315)));
  // Less than a microsecond; and what nobody measured.
  EXPECT_THAT(numbers_of(profile, Measure::Subject::op, 3),
              ElementsAre(Pair("shortest time", 0), Pair("shortest cycles", 611)));
  EXPECT_THAT(numbers_of(profile, Measure::Subject::op, 2), ElementsAre());
  ASSERT_EQ(profile.checks.size(), 1u);
  EXPECT_EQ(profile.checks.front().outcome, Check::Outcome::passed);
}

TEST(AiHub, TheFastestInferenceIsNotCalledTheLatency) {
  const Profile profile =
      profile_of(R"("estimated_inference_time": 281, "all_inference_times": [1995, 350, 281])");
  EXPECT_THAT(profile.notes, Contains(Field(&Note::message, HasSubstr("is the fastest of 3 "))));
  EXPECT_THAT(numbers_of(profile, Measure::Subject::profile), ElementsAre());
  const analysis::Latency latency = analysis::analyse_latency(profile);
  ASSERT_EQ(latency.rows.size(), 1u);
  EXPECT_EQ(latency.rows[0].name, "inference");
  EXPECT_EQ(latency.rows[0].percentiles[0], 350);
}

TEST(AiHub, AnEstimateThatIsNotTheFastestFails) {
  const Profile profile =
      profile_of(R"("estimated_inference_time": 300, "all_inference_times": [400, 281])");
  ASSERT_EQ(profile.checks.size(), 1u);
  EXPECT_EQ(profile.checks.front().outcome, Check::Outcome::failed);
}

TEST(AiHub, AFileOfBeforeTimesOfEachInference) {
  const Profile profile = profile_of(
      R"("estimated_inference_time": 3652, "first_load_time": 1374293, "warm_load_time": null,
         "compile_peak_memory": 166711296, "inference_memory_peak_range": null)",
      R"({"name": "conv", "type": "CONV_2D", "compute_unit": "CPU"})");
  EXPECT_EQ(profile.spans.size(), 0u);
  EXPECT_THAT(numbers_of(profile, Measure::Subject::profile),
              ElementsAre(Pair("inference, min", 3652), Pair("first load", 1374293),
                          Pair("peak memory of compilation", 166711296), Pair("layers on CPU", 1)));
  EXPECT_EQ(profile.provenance.platform, Provenance::Platform::unknown);
  EXPECT_THAT(profile.notes, Contains(Field(&Note::message, HasSubstr("the job recorded none"))));
}

TEST(AiHub, LayersWithoutTimesHadNoProvider) {
  const Profile profile =
      profile_of(R"("estimated_inference_time": 281)",
                 R"({"name": "a", "type": "Conv", "compute_unit": "NPU", "execution_time": 0},
         {"name": "b", "type": "Softmax", "compute_unit": "CPU", "execution_time": 0})");
  const auto found = analysis::expected_provider(analysis::Analysis(profile), "npu");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->providers.size(), 2u);
  ASSERT_EQ(found->elsewhere.size(), 1u);
  EXPECT_EQ(found->elsewhere[0].name, "b");
}

TEST(AiHub, WhatIsNoNumberIsLeftOutAndCounted) {
  const Profile profile = profile_of(
      R"("estimated_inference_time": -1, "all_inference_times": [10, "fast", -3, 1e300, 12],
         "first_load_memory_peak_range": [1])",
      R"({"name": "a", "compute_unit": 7, "execution_time": "long"}, 8, {"type": "Conv"})");
  EXPECT_THAT(profile.spans.duration, ElementsAre(10, 12));
  EXPECT_EQ(profile.ops.size(), 1u);
  EXPECT_THAT(profile.notes,
              Contains(testing::AllOf(Field(&Note::message, HasSubstr("none, negative or")),
                                      Field(&Note::count, 5u))));
  EXPECT_THAT(profile.notes,
              Contains(testing::AllOf(Field(&Note::message, HasSubstr("layers without a name")),
                                      Field(&Note::count, 2u))));
}

TEST(AiHub, TimesWithAPointWereNoTimes) {
  EXPECT_THAT(profile_of(R"("all_inference_times": [281.0, 100.5])").spans.duration,
              ElementsAre(281, 100));
}

TEST(AiHub, ManyLayersBeforeTheSummaryWereNotRecognised) {
  EXPECT_TRUE(looks_like_profile_json(R"({"execution_detail": [{"compute_unit": "NPU", )"));
  EXPECT_FALSE(looks_like_profile_json(R"({"traceEvents": [{"compute_unit": "NPU"}]})"));
}

TEST(AiHub, NothingToSayIsRefused) {
  for (const char* text :
       {R"({"execution_summary": {"estimated_inference_time": null}, "execution_detail": []})",
        R"({"execution_summary": 4, "estimated_inference_time": 4})", "[]", "{", ""}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

}  // namespace
}  // namespace npuscope::aihub::profile_json_test
