// The checksum of gzip (RFC 1952, 8) by products without carries where the processor has them: a
// tenth of zlib's instructions, which are as many as those of unpacking itself.
#pragma once

#include <cstdint>
#include <span>

namespace npuscope {

// Of the bytes so far, of which `before` is the checksum, and these; 0 before the first.
std::uint32_t crc32_with(std::uint32_t before, std::span<const char> bytes);

}  // namespace npuscope
