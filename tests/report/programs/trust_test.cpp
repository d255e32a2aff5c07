#include "report/programs/trust.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace npuscope::report {
namespace {

using npu::ModelFamily;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string validation_page() {
  std::ifstream file(NPUSCOPE_SOURCE_DIR "/docs/validation.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TableBelow, IsTheFirstOfItsSection) {
  const std::string page =
      "# Page\n\n## One\n\nText.\n\n| a | b |\n|---|---:|\n| x | 1 |\n| y |  |\n\n| c |\n\n## "
      "Two\n\n### Three\n| d |\n";
  EXPECT_THAT(table_below(page, "## One"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("x", "1"), ElementsAre("y", "")));
  EXPECT_THAT(table_below(page, "## Two"), IsEmpty());
  EXPECT_THAT(table_below(page, "### Three"), ElementsAre(ElementsAre("d")));
  EXPECT_THAT(table_below(page, "## Four"), IsEmpty());
}

TEST(Trust, KnowsTheFamilyOfEveryRealRun) {
  const std::string page = validation_page();
  for (const char* heading : {"## Real runs", "## Predictions: throughput that was published"}) {
    const auto table = table_below(page, heading);
    if (table.empty() && page.find(heading) == page.npos) continue;
    ASSERT_GT(table.size(), 1U);
    ASSERT_THAT(table.front(), testing::Contains("difference"));
    for (std::size_t i = 1; i < table.size(); ++i) {
      if (table.front().at(1) == "figure" && table[i].at(1) != "device time") continue;
      bool known = false;
      for (const FamilyOfRun& each : families_of_runs()) known |= each.run == table[i].front();
      EXPECT_TRUE(known) << table[i].front();
    }
  }
}

TEST(Trust, SaysHowFarRunsOfTheFamilyWereOff) {
  const Trust decoder = trust_in("aic100", {.family = ModelFamily::decoder});
  EXPECT_TRUE(decoder.is_judged);
  EXPECT_GE(decoder.runs, 1U);
  EXPECT_LE(*decoder.least, *decoder.most);
  EXPECT_THAT(decoder.statement, StartsWith("device time against a real card: "));
  EXPECT_THAT(decoder.statement, HasSubstr("(Amber 7B decode); figures of the target were taken"));
  const Trust images = trust_in("aic100", {.family = ModelFamily::convolutional});
  EXPECT_FALSE(images.is_judged);
  EXPECT_THAT(images.statement,
              StartsWith("not judged: docs/validation.md has no real run of a "
                         "convolutional fp16 network; of others: Amber 7B decode"));
}

TEST(Trust, HasNoneOfFloat32) {
  for (const char* target : {"aic100", "htp-v73"}) {
    EXPECT_EQ(trust_in(target, {.family = ModelFamily::encoder, .is_float32 = true}).statement,
              std::string("not judged: docs/validation.md has no float32 network on ") + target);
  }
}

TEST(Trust, TakesPredictionsOfThePrecision) {
  for (const bool is_quantized : {false, true}) {
    const Trust trust =
        trust_in("htp-v73", {.family = ModelFamily::convolutional, .is_quantized = is_quantized});
    EXPECT_TRUE(trust.is_judged);
    EXPECT_GT(trust.runs, 3U);
    EXPECT_LT(*trust.least, 0);
    EXPECT_GT(*trust.most, 0);
    EXPECT_THAT(trust.statement, HasSubstr(is_quantized ? "int8 networks" : "fp16 networks"));
  }
}

TEST(Trust, CountsTorqsNetworks) {
  for (const char* target : {"torq-sl2610", "torq-sr200"}) {
    const Trust trust =
        trust_in(target, {.family = ModelFamily::convolutional, .is_quantized = true});
    EXPECT_TRUE(trust.is_judged) << target;
    EXPECT_GT(trust.runs, 2U);
    EXPECT_THAT(trust.statement, HasSubstr("int8 networks within 25 %"));
  }
}

TEST(Trust, SaysWhereNothingJudges) {
  for (const char* target : {"htp-v75", "htp-v79", "ipu-muffin", "own.toml"}) {
    EXPECT_EQ(trust_in(target, {.family = ModelFamily::encoder}).statement,
              std::string("not judged: docs/validation.md has nothing on ") + target);
  }
}

}  // namespace
}  // namespace npuscope::report
