// What a descriptor says that its tasks work on, read in another way than the program does.
#pragma once

#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "npu/targets/nsp/compile/compile.hpp"

namespace npuscope::npu::nsp {

struct ToldOperand {
  std::string use, memory, role, type;
  std::uint64_t elements = 1;
  std::vector<std::uint64_t> dimensions;
};

// "in TCM Src1 w float16 <768 x 64> 96KB"; the memory of known scalars is blank.
inline ToldOperand told_operand(const std::string& line) {
  ToldOperand told;
  std::istringstream words(line);
  words >> told.use >> told.memory;
  if (told.memory == "DDR" || told.memory == "TCM") {
    words >> told.role;
  } else {
    told.role = std::exchange(told.memory, "");
  }
  const std::size_t open = line.rfind('<'), close = line.rfind('>');
  std::istringstream sizes(line.substr(open + 1, close - open - 1));
  for (std::string word; sizes >> word;) {
    if (word == "x") continue;
    told.dimensions.push_back(std::stoull(word));
    told.elements *= told.dimensions.back();
  }
  const std::string before = line.substr(0, open - 1);
  told.type = before.substr(before.rfind(' ') + 1);
  return told;
}

inline std::uint64_t bytes_of(const ToldOperand& told) {
  static const std::map<std::string, std::uint64_t> bits{
      {"undefined", 0}, {"string", 0},   {"float", 32}, {"float16", 16}, {"bfloat16", 16},
      {"float64", 64},  {"float8", 8},   {"i8", 8},     {"ui8", 8},      {"i16", 16},
      {"ui16", 16},     {"index32", 32}, {"ui32", 32},  {"index64", 64}, {"ui64", 64},
      {"i4", 4},        {"ui4", 4},      {"bool", 8}};
  return (told.elements * bits.at(told.type) + 7) / 8;
}

// Tasks whose results are not of their output size, and kernels in VTCM that read from DDR.
struct OperandCheck {
  std::size_t tasks = 0;
  std::vector<std::string> wrong;

  void add(const CompiledNetwork& network, const std::string& what) {
    for (const auto& core : network.descriptor.stats.ops) {
      for (const auto& group : core) {
        for (const auto& op : group) add(op, network.descriptor.stats.texts, what);
      }
    }
  }

  std::string summary() const {
    std::string text = std::to_string(wrong.size()) + " of " + std::to_string(tasks);
    for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 12); ++i) text += wrong[i];
    return text;
  }

 private:
  void add(const qaic::OpNameKind& op, const StringPool& texts, const std::string& what) {
    ++tasks;
    std::uint64_t written = 0;
    bool reads_ddr = false;
    std::string text = fmt::format("\n{}: {} {} in {}: {}", what, texts[op.name], texts[op.kind],
                                   texts[op.memory], op.output_size);
    for (const StringId operand : op.operands) {
      const std::string line(texts[operand]);
      const ToldOperand told = told_operand(line);
      if (told.use != "in") written += bytes_of(told);
      reads_ddr = reads_ddr || told.memory == "DDR";
      text += "\n    " + line;
    }
    if (written != op.output_size || reads_ddr != (texts[op.memory] == "DDR"))
      wrong.push_back(text);
  }
};

}  // namespace npuscope::npu::nsp
