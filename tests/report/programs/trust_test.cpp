#include "report/programs/trust.hpp"

#include <gmock/gmock.h>

#include "report/programs/judged_runs.hpp"

namespace npuscope::report {
namespace {

using npu::ModelFamily;
using testing::HasSubstr;
using testing::StartsWith;

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

TEST(Trust, OfPackedWeightsIsThatOfRunsWithThem) {
  const Trust plain = trust_in("aic100", {.family = ModelFamily::decoder});
  const Trust packed = trust_in("aic100", {.family = ModelFamily::decoder, .has_mxfp6 = true});
  EXPECT_TRUE(packed.is_judged);
  EXPECT_EQ(packed.runs, 4u);
  EXPECT_THAT(packed.statement, StartsWith("throughput against what was published of cards: "));
  EXPECT_THAT(packed.statement, HasSubstr("Amber 7B mxfp6"));
  EXPECT_NE(plain.statement, packed.statement);
  EXPECT_THAT(trust_in("aic100", {.family = ModelFamily::decoder, .has_mxint8 = true}).statement,
              testing::EndsWith("; state in MXINT8 is judged by none of these"));
}

TEST(Trust, CountsTorqsNetworks) {
  for (const char* target : {"torq-sl2610", "torq-sr200"}) {
    const Trust trust =
        trust_in(target, {.family = ModelFamily::convolutional, .is_quantized = true});
    EXPECT_TRUE(trust.is_judged) << target;
    EXPECT_GT(trust.runs, 2U);
    EXPECT_THAT(trust.statement, HasSubstr("int8 networks that were predicted"));
  }
}

TEST(Trust, SaysWhereNothingJudges) {
  for (const char* target : {"htp-v75", "htp-v79", "ipu-muffin", "own.toml"}) {
    EXPECT_EQ(trust_in(target, {.family = ModelFamily::encoder}).statement,
              std::string("not judged: docs/validation.md has nothing on ") + target);
  }
}

TEST(JudgedRuns, AreThoseOfTheTableWhichTheProgramHolds) {
  ASSERT_GT(judged_runs().size(), 300U);
  for (const JudgedRun& run : judged_runs()) EXPECT_GT(run.reference, 0) << run.run;
}

TEST(JudgedRuns, ComeBackAsTheyWereWritten) {
  const JudgedRun run{"aic100",
                      Judge::publication,
                      "GPT-J",
                      "throughput",
                      ModelFamily::decoder,
                      "mxfp6",
                      true,
                      false,
                      13.9,
                      17.5};
  const auto again = read_judged_runs("runs = [\n" + judged_runs_toml(std::span(&run, 1)) + "]\n");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 1U);
  const JudgedRun& read = again->front();
  EXPECT_EQ(read.run, "GPT-J");
  EXPECT_EQ(read.judge, Judge::publication);
  EXPECT_EQ(read.family, ModelFamily::decoder);
  EXPECT_EQ(read.precision, "mxfp6");
  EXPECT_FALSE(read.is_fitted);
  EXPECT_DOUBLE_EQ(read.share(), 17.5 / 13.9 - 1);
}

TEST(JudgedRuns, AreOfCyclesUnlessTheySayOtherwise) {
  const auto runs = read_judged_runs(
      "runs = [{target = \"a\", run = \"r\", precision = \"p\", "
      "network = false, reference = 1, npuscope = 2}]");
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->front().judge, Judge::estimate);
  EXPECT_EQ(runs->front().figure, "cycles");
  EXPECT_EQ(runs->front().family, ModelFamily::other);
  EXPECT_FALSE(runs->front().is_fitted);
}

TEST(JudgedRuns, SayWhichKeyIsWrongAndWhere) {
  const std::string good =
      "{target = \"a\", judge = \"card\", run = \"r\", figure = \"f\", family = \"other\", "
      "precision = \"p\", network = true, fitted = true, reference = 1, npuscope = 2}";
  const auto error_of = [](const std::string& text) {
    const auto runs = read_judged_runs(text);
    return runs ? std::string("none") : runs.error().message;
  };
  EXPECT_EQ(error_of("runs = [" + good + "]"), "none");
  EXPECT_THAT(error_of("x = 1"), HasSubstr("[[runs]] is missing"));
  EXPECT_THAT(error_of("runs = [1]"), HasSubstr("must be tables"));
  EXPECT_THAT(error_of("runs = ["), StartsWith("validation.toml:1: "));
  for (const auto& [old, now, wrong] :
       {std::tuple("judge = \"card\"", "judge = \"nobody\"",
                   "'judge' must be one of: card, publication, estimate"),
        std::tuple("reference = 1", "reference = 0", "'reference' must be a number from "),
        std::tuple("network = true, ", "", "'network' is missing")}) {
    std::string bad = good;
    bad.replace(bad.find(old), std::string_view(old).size(), now);
    EXPECT_THAT(error_of("runs = [\n" + bad + "]"),
                StartsWith(fmt::format("validation.toml:2: {}", wrong)));
  }
}

}  // namespace
}  // namespace npuscope::report
