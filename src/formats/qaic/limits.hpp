// Bounds on what the numbers of a file can mean, and the vendor's unit of sizes.
#pragma once

#include <cstdint>

namespace npuscope::qaic {

// Ticks and cycles past this come from damage; below it no sum overflows (119 years of the UTIMER).
inline constexpr std::uint64_t max_ticks = std::uint64_t{1} << 56;
inline constexpr std::uint32_t max_cores = 1024;  // far beyond any device

inline constexpr std::uint64_t bytes_per_kilobyte = 1024;

}  // namespace npuscope::qaic
