// What npuscope-fleet has that is no subcommand of fleet.
#include "cli/fleet_part.hpp"
#include "fleet/place/store_place.hpp"
#include "jobs/fleet/fleet_report.hpp"
#include "npuscope/base/progress.hpp"

namespace npuscope::cli {

std::optional<ExitStatus> hand_over_to_fleet(int, char**) { return std::nullopt; }

Status add_fleet_tab(const FleetTabOptions& options, const std::string& store, std::size_t top,
                     report::ReportPage& page) {
  auto opened = fleet::open_store(store, fleet::StoreMode::read, fleet::page_limits());
  if (!opened) return tl::unexpected(opened.error());
  const BusySign busy("asking the fleet");
  const auto answers = jobs::fleet_report(**opened, {fleet::store_name(store), options.where},
                                          {options.by, options.along, top});
  if (!answers) return tl::unexpected(answers.error());
  page.set_fleet(*answers);
  return {};
}

}  // namespace npuscope::cli
