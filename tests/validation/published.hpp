// Throughput of one Cloud AI 100 card as it was published, next to what the reference NPU gives for
// the same network, compiled as it was for the submission. Nothing of the target was taken from
// these figures: they are predictions.
//
//   auto outcome = run_published(published_throughputs().front(), *builtin_target("aic100"));
//   outcome->samples_per_s     a card: 22,667 images of ResNet-50
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npu/tune/model_facts.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::validation {

struct PublishedThroughput {
  std::string name;  // "ResNet-50 int8, offline"
  npu::ModelFamily family = npu::ModelFamily::other;
  std::string compiled;  // "batch 8, 8 cores x 2"
  std::function<Result<npu::Graph>()> model;
  bool int8 = false;  // its products
  bool fp16 = false;  // what is floating point
  bool retained_state = false;
  bool mxfp6 = false;  // weights
  // What the submission told the compiler beyond that.
  bool depth_first = false;
  std::uint32_t overlap_split = 1;  // -ols
  std::uint32_t channel_split = 1;  // -mos
  std::uint32_t cores = 0;          // of an activation
  std::uint32_t activations = 1;    // on one card
  double samples = 1;               // images, questions, tokens that an inference answers
  double published = 0;             // of them, a second
  double first = 0;                 // what npuscope said before it was compared
  std::string source = {};
};

struct PredictedThroughput {
  PublishedThroughput run;
  double samples_per_s = 0;
  double difference() const { return samples_per_s / run.published - 1; }
};

std::vector<PublishedThroughput> published_throughputs();
// Warm inferences, all activations at once, the host's part included.
Result<PredictedThroughput> run_published(const PublishedThroughput& run,
                                          const npu::nsp::Target& target);

}  // namespace npuscope::validation
