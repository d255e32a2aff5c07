// What a program has of fleets. npuscope has a word that starts npuscope-fleet, the program next to
// it; that one is npuscope with the commands on a fleet's store: twice the size, and compiled for a
// minute that most users never need. Each defines these, in without_fleet/ and in fleet/;
// add_fleet_command() is the third.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "report/html/report_page.hpp"

namespace npuscope::cli {

// The tab of a fleet's store in npuscope report.
struct FleetTabOptions {
  std::string where;
  std::vector<std::string> by;
  std::string along;
};

// --where, --by and --along, of a store.
void add_fleet_tab_options(Command& command, FleetTabOptions& options);

// Takes the stores out of the files that were named.
std::vector<std::string> take_stores(std::vector<std::string>& files);

// A usage error where flags of a store have none.
Status check_fleet_tab(const FleetTabOptions& options, const std::vector<std::string>& stores);

// npuscope becomes npuscope-fleet where the command line needs that: `fleet`, `report` of a store,
// `completion`, which completes the others. Returns where it does not, else the status that ends
// the program.
std::optional<ExitStatus> hand_over_to_fleet(int argc, char** argv);

Status add_fleet_tab(const FleetTabOptions& options, const std::string& store, std::size_t top,
                     report::ReportPage& page);

}  // namespace npuscope::cli
