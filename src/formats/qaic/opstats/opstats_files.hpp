// Statistics buffers in a folder, by the names that runners give them.
//
//   aic-profiling-program-0-activation-0-inf-213-QAicGraph-aiccyclecounts.bin
//   aic-profiling-program-19-inf-2-QAicGraph_slice00-aiccyclecounts_0.bin     multi-device
//   aiccyclecounts-activation-0-inf-0.bin                                     an ordinary output
//
// What is made of a buffer is named after it without "-aiccyclecounts".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

struct StatsBufferName {
  std::optional<std::uint64_t> program;     // <P>
  std::optional<std::uint64_t> activation;  // <A>
  std::optional<std::uint64_t> inference;   // <I>
  std::string network;                      // empty when the name does not tell
  std::string output_stem;  // "aic-profiling-program-0-activation-0-inf-213-QAicGraph"
};

// None when it is not the name of a statistics buffer.
std::optional<StatsBufferName> parse_stats_buffer_name(std::string_view file_name);

struct StatsBufferFile {
  std::filesystem::path path;
  StatsBufferName name;
};

// In order of program, activation, inference (as numbers), network, name; output stems are unique.
// An input error when the folder cannot be read or holds no buffer.
Result<std::vector<StatsBufferFile>> find_stats_buffers(const std::filesystem::path& folder);

// NN of QAicGraph_sliceNN: one device's part of a multi-device network; and the name before it.
std::optional<std::uint32_t> slice_number(std::string_view network);
std::string_view without_slice(std::string_view network);

}  // namespace npuscope::qaic
