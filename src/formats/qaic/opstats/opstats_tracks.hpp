// The tracks of an operator trace as units: devices, their cores, the cores' engines and DMA; and
// the host's processes and threads.
#pragma once

#include <string_view>
#include <vector>

#include "formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

struct OpstatsTrack {
  enum class Kind : std::uint8_t { host, core, engine, dma, barrier };
  Kind kind = Kind::host;
  UnitId unit = UnitId::none;
  UnitId root = UnitId::none;  // the device, or the host's process
  UnitId core = UnitId::none;
  std::uint32_t group = 0;       // in OpstatsTracks::groups
  std::uint32_t threads = 1;     // that it shows as one
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

// How many threads of a core the track of a group stands for. npuscope's own traces say so in the
// head of the file; a group of the vendor's without thread numbers has as many as the core has.
class MergedThreads {
 public:
  // `other_data`: the file's own member otherData, as JSON; `is_own`: npuscope wrote it.
  MergedThreads(std::string_view other_data, bool is_own);
  std::uint32_t of_group(std::string_view group) const;

 private:
  std::string_view told_;
  bool is_own_;
};

// Adds units, their number of threads and clocks to `profile`, whose strings are the events' own.
OpstatsTracks add_opstats_units(const std::vector<chrome::Thread>& threads,
                                const chrome::Slices& slices, const MergedThreads& merged,
                                Profile& profile);

}  // namespace npuscope::qaic
