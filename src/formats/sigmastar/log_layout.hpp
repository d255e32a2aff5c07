// How the records of an IPU log lie: SigmaStar's layout is not public, so npuscope reads logs
// through a description, a small TOML file. It ships the one that its reference NPU writes.
//
//   auto layout = layout_of_chip("ipu-muffin");
//   layout->time      32 bits at bit 0 of each record of 16 bytes; wraps
//   layout_of_chip("muffin")   an error that names the routes that work
//
// docs/formats/sigmastar.md documents the file.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

// What a record is about. `layer` and `run` frame the work of the engines.
enum class LogEngine : std::uint8_t { layer, conv, vector, dma_load, dma_store, scalar, run };
inline constexpr std::size_t log_engine_count = 7;
const char* name_of(LogEngine engine);  // "dma load", as tracks of timelines are called

struct BitField {
  std::uint32_t bit = 0;   // of the record; 0 is the lowest of its first byte
  std::uint32_t bits = 0;  // with the bit's place in its byte at most 64
};

struct LogLayout {
  std::string name;
  std::string description;
  std::vector<std::string> chips;  // what -v may say
  std::uint32_t record_bytes = 0;
  std::uint64_t header_bytes = 0;  // before the first record
  BitField time, layer, engine, mark;
  std::optional<BitField> sequence;  // of records, from any number on
  std::optional<BitField> tile;      // of its layer; 0: what is loaded ahead of the layer
  std::optional<BitField> bytes;     // of a transfer, in its begin
  std::int64_t cycles_per_tick = 1;
  bool cores_share_clock = false;
  std::vector<std::uint64_t> begin_marks, end_marks;
  std::array<std::vector<std::uint64_t>, log_engine_count> engine_values;  // by LogEngine
  // In which order the engines work on a tile, and for how many tiles there is room between one and
  // the next: from that follows what waits for what. Empty: not said.
  std::vector<LogEngine> tile_order;
  std::uint32_t tile_buffers = 0;
};

// `name` begins the error: a file's name.
Result<LogLayout> parse_layout(std::string_view toml, const std::string& name);

// The layout that names the chip. A usage error says for a known chip without a public layout, and
// for an unknown name, what works.
Result<LogLayout> layout_of_chip(std::string_view chip);

// Chips that SigmaStar's documents name.
bool is_known_chip(std::string_view chip);
// The alignment of an image input's width that is known of the chip.
std::optional<std::uint32_t> alignment_of_chip(std::string_view chip);

// Bit fields of records, little endian, eight bytes at a time.

constexpr std::uint64_t low_bits(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Where a field lies, worked out once. A read takes eight bytes from `byte` on.
struct PlacedField {
  explicit PlacedField(const BitField& field)
      : byte(field.bit / 8), shift(field.bit % 8), mask(low_bits(field.bits)) {}

  std::uint64_t read(const std::byte* record) const {
    std::uint64_t word;
    std::memcpy(&word, record + byte, sizeof(word));
    return (word >> shift) & mask;
  }
  void write(std::byte* record, std::uint64_t value) const {
    std::uint64_t word;
    std::memcpy(&word, record + byte, sizeof(word));
    word = (word & ~(mask << shift)) | ((value & mask) << shift);
    std::memcpy(record + byte, &word, sizeof(word));
  }

  std::uint32_t byte, shift;
  std::uint64_t mask;
};

}  // namespace npuscope::sigmastar
