// Which way of compiling and running a model is best: the configurations that a target allows are
// compiled and run on the reference NPU, and those stay that no other beats in latency and
// throughput. What `npuscope tune` does.
//
//   TuneRequest request{.model = "resnet50.onnx", .targets = {"aic100"}, .latency_s = 0.005};
//   Result<TuneResult> tuned = tune(request);
//   tuned->front.front()            the least latency: 0.83 ms, 1,190 a second
//   tuned->front[*tuned->chosen]    the most a second within 5 ms: batch 8, 1 core, 16 activations
//
// A configuration is a target, a precision, a batch, cores, activations and a length of
// the host's queues. Not each is tried:
//
//   cores       all of the target's by one, two, three … activations; none that the compiler leaves
//               some of without work
//   precision   each once at first, on all cores; only the faster is searched
//   batch       upwards, until one brings nothing to the front
//   activations   the powers of two that the cores allow, and as many as they allow
//   queue       longer, until the throughput stays
//   and none    that could be better by its bounds (the latency of one activation alone, its
//               throughput times the activations) by 1 % at most than one that was run
//
// Same request, same result. Whoever compiles and runs a point with the flags of its configuration
// gets its figures to the digit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "npu/core/target_file.hpp"
#include "npu/tune/model_facts.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu {

enum class TunePrecision : std::uint8_t {
  as_given,  // the model's own
  fp16,      // -convert-to-fp16
};

struct TuneConfiguration {
  std::string target;
  TargetArchitecture architecture = TargetArchitecture::nsp;
  TunePrecision precision = TunePrecision::as_given;
  std::uint32_t batch = 0;        // that is asked for; 0: the model's own
  std::uint32_t cores = 0;        // of each activation; 0: the target leaves no choice
  std::uint32_t activations = 1;  // at once, on cores of their own
  std::uint32_t queued = 1;       // inferences that the host keeps queued for each activation
};

struct TunePoint {
  TuneConfiguration configuration;
  std::uint32_t batch = 1;        // samples of an inference
  double latency_s = 0;           // of an inference, median: queued until its results are there
  double latency_99_s = 0;        // the 99th percentile
  double samples_per_second = 0;  // all activations together
};

// What was not run, and why.
struct TuneRemainder {
  std::uint64_t count = 0;
  std::string what;  // "batches"
  std::string reason;
};

struct TuneRequest {
  std::filesystem::path model;
  ImportOptions import = {};  // its batch is not looked at
  bool retained_state = false;
  bool mxfp6_matmul = false;  // as of compile
  bool mxint8_state = false;
  std::vector<std::string> targets = {};
  // Only these; empty: all that there are.
  std::vector<std::uint32_t> cores = {}, batches = {}, activations = {}, queued = {};
  std::optional<TunePrecision> precision = {};
  std::optional<double> latency_s = {};           // at most
  std::optional<double> samples_per_second = {};  // at least
  bool most_throughput = false;
};

struct TuneResult {
  ModelFamily family = ModelFamily::other;
  bool is_quantized = false;
  bool is_float32 = false;       // most of its weights are
  std::vector<TunePoint> front;  // by latency, least first; throughput rises
  // What was asked for; none: nothing was. Where nothing reaches it, the point that comes nearest.
  std::optional<std::size_t> chosen;
  bool is_reached = true;
  std::uint64_t compiled = 0;           // programs
  std::uint64_t run = 0;                // configurations
  std::vector<TuneRemainder> left_out;  // that cannot be better
  std::vector<TuneRemainder> refused;   // programs and runs, by the kind of the refusal
};

// A usage error for a target that does not exist, an input error for a model that cannot be read;
// where every configuration is refused, the first refusal.
Result<TuneResult> tune(const TuneRequest& request);

}  // namespace npuscope::npu
