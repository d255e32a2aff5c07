// The reference NPU against the figures of real cards, with the tolerances of docs/validation.md.
#include "validation/validation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "npu/graph/semantics.hpp"
#include "report/document/document.hpp"
#include "validation/published_models.hpp"
#include "validation/validation_document.hpp"

namespace npuscope::validation::validation_test {
namespace {

const npu::nsp::Target& aic100() {
  static const npu::nsp::Target target = *npu::nsp::builtin_target("aic100");
  return target;
}

const Validation& the_validation() {
  static const Result<Validation> result = validate(aic100());
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return *result;
}

const ValidationOutcome& predicted(std::string_view name) {
  for (const ValidationOutcome& outcome : the_validation().predicted) {
    if (outcome.run.name == name) return outcome;
  }
  ADD_FAILURE() << "no run " << name;
  return the_validation().predicted.front();
}

TEST(Validation, EveryPublicFigureIsMetWithinItsTolerance) {
  ASSERT_EQ(the_validation().figures.size(), 14u);
  for (const ValidationFigure& figure : the_validation().figures) {
    EXPECT_TRUE(figure.met()) << figure.run << ", " << figure.what << ": " << figure.ours
                              << " where a card has " << figure.real;
  }
}

// How far off each is stands in the document; that it does not get worse, here.
TEST(Validation, PublishedThroughputIsPredicted) {
  ASSERT_EQ(the_validation().published.size(), published_throughputs().size());
  std::size_t within_a_tenth = 0;
  for (const PredictedThroughput& outcome : the_validation().published) {
    EXPECT_LT(std::abs(outcome.difference()), 0.25) << outcome.run.name;
    within_a_tenth += std::abs(outcome.difference()) <= 0.10;
  }
  EXPECT_GE(within_a_tenth, 8u);
}

TEST(PublishedModels, HaveTheMultiplyAccumulatesThatAreKnownOfThem) {
  const auto macs = [](const Result<npu::Graph>& graph) {
    EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
    double sum = 0;
    for (const npu::Node& node : graph->nodes)
      sum += double(npu::multiply_accumulates(*graph, node));
    return sum;
  };
  EXPECT_NEAR(macs(resnet50(1)), 4.09e9, 0.01e9);  // torchvision: 4.09
  EXPECT_NEAR(macs(resnet50(8)), 8 * 4.09e9, 0.1e9);
  EXPECT_NEAR(macs(ssd_mobilenet(1)), 1.237e9, 0.01e9);  // MLPerf: 2.47 GOPs
  EXPECT_NEAR(macs(ssd_resnet34(1)), 216.5e9, 1e9);      // MLPerf: 433 GOPs
}

TEST(Validation, TheStateIsCopiedInAndOutToTheByte) {
  const auto& prefill = the_validation().real[1];
  constexpr std::uint64_t state = 32ull * 2 * 32 * 128 * 128 * 2;
  npu::nsp::Traffic cores;
  for (const npu::nsp::CoreMetrics& core : prefill.compiled.cores) {
    const npu::nsp::Traffic& own = core.by_purpose[npu::nsp::TrafficPurpose::retained_state];
    cores.read_bytes += own.read_bytes;
    cores.write_bytes += own.write_bytes;
  }
  EXPECT_EQ(cores.read_bytes, state);
  EXPECT_EQ(cores.write_bytes, state);
  EXPECT_EQ(prefill.compiled.host[npu::nsp::TrafficPurpose::retained_state].read_bytes, state);
  EXPECT_EQ(prefill.compiled.spill_bytes, 0u);
  EXPECT_TRUE(prefill.compiled.spills.empty());
}

TEST(Validation, NoRunIsFasterThanItsRoofline) {
  for (const auto* outcomes : {&the_validation().real, &the_validation().predicted}) {
    for (const ValidationOutcome& outcome : *outcomes) {
      if (outcome.device_s == 0) continue;
      EXPECT_GE(outcome.device_s, outcome.by_hand.longest()) << outcome.run.name;
    }
  }
}

TEST(Validation, DecodersStayNearTheMemorysRoofline) {
  for (const ValidationOutcome& outcome : the_validation().predicted) {
    if (outcome.run.preset != "amber-7b") continue;
    EXPECT_EQ(outcome.by_hand.bound(), "memory") << outcome.run.name;
    EXPECT_LT(outcome.device_s, 1.06 * outcome.by_hand.longest()) << outcome.run.name;
  }
}

TEST(Validation, LongerContextsAndLargerBatchesTakeLonger) {
  EXPECT_LT(predicted("Amber 7B decode, context 128").device_s,
            predicted("Amber 7B decode, context 512").device_s);
  EXPECT_LT(predicted("Amber 7B decode, context 1024").device_s,
            predicted("Amber 7B decode, context 2048").device_s);
  EXPECT_LT(predicted("Amber 7B decode, batch 2").device_s,
            predicted("Amber 7B decode, batch 16").device_s);
}

TEST(Validation, TwiceTheCoresMakeAnEncoderNearlyTwiceAsFast) {
  const double two = the_validation().real[2].device_s;
  const double four = predicted("BERT-base batch 8, 4 cores").device_s;
  EXPECT_NEAR(two / four, 2, 0.2);
}

// 12,319 MiB of weights without the embedding table, 128 MiB of state, at 112.34 GB/s.
TEST(RooflineByHand, OfAmbersDecode) {
  const Roofline roofline =
      roofline_by_hand(amber_decode_case(), *npu::make_architecture("amber-7b", {}), aic100());
  EXPECT_EQ(roofline.ddr_bytes, 2.0 * (6'738'415'616 - 32'000 * 4096) + 2.0 * (64 << 20));
  EXPECT_NEAR(roofline.ddr_s, 0.1188, 0.0001);
  EXPECT_NEAR(roofline.hmx_s, 212'500'217'856 / (14 * 4096 * 1.45e9), 1e-9);
  EXPECT_EQ(roofline.bound(), "memory");
}

TEST(ValidationFigures, MeasureSharesInPointsAndTheRestRelatively) {
  ValidationFigure figure;
  figure.real = 0.5;
  figure.ours = 0.6;
  figure.tolerance = 0.15;
  EXPECT_FALSE(figure.met());  // seconds: 20 %
  figure.unit = ValidationFigure::Unit::share;
  EXPECT_TRUE(figure.met());  // 10 points
  figure.ours = std::nan("");
  EXPECT_TRUE(std::isnan(figure.difference()));
}

// Of a file that others go on with from `rest` on. Writes it instead where
// NPUSCOPE_WRITE_VALIDATION is set.
void expect_begins_with(const std::string& name, const std::string& current,
                        std::string_view rest) {
  const std::string path = NPUSCOPE_SOURCE_DIR "/docs/" + name;
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t others = text.find(rest);
  ASSERT_NE(others, text.npos);
  if (std::getenv("NPUSCOPE_WRITE_VALIDATION") != nullptr) {
    std::ofstream(path) << current << text.substr(others);
    return;
  }
  EXPECT_EQ(text.substr(0, others), current)
      << "write it anew: NPUSCOPE_WRITE_VALIDATION=1 ./dev test release validation";
}

TEST(ValidationDocument, IsTheOneInTheDocumentation) {
  expect_begins_with("validation.md",
                     report::document_markdown(make_validation_document(the_validation(), aic100()),
                                               "The reference NPU against real cards"),
                     "\n# Readers and pages against");
}

TEST(ValidationTable, IsTheOneThatTheProgramHolds) {
  expect_begins_with("validation.toml", judged_runs_text(the_validation(), aic100()),
                     "  # Vendors' estimates");
}

}  // namespace
}  // namespace npuscope::validation::validation_test
