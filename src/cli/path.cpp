// npuscope path: the critical path of an inference, slack, and what-if.
#include <memory>

#include "base/numbers.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "report/path/path_document.hpp"

namespace npuscope::cli {
namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

struct PathOptions : DocumentOptions {
  report::PathDocumentOptions path;
  std::uint32_t inference = 0;
  std::string steps;  // empty: 20 in text, all for machines
  bool vendor = false;
};

ExitStatus path(PathOptions options) {
  options.path.top = options.rows();
  if (options.steps == "all" || (options.steps.empty() && (options.json || options.csv))) {
    options.path.steps = all;
  } else if (!options.steps.empty()) {
    options.path.steps = parse_number<std::size_t>(options.steps).value_or(all);
  }
  if (options.vendor) {
    options.path.vendor_segments = options.steps.empty() ? all : options.path.steps;
  }
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::path_document(analysis, options.path);
                         });
}

Check whole_number_or_all() {
  return [](std::string& text) {
    return text == "all" ? std::string() : whole_number(1, 1'000'000)(text);
  };
}

}  // namespace

void add_path_command(Command& program) {
  Command& command = program.command(
      "path", "The critical path: what decided how long it took, slack, and what-if");
  const auto options = std::make_shared<PathOptions>();
  options->top.set(options->path.top, "rows of ops and units");
  add_document_options(command, *options);
  options->joins_runs = true;
  Flag& inference = command.flag("--inference", options->inference,
                                 "which inference; default: the one nearest the median");
  inference.check(whole_number(0, std::numeric_limits<std::uint32_t>::max() - 1));
  using analysis::Grouping;
  add_choice<Grouping>(command, "--by", options->path.grouping,
                       {{"op", Grouping::op}, {"part", Grouping::part}, {"kind", Grouping::kind}},
                       "what a row is of");
  command.flag("--steps", options->steps, "steps to print: a number, or all; default: 20")
      .check(whole_number_or_all());
  command.flag("--vendor", options->vendor,
               "also list the vendor's dominant path (QNN), segment by segment");
  command
      .flag("--faster", options->path.faster,
            "what if: PATTERN=2x, =50% of the time, =0; of ops, or unit:PATTERN")
      .one_each();
  command.flag("--slower", options->path.slower, "what if: PATTERN=2x or =150%").one_each();
  command.action = [options, &inference] {
    if (inference.is_given) options->path.inference = options->inference;
    return path(*options);
  };
}

}  // namespace npuscope::cli
