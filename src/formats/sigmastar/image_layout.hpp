// Where the fields of an offline image stand.
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope::sigmastar {

inline constexpr std::string_view image_magic = "SGSI";
inline constexpr std::uint32_t model_offset = 0x2000;

// Offsets that differ between the two generations of headers.
struct ImageFields {
  std::uint32_t version;  // text
  std::uint32_t inputs;   // descriptors: offset, bytes
  std::uint32_t outputs;
  std::uint32_t counters;
  std::uint32_t file_bytes;
};
inline constexpr ImageFields s3_fields{0xe0, 0x16c, 0x174, 0x188, 0x1b8};
inline constexpr ImageFields s1_fields{0xda, 0x164, 0x16c, 0x180, 0x1b0};
inline constexpr std::uint32_t section_field = 0x0c, variable_buffer_field = 0x14;
inline constexpr std::uint32_t header_end = 0x1bc;
inline constexpr std::uint32_t longest_version = 0x80;

// npuscope's own section: a mark at the end of the header's page, where the vendor's files hold
// zeros, then offset and size.
inline constexpr std::string_view own_mark = "npuscope";
inline constexpr std::uint32_t own_field = model_offset - 16;

// A tensor descriptor: 22 words of four bytes.
inline constexpr std::uint32_t descriptor_words = 22, descriptor_bytes = 88, descriptor_rank = 10;
namespace word {
inline constexpr std::uint32_t padded_width = 10, type = 11, inner_stride = 12, bytes = 13,
                               element_format = 14, is_image = 15, zero_point = 16, scale = 18,
                               rank = 19, name_length = 20, name_offset = 21;
}  // namespace word

}  // namespace npuscope::sigmastar
