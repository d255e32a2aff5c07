// The tracks of an operator trace as units: devices, their cores, the cores' engines and DMA; and
// the host's processes and threads.
#pragma once

#include <vector>

#include "npuscope/formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

struct OpstatsTrack {
  enum class Kind : std::uint8_t { host, core, engine, dma, barrier };
  Kind kind = Kind::host;
  UnitId unit = UnitId::none;
  UnitId root = UnitId::none;  // the device, or the host's process
  UnitId core = UnitId::none;
  std::uint32_t group = 0;       // in OpstatsTracks::groups
  bool is_host_process = false;  // by its name; other processes may be a device's that has no names
};

// The threads that share a queue of ops: an engine of a core, with its DMA; or a thread of the
// host.
struct OpstatsGroup {
  std::uint32_t core = 0;    // number of the core
  std::uint32_t number = 0;  // of the group within the core
};

struct OpstatsTracks {
  std::vector<OpstatsTrack> of_thread;  // as Events::threads
  std::vector<OpstatsGroup> groups;     // in the order of the units
  std::vector<std::string> labels;      // of the networks, each once
};

// Adds units and clocks to `profile`, whose strings are the events' own.
OpstatsTracks add_opstats_units(const std::vector<chrome::Thread>& threads,
                                const chrome::Slices& slices, Profile& profile);

}  // namespace npuscope::qaic
