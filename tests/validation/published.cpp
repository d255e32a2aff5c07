#include "validation/published.hpp"

#include <algorithm>

#include "npu/graph/import_onnx.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"
#include "validation/published_models.hpp"

namespace npuscope::validation {
namespace {

// Results of MLPerf Inference, closed division, in the repositories
// mlcommons/inference_results_v1.0 and _v1.1; how the networks were compiled, and what the harness
// reads of the card, in krai/ck-qaic of September 2021. Cards of 75 W.
constexpr const char* offline_five = "v1.0, 5 cards: 100,077 / 5";
constexpr const char* server_sixteen = "v1.1 server, 16 cards: 310,064 / 16";
constexpr const char* offline_sixteen_images = "v1.1, 16 cards: 342,011 / 16";
constexpr const char* offline_one = "v1.1, one card";
constexpr const char* offline_sixteen_questions = "v1.1, 16 cards: 10,601.9 / 16";
constexpr const char* offline_sixteen_exact = "v1.1, 16 cards: 5,508.44 / 16";
// quic/cloud-ai-sdk-pages, blogs/Microscaling, table 1: the Standard card (14 cores), one sequence,
// context 2048.
constexpr const char* microscaling = "Microscaling blog, Standard card";
// blogs/AmberChat: the same card and context; Amber 7B has Llama's architecture.
constexpr const char* amber_chat = "AmberChat blog, Standard card";

// Questions in one input of 384 tokens: those of SQuAD 1.1 are 172.0 tokens long in the mean
// (graphcore/examples, packedBERT/histograms.py), and the submissions pack several into one input.
constexpr double packed_questions = 384 / 172.04;

struct Decoder {
  std::int64_t hidden, layers, heads, feed_forward, vocabulary;
};

// Of published decoders without a gate: a feed-forward network with one has three matrices where
// they have two, so two thirds of the width make as many weights.
Result<npu::Graph> decoder(const Decoder& sizes) {
  npu::ArchitectureChanges changes;
  changes.hidden_size = sizes.hidden;
  changes.layers = sizes.layers;
  changes.heads = sizes.heads;
  changes.feed_forward_size = (sizes.feed_forward * 2 / 3 + 16) / 32 * 32;
  changes.vocabulary_size = sizes.vocabulary;
  const auto architecture = npu::make_architecture("decoder", changes);
  if (!architecture) return tl::unexpected(architecture.error());
  const auto model = npu::generate_onnx(*architecture, {1, 1, 2048}, {});
  if (!model) return tl::unexpected(model.error());
  return npu::import_onnx(as_byte_span(model->bytes), "decoder", {});
}

Result<npu::Graph> amber() {
  const auto architecture = npu::make_architecture("amber-7b", {});
  if (!architecture) return tl::unexpected(architecture.error());
  const auto model = npu::generate_onnx(*architecture, {1, 1, 2048}, {});
  if (!model) return tl::unexpected(model.error());
  return npu::import_onnx(as_byte_span(model->bytes), "amber", {});
}

Result<npu::Graph> bert_large(bool int8_products) {
  npu::ArchitectureChanges changes;
  changes.hidden_size = 1024;
  changes.layers = 24;
  changes.heads = changes.key_value_heads = 16;
  changes.feed_forward_size = 4096;
  const auto architecture = npu::make_architecture("bert-base", changes);
  if (!architecture) return tl::unexpected(architecture.error());
  const auto model = npu::generate_onnx(*architecture, {1, 384, 0}, {});
  if (!model) return tl::unexpected(model.error());
  const std::string bytes = int8_products ? with_int8_products(model->bytes) : model->bytes;
  return npu::import_onnx(as_byte_span(bytes), "bert-large", {});
}

}  // namespace

std::vector<PublishedThroughput> published_throughputs() {
  const auto images = [] { return resnet50(8); };
  const PublishedThroughput resnet{.name = "ResNet-50 int8",
                                   .family = npu::ModelFamily::convolutional,
                                   .compiled = "batch 8, 8 cores x 2, -ols=4",
                                   .model = images,
                                   .int8 = true,
                                   .overlap_split = 4,
                                   .cores = 8,
                                   .activations = 2,
                                   .samples = 8,
                                   .first = 13'028};
  const auto resnet_with = [&](double published, const char* source) {
    PublishedThroughput run = resnet;
    run.published = published;
    run.source = source;
    return run;
  };
  const auto bert_with = [](bool int8, double published, const char* source) {
    return PublishedThroughput{
        .name = int8 ? "BERT-Large 384, int8 products" : "BERT-Large 384 fp16",
        .family = npu::ModelFamily::encoder,
        .compiled = int8 ? "packed, 4 cores x 4" : "packed, 4 cores x 4, -mos=4",
        .model = [=] { return bert_large(int8); },
        .int8 = int8,
        .fp16 = true,
        .channel_split = int8 ? 1u : 4u,
        .cores = 4,
        .activations = 4,
        .samples = packed_questions,
        .published = published,
        .first = int8 ? 491.0 : 330.0,
        .source = source};
  };
  const auto decoder_with = [](const char* name, const Decoder& sizes, double published,
                               double first) {
    return PublishedThroughput{.name = name,
                               .family = npu::ModelFamily::decoder,
                               .compiled = "one token, context 2048, 14 cores",
                               .model = [=] { return decoder(sizes); },
                               .fp16 = true,
                               .retained_state = true,
                               .cores = 14,
                               .published = published,
                               .first = first,
                               .source = microscaling};
  };
  const auto packed = [](PublishedThroughput run) {
    run.mxfp6 = true;
    return run;
  };
  const Decoder gpt_j{4096, 28, 16, 16'384, 50'400}, opt{2560, 32, 32, 10'240, 50'272},
      opt_13b{5120, 40, 40, 20'480, 50'272};
  PublishedThroughput amber_chat_run = decoder_with("Amber 7B mxfp6", {}, 14.9, 14.59);
  amber_chat_run.model = amber;
  amber_chat_run.source = amber_chat;
  return {
      resnet_with(20'015.4, offline_five),
      resnet_with(19'379.0, server_sixteen),
      resnet_with(21'375.7, offline_sixteen_images),
      resnet_with(22'667, offline_one),
      {.name = "SSD-ResNet34 int8",
       .family = npu::ModelFamily::convolutional,
       .compiled = "batch 1, 1 core x 16, depth first",
       .model = [] { return ssd_resnet34(1); },
       .int8 = true,
       .fp16 = true,
       .depth_first = true,
       .cores = 1,
       .activations = 16,
       .published = 435.026,
       .first = 187,
       .source = offline_one},
      {.name = "SSD-MobileNet int8",
       .family = npu::ModelFamily::convolutional,
       .compiled = "batch 4, 1 core x 16, -ols=2",
       .model = [] { return ssd_mobilenet(4); },
       .int8 = true,
       .overlap_split = 2,
       .cores = 1,
       .activations = 16,
       .samples = 4,
       .published = 19'363.8,
       .first = 22'222,
       .source = offline_one},
      bert_with(true, 670.908, offline_one),
      bert_with(true, 662.6, offline_sixteen_questions),
      bert_with(false, 344.28, offline_sixteen_exact),
      decoder_with("GPT-J 6B fp16", gpt_j, 8.08, 8.11),
      decoder_with("OPT 2.7B fp16", opt, 15.44, 16.80),
      packed(decoder_with("GPT-J 6B mxfp6", gpt_j, 13.9, 15.25)),
      packed(decoder_with("OPT 2.7B mxfp6", opt, 27.72, 32.32)),
      packed(decoder_with("OPT 13B mxfp6", opt_13b, 6.98, 8.36)),
      packed(amber_chat_run),
  };
}

Result<PredictedThroughput> run_published(const PublishedThroughput& run,
                                          const npu::nsp::Target& target) {
  const auto graph = run.model();
  if (!graph) return tl::unexpected(graph.error());
  npu::nsp::CompileOptions options;
  options.cores = run.cores;
  options.convert_to_fp16 = run.fp16;
  options.retained_state = run.retained_state;
  options.mxfp6_matmul = run.mxfp6;
  options.layer_by_layer = !run.depth_first;
  options.overlap_split = run.overlap_split;
  options.channel_split = run.channel_split;
  const auto network = npu::nsp::compile_network(*graph, target, options);
  if (!network) return tl::unexpected(network.error());
  npu::nsp::SimulationOptions simulation;
  simulation.activations = run.activations;
  simulation.inferences = run.retained_state ? 6 : 30;
  const auto simulated = npu::nsp::simulate(network->program, target, simulation);
  if (!simulated) return tl::unexpected(simulated.error());
  const auto& inferences = simulated->inferences;  // by completion
  const std::size_t cold = inferences.size() / 3, end = inferences.size() - run.activations;
  const double seconds =
      double((inferences[end].completed - inferences[cold].completed).value) * 1e-12;
  return PredictedThroughput{run, run.samples * double(end - cold) / seconds};
}

}  // namespace npuscope::validation
