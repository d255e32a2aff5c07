// The 64-bit ids of HTP ops. They are written as "0x000011ed00000012" and, in QHAS, without the
// leading zeros; the upper half is the HTP op, the lower half the QNN op ("OpId_18" is 0x12).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::qnn {

// Cores of an HTP in names and keys; far beyond any device.
inline constexpr std::uint32_t max_cores = 64;

std::optional<std::uint64_t> parse_id(std::string_view text);

}  // namespace npuscope::qnn
