// The QPC container (programqpc.bin): named segments behind a little-endian header. Reads what both
// known writers produce and writes the form of the in-memory writer with base 0, so that the same
// input gives the same bytes. Layout: docs/formats/qpc.md.
//
//   networkdesc.bin          what the network is, and its statistics descriptor
//   npuscope.program.bin     what the reference NPU executes (program.hpp)
//   constantsdesc.bin        24 bytes: sizes of static and dynamic constants
//   QAicGraph_slice00        a nested QPC: one device of a multi-device program
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

inline constexpr std::uint32_t qpc_magic = 0x00A1CD7C;

inline constexpr std::string_view segment_network_elf = "network.elf";
inline constexpr std::string_view segment_network_descriptor = "networkdesc.bin";
inline constexpr std::string_view segment_constants = "constants.bin";
inline constexpr std::string_view segment_constants_descriptor = "constantsdesc.bin";
inline constexpr std::string_view segment_partition = "mdp_meta_info";  // of several devices
// npuscope's own:
inline constexpr std::string_view segment_program = "npuscope.program.bin";
inline constexpr std::string_view segment_target = "npuscope.target.toml";
inline constexpr std::string_view segment_schematic = "npuscope.schematic.bin";

struct QpcSegment {
  std::string name;
  ByteSpan bytes;  // inside the container's bytes
  std::uint64_t file_offset = 0;
  std::uint64_t offset = 0;  // the header's field: where static constants end in constants.bin
  bool is_qpc() const;       // starts with the QPC magic: a nested container
};

struct Qpc {
  std::uint8_t major_version = 0;
  std::uint8_t minor_version = 1;
  std::uint64_t base = 0;
  std::vector<QpcSegment> segments;

  const QpcSegment* find(std::string_view name) const;
};

// True when the bytes begin like a QPC.
bool looks_like_qpc(ByteSpan bytes);

// `bytes` must outlive the result. Input errors: not a QPC, truncated, pointers outside the file,
// compression that is not supported, duplicate names. `name` is the file's name for messages.
Result<Qpc> read_qpc(ByteSpan bytes, std::string_view name);

struct QpcSegmentSource {
  std::string name;
  std::vector<std::byte> bytes;
  std::uint64_t offset = 0;
  // Appends the bytes where they are many, so that they are there once; how many these are.
  std::function<void(std::vector<std::byte>& out)> append = {};
  std::uint64_t append_bytes = 0;
};
enum class QpcVariant { in_memory, file };  // 8-byte aligned or packed
// Lets go of each segment's bytes when they were copied.
Result<std::vector<std::byte>> write_qpc(std::vector<QpcSegmentSource> segments,
                                         QpcVariant variant = QpcVariant::in_memory);

// A program found in a QPC or in one nested in it: where it lies and its own segments.
struct QpcProgram {
  std::string path;  // "" for the outer container, "QAicGraph_slice00" for a nested one
  Qpc qpc;
};
// All containers with a networkdesc.bin, nested ones too (at most 8 deep), in file order.
Result<std::vector<QpcProgram>> find_programs(ByteSpan bytes, std::string_view name);

}  // namespace npuscope::qaic
