// The low view: how busy each unit was and what it moved.
//
//   const UnitTable& table = analysis.units();
//   table.units[0].busy          // union of its work: nested and overlapping spans count once
//   table.engines[0].domain      // the busiest unit of the HVX threads: their real time
//
// Work on several units of a class runs side by side, so the busiest of them (the domain) bounds
// the time, not their sum. What an op uses decides its class, not the lane that it is drawn on.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::analysis {

// Bytes of DDR and VTCM, read and written; none where the profile does not say.
struct Traffic {
  static constexpr Route routes[] = {Route::ddr_read, Route::ddr_write, Route::vtcm_read,
                                     Route::vtcm_write};
  std::optional<double> bytes[std::size(routes)];

  // Of one of `routes`.
  std::optional<double>& of(Route route) { return bytes[std::size_t(route)]; }
  std::optional<double> of(Route route) const { return bytes[std::size_t(route)]; }
  bool known() const;
};

struct UnitRow {
  UnitId unit = UnitId::none;
  std::int64_t busy = 0;     // union of its work
  std::int64_t waiting = 0;  // union of its waits where it does not work: the sum of the next three
  std::int64_t waiting_for_dma = 0;
  std::int64_t at_syncs = 0;     // for semaphores, before an op
  std::int64_t at_barriers = 0;  // after it, for the other threads
  std::int64_t work = 0;         // sum of its work
  std::uint64_t spans = 0;       // of work
  std::optional<double> dominant_path;
  Traffic traffic;
};

struct EngineRow {
  Engine engine = Engine::none;
  std::uint32_t units = 0;  // that ran work of it
  std::int64_t domain = 0;  // the busiest of them
  std::int64_t active = 0;  // at least one of them at work
  std::int64_t work = 0;    // sum over them
  UnitId busiest = UnitId::none;
};

struct UnitTable {
  std::int64_t wall = 0;
  std::vector<UnitRow> units;           // that have work or waits, in the profile's order
  std::vector<EngineRow> engines;       // in the order of Engine
  std::optional<double> dominant_path;  // of all of them
  Traffic traffic;                      // of the whole profile
  // Where the traffic comes from: "spans", "units", "ops" or "the whole run".
  const char* traffic_source = "";
};

// A core or a device: what its units do together.
enum class UnitGrouping : std::uint8_t { core, device };
struct UnitGroupRow {
  std::string name;
  std::uint32_t units = 0;   // that work or wait
  std::uint64_t spans = 0;   // of work
  std::int64_t active = 0;   // any of them at work
  std::int64_t waiting = 0;  // any waits, none works
  std::int64_t work = 0;     // sum over them
};

// What part of each inference's wall the busiest unit of a class worked; empty for one inference.
struct SteadyUse {
  Engine engine = Engine::none;
  Spread share;
};

}  // namespace npuscope::analysis
