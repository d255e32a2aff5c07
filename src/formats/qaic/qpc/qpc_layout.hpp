// The bytes of a QPC, as little-endian structs. docs/formats/qpc.md
#pragma once

#include <cstdint>

#include "formats/qaic/qpc/qpc.hpp"

namespace npuscope::qaic {

struct QpcHeader {
  std::uint32_t magic = qpc_magic;
  std::uint8_t major_version = 0;
  std::uint8_t minor_version = 1;
  std::uint16_t compression = 1;
  std::uint64_t size = 0;  // of the whole container
  std::uint64_t base = 0;  // what every pointer below counts from
  std::uint64_t image_count = 0;
  std::uint64_t images = 0;  // pointer
};
static_assert(sizeof(QpcHeader) == 40);

struct QpcImage {
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // where static constants end in constants.bin
  std::uint64_t name = 0;    // pointer to a text that ends with NUL
  std::uint64_t start = 0;   // pointer
};
static_assert(sizeof(QpcImage) == 32);

inline constexpr std::uint16_t compression_fast_path = 0;  // only ever in memory
inline constexpr std::uint16_t compression_none = 1;
// A name becomes the name of an extracted file, and those end at 255 bytes.
inline constexpr std::size_t max_segment_name_bytes = 255;

// write_qpc with pointers that count from `base`, as the in-memory writer's do.
Result<std::vector<std::byte>> write_qpc_at(std::vector<QpcSegmentSource> segments,
                                            QpcVariant variant, std::uint64_t base);

}  // namespace npuscope::qaic
