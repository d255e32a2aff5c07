#include "cli/fleet_part.hpp"

#include <algorithm>

#include "fleet/place/store_place.hpp"

namespace npuscope::cli {

void add_fleet_tab_options(Command& command, FleetTabOptions& options) {
  command.flag("--where", options.where, "of a store: only these runs, as SQL");
  command
      .flag("--by", options.by,
            "of a store: what latencies are of: device, model, a tag; several with commas")
      .separated_by(',')
      .one_each();
  command.flag("--along", options.along,
               "of a store: what orders its runs for changes of ops; else the tag build");
}

std::vector<std::string> take_stores(std::vector<std::string>& files) {
  std::vector<std::string> stores;
  const auto is_store = [](const std::string& file) { return fleet::is_store(file); };
  std::copy_if(files.begin(), files.end(), std::back_inserter(stores), is_store);
  files.erase(std::remove_if(files.begin(), files.end(), is_store), files.end());
  return stores;
}

Status check_fleet_tab(const FleetTabOptions& options, const std::vector<std::string>& stores) {
  if (stores.size() > 1) {
    return usage_error("{} and {}: two stores; a report has one", fleet::store_name(stores[0]),
                       fleet::store_name(stores[1]));
  }
  const bool asks = !options.where.empty() || !options.by.empty() || !options.along.empty();
  if (stores.empty() && asks) {
    return usage_error("--where, --by and --along choose runs of a fleet's store; name one");
  }
  return {};
}

}  // namespace npuscope::cli
