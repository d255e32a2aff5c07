#include "report/programs/tune_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/programs/trust.hpp"

namespace npuscope::report {
namespace {

using npu::TargetArchitecture;
using npu::TuneConfiguration;
using npu::TunePoint;
using npu::TunePrecision;
using npu::TuneRequest;

// Where the compile command writes: resnet50-aic100-fp16-batch8-cores2.
std::string output_of(const TuneRequest& request, const TuneConfiguration& configuration) {
  std::string name = request.model.stem().string() + "-" +
                     std::filesystem::path(configuration.target).stem().string();
  if (configuration.precision == TunePrecision::fp16) name += "-fp16";
  if (configuration.batch > 0) name += fmt::format("-batch{}", configuration.batch);
  if (configuration.cores > 0) name += fmt::format("-cores{}", configuration.cores);
  switch (configuration.architecture) {
    case TargetArchitecture::ipu: return name + ".img";
    case TargetArchitecture::torq: return name + ".torq";
    case TargetArchitecture::nsp: break;
  }
  return name;
}

std::string precision_choice(const TuneConfiguration& configuration) {
  return configuration.precision == TunePrecision::fp16 ? "fp16" : "model's";
}

Trust trust_of(const TuneRequest& request, const TuneConfiguration& configuration,
               const npu::TuneResult& result) {
  const bool is_float32 = result.is_float32 && configuration.precision == TunePrecision::as_given;
  return trust_in(configuration.target, {result.family, result.is_quantized, is_float32,
                                         request.mxfp6_matmul && !is_float32,
                                         request.mxint8_state && request.retained_state});
}

Section front_section(const TuneRequest& request, const npu::TuneResult& result) {
  Section section{.key = "front", .title = "FRONT, by latency"};
  const bool several = request.targets.size() > 1;
  section.table.fields = {{"target", several ? "target" : ""},
                          {"precision", "precision"},
                          {"batch", "batch", Format::count},
                          {"cores", "cores", Format::count, true, true},
                          {"activations", "activations", Format::count},
                          {"queued", "queued", Format::count},
                          {"latency_seconds", "latency", Format::seconds},
                          {"latency_99_seconds", "99 %", Format::seconds},
                          {"samples_per_second", "per second", Format::number},
                          {"judged", "judged", Format::truth, false},
                          {"compile_command", ""},
                          {"run_command", ""},
                          {"chosen", "", Format::truth}};
  for (std::size_t i = 0; i < result.front.size(); ++i) {
    const TunePoint& point = result.front[i];
    const TuneConfiguration& each = point.configuration;
    section.table.rows.push_back(
        {each.target, precision_choice(each), point.batch, if_positive(each.cores),
         each.activations, each.queued, point.latency_s, point.latency_99_s,
         point.samples_per_second, trust_of(request, each, result).is_judged,
         compile_command(request, each), run_command(request, each), result.chosen == i});
  }
  section.remarks.push_back(
      "latency: of an inference (a batch), median, from the host's queue to its result; per "
      "second: "
      "samples of all activations. Simulated on the reference NPU.");
  return section;
}

std::string goal_text(const TuneRequest& request) {
  std::string text;
  if (request.samples_per_second) {
    text = fmt::format("at least {} a second", *request.samples_per_second);
  }
  if (request.latency_s) {
    text += fmt::format("{}latency of at most {:.6g} ms", text.empty() ? "" : ", ",
                        *request.latency_s * 1e3);
  }
  if (text.empty()) return "most throughput";
  return text;
}

Section chosen_section(const TuneRequest& request, const npu::TuneResult& result) {
  const TunePoint& point = result.front[*result.chosen];
  const TuneConfiguration& each = point.configuration;
  const Trust trust = trust_of(request, each, result);
  Section section{.key = "chosen", .title = result.is_reached ? "CHOSEN" : "NEAREST"};
  section.facts = {{{"goal", "goal"}, goal_text(request)},
                   {{"reached", "reached", Format::truth}, result.is_reached},
                   {{"target", "target"}, each.target},
                   {{"precision", "precision"}, precision_choice(each)},
                   {{"batch", "batch", Format::count}, point.batch},
                   {{"cores", "cores", Format::count}, if_positive(each.cores)},
                   {{"activations", "activations", Format::count}, each.activations},
                   {{"queued", "queued", Format::count}, each.queued},
                   {{"latency_seconds", "latency", Format::seconds}, point.latency_s},
                   {{"latency_99_seconds", "99 %", Format::seconds}, point.latency_99_s},
                   {{"samples_per_second", "per second", Format::number}, point.samples_per_second},
                   {{"compile_command", ""}, compile_command(request, each)},
                   {{"run_command", ""}, run_command(request, each)}};
  section.drawing = {compile_command(request, each), run_command(request, each)};
  add_trust(section, trust);
  return section;
}

Section remainder_section(const char* key, const char* title,
                          const std::vector<npu::TuneRemainder>& list) {
  Section section{.key = key, .title = title};
  section.table.fields = {{"count", "count", Format::count}, {"what", "of"}, {"reason", "reason"}};
  for (const npu::TuneRemainder& each : list) {
    section.table.rows.push_back({each.count, each.what, each.reason});
  }
  section.table.names = 2;
  return section;
}

}  // namespace

std::string compile_command(const TuneRequest& request, const TuneConfiguration& configuration) {
  const std::string output = shell_word(output_of(request, configuration));
  std::string text =
      fmt::format("npuscope compile -m {} --target {}", shell_word(request.model.string()),
                  shell_word(configuration.target));
  for (const auto& symbol : request.import.symbols) {
    text += fmt::format(" -onnx-define-symbol={}",
                        shell_word(symbol.first + "," + request.import.text_of(symbol)));
  }
  if (request.import.allow_unknown) text += " --allow-unknown";
  if (configuration.batch > 0) {
    const bool is_ipu = configuration.architecture == TargetArchitecture::ipu;
    text += fmt::format("{}{}", is_ipu ? " --batch=" : " -batchsize=", configuration.batch);
  }
  if (configuration.architecture != TargetArchitecture::nsp) {
    if (configuration.cores > 0) text += fmt::format(" --ipu-cores {}", configuration.cores);
    return text + " -o " + output;
  }
  if (configuration.precision == TunePrecision::fp16) text += " -convert-to-fp16";
  if (request.retained_state) text += " -retained-state";
  if (request.mxfp6_matmul) text += " -mxfp6-matmul";
  if (request.mxint8_state) text += " --mxint8-kv-cache";
  return text + fmt::format(" -aic-num-cores={} -aic-binary-dir={}", configuration.cores, output);
}

std::string run_command(const TuneRequest& request, const TuneConfiguration& configuration) {
  const std::string output = shell_word(output_of(request, configuration));
  if (configuration.architecture != TargetArchitecture::nsp) return "npuscope run " + output;
  return fmt::format("npuscope run -t {} -a {} -S {}", output, configuration.activations,
                     configuration.queued);
}

std::string unreached_goal(const TuneRequest& request, const npu::TuneResult& result) {
  if (result.is_reached || !result.chosen) return "";
  const TunePoint& point = result.front[*result.chosen];
  return fmt::format(
      "nothing that was tried reaches the goal ({}); nearest: {:.6g} ms and {:.6g} a second",
      goal_text(request), point.latency_s * 1e3, point.samples_per_second);
}

Document tune_document(const TuneRequest& request, const npu::TuneResult& result) {
  Document document;
  document.sections = {front_section(request, result)};
  if (result.chosen) {
    document.sections.push_back(chosen_section(request, result));
  } else {
    document.sections.front().remarks.push_back(
        "--latency TIME or --throughput chooses one and prints its commands; --json has those of "
        "all.");
  }
  Section search{.key = "search", .title = "SEARCH"};
  search.facts = {{{"compiled", "programs compiled", Format::count}, result.compiled},
                  {{"run", "configurations run", Format::count}, result.run}};
  document.sections.push_back(std::move(search));
  if (!result.left_out.empty()) {
    document.sections.push_back(remainder_section("left_out", "NOT TRIED", result.left_out));
  }
  if (!result.refused.empty()) {
    document.sections.push_back(remainder_section("refused", "REFUSED", result.refused));
  }
  return document;
}

}  // namespace npuscope::report
