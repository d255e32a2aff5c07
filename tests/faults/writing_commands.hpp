// Every command of the programs, each way in which it writes: what the faults are tried on.
//
//   for (const WritingCommand& command : writing_commands())
//     folder.run(command);   // in a folder where prepare_inputs() has been
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace npuscope::faults {

// Paths are relative to the folder in which it runs; what it writes goes to out/ there.
struct WritingCommand {
  std::vector<std::string> words;  // {"convert", "trace.json", "-o", "out/run.db"}
  bool is_of_models = false;       // of npuscope-model

  std::string text() const;  // "npuscope convert trace.json -o out/run.db"
  // Path of the program that does it: npuscope-fleet itself where npuscope would only start it.
  // Calls are made to fail in one process.
  const std::string& program() const;
};

const std::vector<WritingCommand>& writing_commands();

// The store of a fleet that one of them makes: compared by its rows, not by its bytes.
inline constexpr const char* store_output = "out/store.db";

// The files that they read.
void prepare_inputs(const std::filesystem::path& folder);

}  // namespace npuscope::faults
