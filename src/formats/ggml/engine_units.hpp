// The units of a session: the core itself, and with trace events its threads, the queue of the HMX
// and descriptors in flight, each only where the log has events of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

// What an event is work of.
enum class Lane : std::uint8_t { hvx, hmx, dma, wait, set_up };
Lane lane_of(std::string_view event);
Engine engine_of(Lane lane);

struct SessionUnits {
  UnitId session = UnitId::none;
  std::array<std::array<UnitId, 5>, trace_threads> of{};  // by thread and lane
};

// By session.
std::vector<SessionUnits> add_units(const Log& log, Profile& profile);

}  // namespace npuscope::ggml
