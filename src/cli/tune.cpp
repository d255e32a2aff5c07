// npuscope tune: which way of compiling and running a model is best.
#include <memory>

#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/tune/tune.hpp"
#include "npuscope/base/progress.hpp"
#include "report/programs/tune_document.hpp"
#include "report/selection.hpp"

namespace npuscope::cli {
namespace {

enum class AskedPrecision : std::uint8_t { both, as_given, fp16 };

struct TuneOptions {
  std::string model, latency;
  std::vector<std::string> targets, symbols;
  AskedPrecision precision = AskedPrecision::both;
  npu::TuneRequest request;
  PageOptions page;
};

Status take(TuneOptions& options) {
  npu::TuneRequest& request = options.request;
  request.model = options.model;
  TRY(npu::parse_symbols(options.symbols, request.import));
  if (!options.latency.empty()) {
    TRY_AS(latency, report::seconds_in_text("--latency", options.latency));
    if (!(*latency > 0)) {
      return usage_error("--latency {}: must be above 0; write it like 5ms", options.latency);
    }
    request.latency_s = *latency;
  }
  if (request.samples_per_second == 0.0) return usage_error("--min-throughput 0: must be above 0");
  if (options.precision == AskedPrecision::as_given) {
    request.precision = npu::TunePrecision::as_given;
  } else if (options.precision == AskedPrecision::fp16) {
    request.precision = npu::TunePrecision::fp16;
  }
  request.targets = options.targets;
  if (request.targets.empty()) {
    TRY_AS(remembered, npu::remembered_target());
    request.targets.push_back(remembered->empty() ? "aic100" : *remembered);
  }
  if (request.targets == std::vector<std::string>{"all"}) {
    request.targets = target_names();
  }
  return {};
}

ExitStatus run(TuneOptions& options) {
  if (const Status taken = take(options); !taken) return report(taken.error());
  auto sign = std::make_unique<BusySign>("tuning");
  const auto result = npu::tune(options.request);
  sign.reset();
  if (!result) return report(result.error());
  const ExitStatus printed =
      print_answer(options.page, report::tune_document(options.request, *result), {});
  const std::string unreached = report::unreached_goal(options.request, *result);
  if (printed != ExitStatus::done || unreached.empty()) return printed;
  print(stderr, "npuscope: {}\n", unreached);
  return ExitStatus::gate_failed;
}

void add_numbers(Command& command, const char* name, std::vector<std::uint32_t>& numbers,
                 std::uint64_t max, const char* about) {
  command.flag(name, numbers, about)
      .separated_by(',')
      .one_each()
      .check(whole_number(1, max))
      .called("LIST");
}

}  // namespace

void add_tune_command(Command& program) {
  Command& command = program.command(
      "tune", "The best cores, batch, activations and precision for a model, with the commands");
  const auto options = std::make_shared<TuneOptions>();
  npu::TuneRequest& request = options->request;
  command.flag("-m,--model,model_file", options->model, "the ONNX file").required();
  command.flag("--latency", options->latency, "choose the most throughput within this: 5ms")
      .called("TIME");
  command.flag("--throughput", request.most_throughput, "choose the most throughput");
  command
      .flag("--min-throughput", request.samples_per_second,
            "choose the least latency with so many samples a second")
      .check(real_number(0, 1e12));
  command
      .flag("--target", options->targets,
            "one or several, or all: " + npu::builtin_target_names() +
                ", or .toml files; default "
                "as of compile")
      .separated_by(',')
      .one_each()
      .called("LIST");
  add_numbers(command, "--cores", request.cores, 1 << 16,
              "only so many cores; default: all counts");
  add_numbers(command, "--batch", request.batches, 1 << 16,
              "only these batches; default: the model's own and 1 to 64");
  add_numbers(command, "--activations,--instances", request.activations, 1 << 16,
              "only so many activations");
  add_numbers(command, "--queued", request.queued, 1 << 16,
              "only so many inferences queued for each activation (run -S)");
  add_choice<AskedPrecision>(command, "--precision", options->precision,
                             {{"both", AskedPrecision::both},
                              {"model", AskedPrecision::as_given},
                              {"fp16", AskedPrecision::fp16}},
                             "float32 tensors: as they are, or as fp16");
  command.flag("--onnx-define-symbol", options->symbols,
               "value of a symbolic dimension, or of an input that is one number: "
               "name,value (repeatable)");
  command.flag("--retained-state", request.retained_state,
               "X and X_RetainedState stay on the device");
  command.flag("--mxfp6-matmul", request.mxfp6_matmul, "as of compile: weights as MXFP6");
  command.flag("--mxint8-kv-cache", request.mxint8_state,
               "as of compile: retained state as MXINT8");
  command.flag("--allow-unknown", request.import.allow_unknown,
               "treat unsupported operators as elementwise instead of failing");
  options->page.top.set(30);
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.action = [options] { return run(*options); };
}

}  // namespace npuscope::cli
