// A profile of tpu-mlir's compiler (compiler_profile_N.txt), read: what it estimates for each
// command of one core, engine by engine, before any of it is a profile.
//
//   auto core = tpu_mlir::read_compiler_profile(*source);
//   core->commands[4].layer     "Conv2D_26"    operator and line of the network's final.mlir
//   core->commands[4].command   "LANE_BC"
//   core->commands[4].start     4263           cycles since the core began
//   core->total_cycles          15936          of the whole program, the same in the file of each
//   core
//
// Docs: docs/formats/tpu-mlir.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::tpu_mlir {

enum class CommandEngine : std::uint8_t { bd, gdma, hau, sdma };
inline constexpr std::size_t engine_count = 4;
constexpr bool moves_data(CommandEngine engine) {
  return engine == CommandEngine::gdma || engine == CommandEngine::sdma;
}
const char* name_of(CommandEngine engine);  // "BD"

// Of a transfer; "system" is the memory outside the cores.
enum class Direction : std::uint8_t { system_to_local, local_to_system, system_to_system, local };
inline constexpr std::size_t direction_count = 4;
const char* name_of(Direction direction);  // "S2L", as the file has it

struct Command {
  CommandEngine engine = CommandEngine::bd;
  StringId layer{};    // empty: of none, a message between cores
  StringId command{};  // "CONV", "GDMA_TENSOR"
  std::int64_t start = 0;
  std::int64_t cycles = 0;
  // By engine, the last command that was issued there when this one was; of its own, itself.
  std::array<std::int64_t, engine_count> ids{};
  std::optional<Direction> direction;
  std::int64_t bytes = 0;
};

struct CompilerProfile {
  std::string file;
  StringPool strings;
  std::vector<Command> commands;  // in the order of the file
  bool has_end = false;           // its last lines, which have what follows
  std::int64_t total_cycles = 0;
  std::array<std::optional<std::int64_t>, engine_count> engine_cycles;
  std::array<std::optional<std::int64_t>, direction_count> bytes;
  std::int64_t flops = 0;
  std::int64_t runtime_ns = 0;  // as printed, rounded
  double bandwidth_share = -1;  // of the memory's, percent; below 0: not stated
  std::vector<Note> notes;
};

bool looks_like_compiler_profile(std::string_view head);
Result<CompilerProfile> read_compiler_profile(ByteSource& source);

}  // namespace npuscope::tpu_mlir
