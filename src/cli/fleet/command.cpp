// npuscope fleet: a store of many runs, and questions about them.
#include "cli/fleet/fleet.hpp"

namespace npuscope::cli {

void add_store_option(CLI::App& command, std::string& store) {
  command
      .add_option("store", store,
                  "the store: a file, a folder that holds fleet.db, or clickhouse://host/database")
      ->required();
}

void add_fleet_options(CLI::App& command, FleetOptions& options) {
  add_store_option(command, options.store);
  command.add_option("--where", options.choice.where,
                     "only these runs, as SQL: \"soc = 'SM8650' AND build >= 120\"");
  command
      .add_option("--by", options.choice.by,
                  "a row for each value of these columns of runs or tags: device,build")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_page_options(command, options);
}

void add_fleet_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command =
      program.add_subcommand("fleet", "A store of thousands of runs, and questions about them");
  command->require_subcommand(1);
  add_fleet_add(*command, status);
  add_fleet_questions(*command, status);
  add_fleet_changes(*command, status);
  add_fleet_sql(*command, status);
  add_fleet_keeping(*command, status);
}

}  // namespace npuscope::cli
