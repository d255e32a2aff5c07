// tests/fuzz/open/genie.json has the form that Qualcomm's documentation states, with numbers made
// up here.
#include "formats/genie/profile_json.hpp"

#include <gmock/gmock.h>

namespace npuscope::genie::profile_json_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Pair;

Result<Profile> read(const std::string& text) {
  auto source = open_byte_source(text, "profile.json");
  return read_profile_json(**source);
}

Profile profile_of_events(const std::string& events) {
  auto profile = read(R"({"header": {"artifact_type": "GENIE_PROFILE"}, "components": [)"
                      R"({"name": "d", "type": "dialog", "events": [)" +
                      events + "]}]}");
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? std::move(*profile) : Profile{};
}

std::vector<std::pair<std::string, double>> numbers_of(const Profile& profile,
                                                       std::uint32_t instance) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const Measure& each : profile.measures) {
    if (each.instance == instance) numbers.emplace_back(profile.text(each.what), each.value);
  }
  return numbers;
}

TEST(Genie, TwoQueriesOfADialog) {
  auto source =
      open_byte_source(std::filesystem::path(NPUSCOPE_SOURCE_DIR "/tests/fuzz/open/genie.json"));
  const auto opened = read_profile_json(**source);
  ASSERT_TRUE(opened) << opened.error().message;
  const Profile& profile = *opened;
  EXPECT_THAT(profile.spans.start, ElementsAre(1269000, 5474400));
  EXPECT_THAT(profile.spans.duration, ElementsAre(4205312, 4180000));
  EXPECT_THAT(profile.spans.instance, ElementsAre(0u, 1u));
  ASSERT_EQ(profile.phases.size(), 4u);
  EXPECT_EQ(profile.text(profile.phases[0].name), "GenieDialog_create");
  EXPECT_EQ(profile.phases[0].start, 0);
  EXPECT_EQ(profile.phases[3].start + profile.phases[3].duration, 9673899);
  EXPECT_THAT(numbers_of(profile, every_instance),
              ElementsAre(Pair("initialisation, GenieDialog_create", 1267000)));
  EXPECT_THAT(
      numbers_of(profile, 1),
      ElementsAre(Pair("prompt tokens", 702), Pair("prompt tokens per second", 2160),
                  Pair("time to first token", 325000), Pair("generated tokens", 100),
                  Pair("generated tokens per second", 25.94), Pair("token generation", 3855050)));
  EXPECT_EQ(profile.text(profile.units[0].name), "dialog dialog0");
}

TEST(Genie, TimesAreInTheUnitThatTheyState) {
  const Profile profile = profile_of_events(
      R"({"type": "GenieDialog_query", "duration": 9, "start": 5,
          "time-to-first-token": {"value": 2, "unit": "ms"},
          "token-generation-time": {"value": 2, "unit": "fortnights"},
          "new-time": {"value": 3, "unit": "us"}, "new-count": {"value": 4, "unit": ""},
          "kv-cache-size": {"value": 3, "unit": "MB"}})");
  EXPECT_THAT(numbers_of(profile, 0),
              ElementsAre(Pair("time to first token", 2000), Pair("new-time", 3),
                          Pair("new-count", 4), Pair("kv-cache-size in MB", 3)));
  EXPECT_THAT(profile.notes,
              Contains(Field(&Note::message, HasSubstr("in a unit that is not known"))));
}

TEST(Genie, DurationsWithAPointWereNoCalls) {
  EXPECT_THAT(profile_of_events(R"({"type": "GenieDialog_query", "duration": 5.0, "start": 1.0})")
                  .spans.duration,
              ElementsAre(5));
}

TEST(Genie, APipelineAndAnEmbeddingAreQueriesToo) {
  const Profile profile = profile_of_events(
      R"({"type": "GeniePipeline_create", "duration": 3, "start": 0},
         {"type": "GeniePipeline_execute", "duration": 7, "start": 3},
         {"type": "GenieEmbedding_generate", "duration": 8, "start": 10})");
  EXPECT_THAT(profile.spans.duration, ElementsAre(7, 8));
  EXPECT_EQ(profile.provenance.inferences, 2u);
}

TEST(Genie, WhatIsNoCallIsLeftOutAndCounted) {
  const Profile profile = profile_of_events(
      R"({"type": "GenieDialog_query", "duration": -1, "start": 0}, 7,
         {"duration": 4}, {"type": "GenieDialog_query", "duration": 1e40},
         {"type": "GenieDialog_query", "duration": 9, "num-prompt-tokens": {"value": "many"}})");
  EXPECT_THAT(profile.spans.duration, ElementsAre(9));
  EXPECT_THAT(profile.notes,
              Contains(testing::AllOf(Field(&Note::message, HasSubstr("calls without a name")),
                                      Field(&Note::count, 4u))));
  EXPECT_THAT(profile.notes, Contains(Field(&Note::message, HasSubstr("numbers of calls"))));
}

TEST(Genie, NothingToSayIsRefused) {
  for (const char* text :
       {R"({"components": []})", R"({"components": [{"events": []}, 4]})", "[]", "{", ""}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

}  // namespace
}  // namespace npuscope::genie::profile_json_test
