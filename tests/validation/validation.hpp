// The reference NPU against real cards: the runs whose figures are public, and runs that nobody
// calibrated for, each beside the least time that its sizes allow by a calculation of its own.
//
//   auto outcome = run_validation_case(amber_decode_case(), *builtin_target("aic100"));
//   outcome->device_s           0.12098   (a card: 0.125106)
//   outcome->by_hand.ddr_s      0.1185    13.3 GB at 112 GB/s
//
// Everything goes the way of a user: model, compiler, device, statistics buffer, summary.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/npu/models/architecture.hpp"
#include "validation/published.hpp"

namespace npuscope::validation {

struct ValidationCase {
  std::string name;    // "Amber 7B decode"
  std::string preset;  // of npuscope-model
  npu::InputSizes sizes;
  std::uint32_t cores = 0;
  std::uint32_t stats_level = 70;
  std::uint64_t warm_up = 2;  // inferences before the one that is looked at
  npu::ModelFamily family = npu::ModelFamily::decoder;
};

// The least times that the sizes of the model allow, from closed forms: nothing of the compiler or
// the simulator is in them.
struct Roofline {
  double ddr_bytes = 0;  // weights once, state in and out
  double ddr_s = 0;      // at what the DDR sustains, or the cores can draw
  double hmx_s = 0;      // multiply-accumulates, rows padded, at the HMX's peak
  double hvx_s = 0;      // softmax and activation functions at the cost of their kernels

  double longest() const;
  std::string bound() const;  // "memory", "HMX", "HVX"
};
Roofline roofline_by_hand(const ValidationCase& run, const npu::Architecture& architecture,
                          const npu::nsp::Target& target);

struct ValidationOutcome {
  ValidationCase run;
  double device_s = 0;
  double hmx_utilization = 0;    // parts of one; mean over the cores
  double hvx_utilization = 0;    // mean over cores and threads
  double convolution_share = 0;  // of the cores' cycles, mean
  double softmax_share = 0;
  npu::nsp::CompileMetrics compiled;
  Roofline by_hand;

  std::uint64_t read_kilobytes() const;  // cores and host
  std::uint64_t constant_kilobytes() const;
  std::uint64_t write_kilobytes() const;
  std::uint64_t hoisted_kilobytes() const;  // constants that only the first inference reads
};
Result<ValidationOutcome> run_validation_case(const ValidationCase& run,
                                              const npu::nsp::Target& target);

// One figure of a real run. `real` and `ours` in the same unit; a share is in parts of one.
struct ValidationFigure {
  enum class Unit : std::uint8_t { seconds, share, kilobytes };
  std::string run;
  std::string what;
  Unit unit = Unit::seconds;
  double real = 0;
  double ours = 0;
  double tolerance = 0;  // of shares absolute, else relative to the real figure
  std::string source;

  double difference() const;
  bool met() const { return std::abs(difference()) <= tolerance; }
};

// One line of the traffic of a real run, and what npuscope counts for the same purpose.
struct TrafficLine {
  std::string run;
  std::string what;
  double real_kilobytes = 0;
  double our_kilobytes = 0;
  std::string explanation;
};

struct Validation {
  std::vector<ValidationOutcome> real;       // runs with public figures
  std::vector<ValidationOutcome> predicted;  // runs without
  std::vector<PredictedThroughput> published;
  std::vector<ValidationFigure> figures;
  std::vector<TrafficLine> traffic;
  bool all_met() const;
};

ValidationCase amber_decode_case();
ValidationCase amber_prefill_case();
ValidationCase bert_case();
std::vector<ValidationCase> predicted_cases();

// Runs of tens of seconds in all.
Result<Validation> validate(const npu::nsp::Target& target);
// The figures of the three real runs, in the order decode, prefill, BERT.
std::vector<ValidationFigure> figures_of(const ValidationOutcome& decode,
                                         const ValidationOutcome& prefill,
                                         const ValidationOutcome& bert);
std::vector<TrafficLine> reconcile(const ValidationOutcome& decode,
                                   const ValidationOutcome& prefill, const ValidationOutcome& bert);

}  // namespace npuscope::validation
