// The runs: those of public notebooks with their figures, and those nobody calibrated for.
#include "validation/validation.hpp"

namespace npuscope::validation {
namespace {

// Files of quic/cloud-ai-sdk, tutorials/NLP: the notebooks Profiler-LLM (SDK 1.12) and
// Profiler-Intermediate (SDK 1.10).
constexpr const char* decode_log = "compiler log, decode, SDK 1.12";
constexpr const char* decode_summary = "opstats of core 9, decode, SDK 1.12";
constexpr const char* prefill_log = "compiler log, prefill, SDK 1.12";
constexpr const char* bert_log = "compiler log, SDK 1.10";
constexpr const char* bert_summary = "opstats of core 0, SDK 1.10";

using FigureUnit = ValidationFigure::Unit;

double kilobytes(std::uint64_t bytes) { return double(bytes) / 1024; }

npu::nsp::Traffic of_cores(const ValidationOutcome& outcome, npu::nsp::TrafficPurpose purpose) {
  npu::nsp::Traffic sum;
  for (const npu::nsp::CoreMetrics& core : outcome.compiled.cores) {
    sum.read_bytes += core.by_purpose[purpose].read_bytes;
    sum.write_bytes += core.by_purpose[purpose].write_bytes;
  }
  return sum;
}

}  // namespace

ValidationCase amber_decode_case() { return {"Amber 7B decode", "amber-7b", {1, 1, 128}, 14}; }

// Compiled as in the notebook: without statistics.
ValidationCase amber_prefill_case() {
  return {"Amber 7B prefill 32", "amber-7b", {1, 32, 128}, 14, 0};
}

ValidationCase bert_case() {
  return {"BERT-base batch 8", "bert-base", {8, 128, 0}, 2, 70, 20, npu::ModelFamily::encoder};
}

std::vector<ValidationCase> predicted_cases() {
  std::vector<ValidationCase> cases{
      {"BERT-base batch 8, 1 core", "bert-base", {8, 128, 0}, 1, 70, 20},
      {"BERT-base batch 8, 4 cores", "bert-base", {8, 128, 0}, 4, 70, 20},
      {"Amber 7B prefill 32, context 128", "amber-7b", {1, 32, 128}, 14},
      {"Amber 7B prefill 128, context 128", "amber-7b", {1, 128, 128}, 14},
  };
  for (const std::int64_t context : {128, 512, 1024, 2048}) {
    cases.push_back(
        {"Amber 7B decode, context " + std::to_string(context), "amber-7b", {1, 1, context}, 14});
  }
  for (const std::int64_t batch : {2, 4, 8, 16}) {
    cases.push_back(
        {"Amber 7B decode, batch " + std::to_string(batch), "amber-7b", {batch, 1, 128}, 14});
  }
  return cases;
}

std::vector<ValidationFigure> figures_of(const ValidationOutcome& decode,
                                         const ValidationOutcome& prefill,
                                         const ValidationOutcome& bert) {
  const auto beyond = double(prefill.read_kilobytes() - prefill.constant_kilobytes());
  const auto written = double(prefill.write_kilobytes());
  return {
      {decode.run.name, "device time", FigureUnit::seconds, 0.125106, decode.device_s, 0.10,
       decode_summary},
      {decode.run.name, "HMX utilisation", FigureUnit::share, 0.0385, decode.hmx_utilization, 0.02,
       decode_summary},
      {decode.run.name, "HVX utilisation", FigureUnit::share, 0.0101, decode.hvx_utilization, 0.02,
       decode_summary},
      {decode.run.name, "DDR read, constant only", FigureUnit::kilobytes, 12'889'560,
       double(decode.constant_kilobytes()), 0.01, decode_log},
      {prefill.run.name, "DDR read, constant only", FigureUnit::kilobytes, 12'888'376,
       double(prefill.constant_kilobytes()), 0.01, prefill_log},
      {prefill.run.name, "DDR read beyond constants", FigureUnit::kilobytes, 131'135, beyond, 0.01,
       prefill_log},
      {prefill.run.name, "DDR write", FigureUnit::kilobytes, 131'135, written, 0.01, prefill_log},
      {prefill.run.name, "read beyond constants = write", FigureUnit::kilobytes, written, beyond,
       0.01, "both sides of npuscope's own"},
      {bert.run.name, "device time", FigureUnit::seconds, 0.0231603, bert.device_s, 0.15,
       bert_summary},
      {bert.run.name, "HMX utilisation", FigureUnit::share, 0.5477, bert.hmx_utilization, 0.08,
       bert_summary},
      {bert.run.name, "HVX utilisation", FigureUnit::share, 0.6052, bert.hvx_utilization, 0.08,
       bert_summary},
      {bert.run.name, "convolution, share of cycles", FigureUnit::share, 0.5467,
       bert.convolution_share, 0.08, bert_summary},
      {bert.run.name, "softmax, share of cycles", FigureUnit::share, 0.1587, bert.softmax_share,
       0.08, bert_summary},
      {bert.run.name, "DDR read", FigureUnit::kilobytes, 168'941, double(bert.read_kilobytes()),
       0.03, bert_log},
  };
}

std::vector<TrafficLine> reconcile(const ValidationOutcome& decode,
                                   const ValidationOutcome& prefill,
                                   const ValidationOutcome& bert) {
  using enum npu::nsp::TrafficPurpose;
  const npu::nsp::PurposeTraffic& host = prefill.compiled.host;
  const npu::nsp::Traffic state = of_cores(prefill, retained_state);
  const npu::nsp::Traffic output = of_cores(prefill, network_output);
  const std::string& run = prefill.run.name;
  std::vector<TrafficLine> lines{
      {run, "read by cores: state", 65'536, kilobytes(state.read_bytes),
       "32 layers x key and value x 32 heads x 128 tokens x 128 x 2 bytes"},
      {run, "read by cores: input", 0, kilobytes(of_cores(prefill, network_input).read_bytes),
       "token numbers and positions; the card multicasts them"},
      {run, "read by the host port: state", 65'536, kilobytes(host[retained_state].read_bytes),
       "the updated state, copied out"},
      {run, "read by the host port: output", 62, kilobytes(host[network_output].read_bytes),
       "logits of one token: 32,000 x 2 bytes"},
      {run, "written by the host port: state", 65'536, kilobytes(host[retained_state].write_bytes),
       "the state, copied in"},
      {run, "written by cores: state", 65'536, kilobytes(state.write_bytes),
       "ScatterND puts out all of its state"},
      {run, "written by cores: output", 62, kilobytes(output.write_bytes), "the logits"},
      {run, "spill", 0, kilobytes(of_cores(prefill, spill).write_bytes),
       "no activation leaves VTCM: what the notebook calls spill is the state"},
  };
  const std::string& other = decode.run.name;
  const double buffer = kilobytes(decode.compiled.statistics_bytes);
  lines.push_back({other, "statistics buffer, once", 27'784, buffer,
                   "npuscope's buffer has a layout and a number of records of its own"});
  lines.push_back({other, "statistics buffer, as counted", 388'976,
                   kilobytes(of_cores(decode, npu::nsp::TrafficPurpose::statistics).write_bytes),
                   "the vendor's table counts all of the buffer for each of 14 cores, npuscope "
                   "what each core writes of it"});
  lines.push_back({other, "state, read and written by cores", 131'072,
                   kilobytes(of_cores(decode, retained_state).read_bytes +
                             of_cores(decode, retained_state).write_bytes),
                   "as in prefill"});
  constexpr const char* first_only = "constants, first inference only";
  lines.push_back(
      {other, first_only, 21'214, double(decode.hoisted_kilobytes()), "what then stays in VTCM"});
  lines.push_back({run, first_only, 22'445, double(prefill.hoisted_kilobytes()),
                   "the same; how much of VTCM they may have is taken from decode"});
  lines.push_back({bert.run.name, first_only, 0, double(bert.hoisted_kilobytes()),
                   "activations leave no room for any"});
  return lines;
}

}  // namespace npuscope::validation
