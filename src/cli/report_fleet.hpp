// The tab of a fleet's store in npuscope report.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "report/html/report_page.hpp"

namespace npuscope::cli {

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

}  // namespace npuscope::cli
