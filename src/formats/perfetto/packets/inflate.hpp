// The packets within a compressed packet, decompressed block by block.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "formats/perfetto/packets/packets.hpp"

namespace npuscope::perfetto {

enum class PacketCompression : std::uint8_t { zlib, zstd };

// Reads what `bytes` decompress to; an error when they are broken. `bytes` must outlive it.
ReadBytes make_inflater(PacketCompression compression, std::string_view bytes);

}  // namespace npuscope::perfetto
