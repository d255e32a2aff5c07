// What a number is, as far as only its name tells: the one place that reads names of measures.
//
//   traffic_named("DDR write (bytes)")                      DDR, write
//   quantity_named(MeasureKind::count, "weight bytes")      bytes
//   adds_up(MeasureKind::count, "bytes per cycle")          false
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

enum class Memory : std::uint8_t { ddr, vtcm };
enum class Direction : std::uint8_t { read, write };

struct TrafficName {
  Memory memory{};
  Direction direction{};
};

// What a number of this name counts: "DDR read bytes", "dram_read", "VTCM write (bytes)". None
// where it is no traffic, or but a part of it ("ddr read bytes, constants").
std::optional<TrafficName> traffic_named(std::string_view name);

enum class NumberQuantity : std::uint8_t { time, bytes, hertz, count };

// Every kind but count is a time.
NumberQuantity quantity_named(MeasureKind kind, std::string_view name);

// Whether numbers of this kind and name may be added over ops and spans: not wall times, spans and
// shares of a unit, and no rates, shares and deviations, which only their names tell.
bool adds_up(MeasureKind kind, std::string_view name);

}  // namespace npuscope::analysis
