// Reads test data, of the project and of a folder of samples beside it.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "npuscope/base/byte_source.hpp"

namespace npuscope::torq {

inline std::string data(const std::string& name) { return NPUSCOPE_TEST_DATA "/torq/" + name; }
inline std::string sample(const std::string& name) {
  return NPUSCOPE_SHARED_DIR "/data/torq/" + name;
}
inline bool have_samples() { return std::filesystem::exists(sample("runtime_new.csv")); }

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::unique_ptr<ByteSource> source_of(std::string_view text) {
  auto source = open_byte_source(text, "file");
  return std::move(*source);
}

// "message, 2 times" of each note, a line each.
template <class Notes>
std::string lines_of(const Notes& notes) {
  std::string text;
  for (const auto& note : notes) {
    text += note.message;
    if (note.count > 1) text += ", " + std::to_string(note.count) + " times";
    text += "\n";
  }
  return text;
}

}  // namespace npuscope::torq
