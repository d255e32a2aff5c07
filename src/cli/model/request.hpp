// What npuscope-model was asked for, and doing it.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "npu/models/summary.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::cli {

struct ModelRequest {
  std::string base;  // a preset, "decoder" or "encoder"
  npu::ArchitectureChanges changes;
  std::optional<std::int64_t> batch, sequence, context;
  npu::GenerateOptions options;
  std::optional<std::string> output;  // without one only the summary is made
  bool list = false;
  bool json = false;
};

// What was made: the fields that both forms of the summary print.
struct ModelReport {
  npu::Architecture architecture;
  npu::InputSizes sizes;
  npu::GenerateOptions options;
  npu::ModelSummary summary;
  std::optional<std::string> file;  // none when none was written
  std::size_t file_bytes = 0;
  std::size_t nodes = 0;
};

void add_model_flags(Command& program, ModelRequest& request);

// Writes the model and prints its summary, or prints the list of presets.
Status serve(const ModelRequest& request);

std::string text_of(const ModelReport& report);
std::string json_of(const ModelReport& report);
std::string text_of_presets();
std::string json_of_presets();

}  // namespace npuscope::cli
