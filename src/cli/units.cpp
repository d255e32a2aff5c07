// npuscope units: how busy the hardware was, overlap, imbalance.
#include <map>
#include <memory>

#include "cli/documents.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::cli {
namespace {

using report::UnitsBy;

struct UnitsOptions : DocumentOptions {
  report::UnitsRequest request;
  TopRows top;
  std::string by = "unit";
};

const std::map<std::string, UnitsBy> unit_groupings{{"unit", UnitsBy::unit},
                                                    {"core", UnitsBy::core},
                                                    {"engine", UnitsBy::engine},
                                                    {"device", UnitsBy::device}};

ExitStatus units(UnitsOptions options) {
  options.request.top = options.top.of(options);
  options.request.by = unit_groupings.at(options.by);
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::units_document(analysis, options.request);
                         });
}

}  // namespace

void add_units_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "units", "How busy the hardware was, what it waited for, overlap and imbalance");
  const auto options = std::make_shared<UnitsOptions>();
  add_document_options(*command, *options);
  options->joins_runs = true;
  command->add_option("--by", options->by, "rows of units: unit, core, engine, device")
      ->check(CLI::IsMember(&unit_groupings))
      ->capture_default_str();
  options->top.add_option(*command, options->request.top, "rows of each table");
  add_part_options(*command, *options);
  command->callback([options, &status] { status = units(*options); });
}

}  // namespace npuscope::cli
