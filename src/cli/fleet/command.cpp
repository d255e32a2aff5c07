// npuscope fleet: a store of many runs, and questions about them.
#include "base/try.hpp"
#include "cli/fleet/fleet.hpp"
#include "cli/fleet_part.hpp"
#include "fleet/place/store_place.hpp"
#include "jobs/fleet/fleet_report.hpp"
#include "npuscope/base/progress.hpp"

namespace npuscope::cli {

void add_store_option(Command& command, std::string& store) {
  command
      .flag("store", store,
            "the store: a file, a folder that holds fleet.db, or clickhouse://host/database")
      .required();
}

void add_fleet_options(Command& command, FleetOptions& options) {
  add_store_option(command, options.store);
  command.flag("--where", options.choice.where,
               "only these runs, as SQL: \"soc = 'SM8650' AND build >= 120\"");
  command
      .flag("--by", options.choice.by,
            "a row for each value of these columns of runs or tags: device,build")
      .separated_by(',')
      .one_each();
  add_page_options(command, options);
}

void add_fleet_command(Command& program) {
  Command& command =
      program.command("fleet", "A store of thousands of runs, and questions about them");
  add_fleet_add(command);
  add_fleet_questions(command);
  add_fleet_changes(command);
  add_fleet_sql(command);
  add_fleet_keeping(command);
}

// What npuscope-fleet has that is no subcommand of fleet.

std::optional<ExitStatus> hand_over_to_fleet(int, char**) { return std::nullopt; }

Status add_fleet_tab(const FleetTabOptions& options, const std::string& store, std::size_t top,
                     report::ReportPage& page) {
  TRY_AS(opened, fleet::open_store(store, fleet::StoreMode::read, fleet::page_limits()));
  const BusySign busy("asking the fleet");
  TRY_AS(answers, jobs::fleet_report(**opened, {fleet::store_name(store), options.where},
                                     {options.by, options.along, top}));
  page.set_fleet(*answers);
  return {};
}

}  // namespace npuscope::cli
