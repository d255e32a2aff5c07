// Compiler profiles of tpu-mlir's shape, and what a reader must find in them.
//
//   const GeneratedProfile made = generate({.layers = 20, .seed = 3});
//   made.text                    compiler_profile_0.txt
//   made.commands[4].start       of the fifth command
//
// Two or four engines execute in order what is issued to them; each command also waits for the last
// one that was issued to every other engine when it was.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace npuscope::tpu_mlir {

struct ProfileOptions {
  int layers = 8;
  int engines = 2;  // BD and GDMA; 4: HAU and SDMA too
  double ghz = 0.9;
  bool has_end = true, has_engine_cycles = true;
  std::int64_t total_cycles = 0;  // another core's, stated in the end; 0: its own
  unsigned seed = 1;
};

struct TrueCommand {
  std::string layer, command;
  int engine = 0;
  std::int64_t start = 0, cycles = 0, bytes = 0;
  int direction = -1;  // -1: no transfer
  std::vector<std::size_t> waits =
      {};  // commands of other engines that it waits for, each first time
};

struct GeneratedProfile {
  std::string text;
  std::string locations;  // tensor_location.json of it
  std::vector<TrueCommand> commands;
  std::array<std::int64_t, 4> engine_cycles{};
  std::array<std::int64_t, 4> bytes{};  // of GDMA, by direction
  std::int64_t total = 0;
};

GeneratedProfile generate(const ProfileOptions& options);

}  // namespace npuscope::tpu_mlir
