// npuscope ipu: the steps of SigmaStar's IPU tools.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/log.hpp"
#include "npuscope/base/files.hpp"
#include "report/programs/ipu_documents.hpp"

namespace npuscope::cli {
namespace {

namespace fs = std::filesystem;

// ---- op-cost

struct IpuOpCostOptions {
  std::string model, log, output;
  bool each = false, allow_partial = false;
  PageOptions page;
};

// new_<name>.json beside the timeline, as the vendor's script does.
fs::path renumbered_path(const IpuOpCostOptions& options) {
  if (!options.output.empty()) return options.output;
  const fs::path log(options.log);
  fs::path name = log.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  return log.parent_path() / ("new_" + name.string());
}

ExitStatus print_costs(const IpuOpCostOptions& options, const sigmastar::Model& model,
                       const sigmastar::OperatorCosts& costs, std::vector<Note> notes) {
  const report::Document document = report::make_op_cost_document(model, costs);
  const bool says_coverage = options.page.is_text();  // in its first line
  if (costs.is_partial() && !says_coverage) {
    notes.push_back(
        {Severity::error, options.log, 0, "the log " + sigmastar::coverage_text(costs), 1});
  }
  if (options.page.json) return print_answer(options.page, document, notes);
  for (const std::string& remark : costs.remarks) {
    notes.push_back({Severity::warning, options.log, 0, remark, 1});
  }
  if (!options.page.is_text()) {
    PageOptions page = options.page;
    if (page.table.empty()) page.table = options.each ? "operators" : "types";
    return print_answer(page, document, notes);
  }
  print(stdout, "{}",
        options.each ? report::op_cost_each_text(model, costs, options.page.rows())
                     : report::op_cost_totals_text(costs, options.page.rows()));
  print_notes(notes);
  return ExitStatus::done;
}

ExitStatus op_cost(const IpuOpCostOptions& options) {
  const auto file = MappedFile::open(options.model);
  if (!file) return report(file.error());
  const auto model = sigmastar::read_model_or_image(file->bytes(), options.model);
  if (!model) return report(model.error());
  const auto source = open_byte_source(options.log);
  if (!source) return report(source.error());
  const auto timeline = sigmastar::read_layer_timeline(**source);
  if (!timeline) return report(timeline.error());
  const auto costs = sigmastar::charge_operators(*model, timeline->layers, options.log,
                                                 {.inferences = timeline->inferences,
                                                  .is_incomplete = timeline->is_incomplete,
                                                  .allow_partial = options.allow_partial});
  if (!costs) return report(costs.error());
  const fs::path output = renumbered_path(options);
  const std::string inputs[] = {options.model, options.log};
  if (auto usable = check_output_is_no_input(inputs, output); !usable) {
    return report(usable.error());
  }
  const std::string text = sigmastar::renumbered(*timeline, costs->operator_of);
  if (auto written = write_file_atomically(output, as_byte_span(text)); !written) {
    return report(written.error());
  }
  return print_costs(options, *model, *costs, timeline->notes);
}

void add_ipu_op_cost(Command& ipu) {
  Command& command = ipu.command(
      "op-cost", "What each operator of a fixed model costs; writes new_<timeline>.json too");
  const auto options = std::make_shared<IpuOpCostOptions>();
  command
      .flag("-m,--model", options->model,
            "the fixed model (fixed.sim), or the offline model around it (sgsimg.img)")
      .required();
  command
      .flag("--ipu-log-file,--ipu_log_file", options->log,
            "the timeline, the JSON of performance_timeline.py or of npuscope ipu timeline")
      .required();
  add_choice<bool>(command, "--mode", options->each, {{"total", false}, {"each", true}},
                   "total: by type; each: every operator");
  command.flag("-o,--output", options->output,
               "the timeline with the model's indices; default: new_<name> beside it");
  command.flag("--allow-partial", options->allow_partial,
               "count a timeline that lacks layers of the model, e.g. of a log that overflowed");
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.flag("--table").describe("operators or types; default: by --mode");
  command.action = [options] { return op_cost(*options); };
}

// ---- info

struct IpuInfoOptions {
  std::string model, chip;
  PageOptions page;
};

ExitStatus info(const IpuInfoOptions& options) {
  const auto file = MappedFile::open(options.model);
  if (!file) return report(file.error());
  const auto image = sigmastar::read_image(file->bytes(), options.model);
  if (!image) return report(image.error());
  const report::Document document = report::make_image_document(*image, options.chip);
  std::vector<Note> notes;
  for (const std::string& problem : image->problems) {
    notes.push_back({Severity::error, options.model, 0, problem, 1});
  }
  if (!options.chip.empty() && !sigmastar::is_known_chip(options.chip)) {
    notes.push_back({Severity::warning, "", 0,
                     fmt::format("--soc_version {}: no chip that npuscope knows; nothing was "
                                 "derived from it",
                                 options.chip),
                     1});
  }
  const ExitStatus printed = print_answer(options.page, document, notes);
  if (printed != ExitStatus::done) return printed;
  return image->problems.empty() ? ExitStatus::done : ExitStatus::input;
}

void add_ipu_info(Command& ipu) {
  Command& command = ipu.command("info", "What an offline model (.img) says about itself");
  const auto options = std::make_shared<IpuInfoOptions>();
  command.flag("-m,--model", options->model, "the offline model, sgsimg.img").required();
  command.flag("--soc_version,--soc-version", options->chip,
               "the chip, which tells the alignment of some");
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.action = [options] { return info(*options); };
}

// ---- operators

struct IpuOperatorsOptions {
  std::string model;
  PageOptions page;
};

ExitStatus operators(const IpuOperatorsOptions& options) {
  const auto file = MappedFile::open(options.model);
  if (!file) return report(file.error());
  const auto model = sigmastar::read_model_or_image(file->bytes(), options.model);
  if (!model) return report(model.error());
  const report::Document document = report::make_ipu_operators_document(*model);
  PageOptions page = options.page;
  if (page.csv && page.table.empty()) page.table = "operators";
  return print_answer(page, document, {});
}

void add_ipu_operators(Command& ipu) {
  Command& command = ipu.command(
      "operators", "The operators of a fixed or offline model: type, tensors, fused or not");
  const auto options = std::make_shared<IpuOperatorsOptions>();
  command
      .flag("-m,--model,model", options->model,
            "the fixed model (fixed.sim), or the offline model around it (sgsimg.img)")
      .required();
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.action = [options] { return operators(*options); };
}

// ---- timeline

struct IpuTimelineOptions {
  std::vector<std::pair<std::uint32_t, std::string>> cores;  // -c0 F, as the vendor writes it
  std::string core0, core1, control, chip, layout, output = "log_ctrl0.json";
  double megahertz = 800;
  std::uint64_t log_bytes = sigmastar::default_log_bytes;
  bool layers_only = false, json = false;
};

Result<sigmastar::LogLayout> layout_of(const IpuTimelineOptions& options) {
  if (options.layout.empty() && options.chip.empty()) {
    return usage_error("-v is missing: name the chip whose log it is, or its --layout");
  }
  if (options.layout.empty()) return sigmastar::layout_of_chip(options.chip);
  TRY_AS(source, open_byte_source(options.layout));
  constexpr std::uint64_t max_bytes = 1 << 20;
  TRY_AS(text, read_all(**source, max_bytes));
  return sigmastar::parse_layout(*text, options.layout);
}

// Core and file of each log, as asked for in any way.
Result<std::vector<std::pair<std::uint32_t, std::string>>> core_files(
    const IpuTimelineOptions& options) {
  auto files = options.cores;
  if (!options.core0.empty()) files.emplace_back(0, options.core0);
  if (!options.core1.empty()) files.emplace_back(1, options.core1);
  std::sort(files.begin(), files.end());
  if (files.empty()) return usage_error("-c0 is missing: name the log of core 0");
  for (std::size_t i = 0; i + 1 < files.size(); ++i) {
    if (files[i].first != files[i + 1].first) continue;
    return usage_error("-c{0}: core {0} has two logs; name one", files[i].first);
  }
  return files;
}

// What is missing in the log becomes notes.
Result<sigmastar::CoreLog> read_log(const std::string& path, const sigmastar::LogLayout& layout,
                                    const IpuTimelineOptions& options, std::vector<Note>& notes) {
  TRY_AS(file, MappedFile::open(path));
  auto log = sigmastar::decode_log(file->bytes(), layout, path);
  if (!log) return log;
  for (const std::string& problem :
       sigmastar::problems_of(*log, file->bytes().size(), options.log_bytes)) {
    notes.push_back({Severity::warning, path, 0, problem, 1});
  }
  return log;
}

Result<sigmastar::IpuTimeline> read_logs(const IpuTimelineOptions& options,
                                         std::vector<Note>& notes) {
  TRY_AS(layout, layout_of(options));
  TRY_AS(files, core_files(options));
  std::vector<std::string> inputs;
  for (const auto& [core, path] : *files) inputs.push_back(path);
  if (!options.control.empty()) inputs.push_back(options.control);
  TRY(check_output_is_no_input(inputs, options.output));
  std::vector<sigmastar::CoreLog> cores;
  std::vector<std::uint32_t> numbers;
  for (const auto& [core, path] : *files) {
    TRY_AS(log, read_log(path, *layout, options, notes));
    cores.push_back(std::move(*log));
    numbers.push_back(core);
  }
  std::optional<sigmastar::CoreLog> control;
  if (!options.control.empty()) {
    TRY_AS(log, read_log(options.control, *layout, options, notes));
    control = std::move(*log);
  }
  constexpr double hertz_a_megahertz = 1e6;
  auto timeline = sigmastar::join_logs(std::move(cores), std::move(numbers), std::move(control),
                                       *layout, options.megahertz * hertz_a_megahertz);
  timeline.is_incomplete = !notes.empty();
  TRY(sigmastar::check_one_run(timeline));
  return timeline;
}

ExitStatus timeline(const IpuTimelineOptions& options) {
  std::vector<Note> notes;
  const auto logs = read_logs(options, notes);
  if (!logs) return report(logs.error());
  auto file = AtomicFile::create(options.output);
  if (!file) return report(file.error());
  sigmastar::write_timeline(*logs, {options.chip, options.layers_only},
                            [&](std::string_view text) { file->write(text); });
  if (auto written = file->commit(); !written) return report(written.error());
  const report::Document document = report::make_ipu_timeline_document(*logs, options.output);
  std::FILE* stream = options.output == "/dev/stdout" ? stderr : stdout;
  if (options.json) {
    print_json(stream, report::document_json(document, notes));
  } else {
    print(stream, "{}", report::document_text(document, terminal_width()));
    print_notes(notes);
  }
  return ExitStatus::done;
}

void add_ipu_timeline(Command& ipu) {
  Command& command = ipu.command("timeline", "IPU logs to a timeline for chrome://tracing");
  const auto options = std::make_shared<IpuTimelineOptions>();
  command.flag("--core0", options->core0, "the log of core 0");
  command.flag("--core1", options->core1, "the log of core 1");
  // CLI11 reads -c0 F as -c with the values 0 and F.
  command.flag("-c", options->cores, "-c0 FILE, -c1 FILE: the same as --core0, --core1").called("");
  command.flag("--cc,--corectrl", options->control, "the log of the core control");
  command.flag("-f,--frequency", options->megahertz, "of the IPU's clock, in MHz")
      .check(real_number(1, 100'000))
      .shows_usual();
  command.flag("-v,--ipu_version,--ipu-version", options->chip, "the chip, e.g. ipu-muffin");
  command.flag("--layout", options->layout, "a description of the log's records (.toml)");
  command
      .flag("--ipu_log_size,--ipu-log-size", options->log_bytes,
            "bytes of the buffer that was logged into: a log as long may be incomplete")
      .check(whole_number(1))
      .shows_usual();
  command.flag("--layers-only", options->layers_only, "without the tracks of the engines");
  command.flag("-o,--output", options->output, "the timeline").shows_usual();
  command.flag("--json", options->json, "print as JSON what was read");
  command.action = [options] { return timeline(*options); };
}

}  // namespace

void add_ipu_command(Command& program) {
  Command& ipu = program.command("ipu", "SigmaStar IPU: operator cost, offline models, logs");
  add_ipu_op_cost(ipu);
  add_ipu_info(ipu);
  add_ipu_operators(ipu);
  add_ipu_timeline(ipu);
}

}  // namespace npuscope::cli
