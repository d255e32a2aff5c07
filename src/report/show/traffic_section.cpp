#include "report/document/quantity.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

using namespace analysis;

Section traffic_section(const Analysis& analysis) {
  const UnitTable& units = analysis.units();
  if (!units.traffic.known()) return {};
  const Profile& profile = analysis.profile();
  const auto wall = double(units.wall);
  const auto rate = clock_rate_during(profile, analysis.coarse().timeline);
  const bool in_time = shows_time(profile, profile.base_clock);
  Section section{.key = "traffic",
                  .title = std::string("MEMORY TRAFFIC  summed over ") + units.traffic_source};
  section.facts = {{{"source"}, units.traffic_source}};
  section.table.fields = {
      {"memory", "memory"},
      {"direction", "direction"},
      {"bytes", "bytes", Format::bytes},
      {"bytes_per_tick", in_time ? "" : "bytes a cycle of wall", Format::number, true, true},
      {"bytes_per_second", "average", Format::bytes_per_second, true, true}};
  for (const Route route : Traffic::routes) {
    const auto bytes = units.traffic.of(route);
    if (!bytes) continue;
    Value per_tick, per_second;
    if (wall > 0) per_tick = *bytes / wall;
    if (wall > 0 && rate) per_second = *bytes / (wall / rate->rate.value);
    const bool of_ddr = route == Route::ddr_read || route == Route::ddr_write;
    const bool is_read = route == Route::ddr_read || route == Route::vtcm_read;
    section.table.rows.push_back(
        {of_ddr ? "DDR" : "VTCM", is_read ? "read" : "write", *bytes, per_tick, per_second});
  }
  return section;
}

}  // namespace npuscope::report
