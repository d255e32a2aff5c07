// npuscope units: how busy the hardware was, overlap, imbalance.
#include <memory>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::cli {
namespace {

using report::UnitsBy;

struct UnitsOptions : DocumentOptions {
  report::UnitsRequest request;
};

const std::vector<Choice<UnitsBy>> unit_groupings{{"unit", UnitsBy::unit},
                                                  {"core", UnitsBy::core},
                                                  {"engine", UnitsBy::engine},
                                                  {"device", UnitsBy::device}};

ExitStatus units(UnitsOptions options) {
  options.request.top = options.rows();
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::units_document(analysis, options.request);
                         });
}

}  // namespace

void add_units_command(Command& program) {
  Command& command = program.command(
      "units", "How busy the hardware was, what it waited for, overlap and imbalance");
  const auto options = std::make_shared<UnitsOptions>();
  options->top.set(options->request.top);
  add_document_options(command, *options);
  options->joins_runs = true;
  add_choice(command, "--by", options->request.by, unit_groupings, "what a row is of");
  add_part_options(command, *options);
  command.action = [options] { return units(*options); };
}

}  // namespace npuscope::cli
