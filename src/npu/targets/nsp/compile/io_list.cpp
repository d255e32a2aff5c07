#include "npu/targets/nsp/compile/io_list.hpp"

#include <cstring>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace npuscope::npu::nsp {
namespace {

std::string_view unquoted(std::string_view text) {
  const bool quoted =
      text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string io_precision_of(DataType type) {
  const std::string_view name = name_of(type);
  for (const auto& [kernels, files] :
       {std::pair("index", "int"), std::pair("ui", "uint"), std::pair("i", "int")}) {
    if (name.starts_with(kernels)) return files + std::string(name.substr(std::strlen(kernels)));
  }
  return std::string(name);
}

Result<std::vector<IoPrecision>> read_io_list(std::string_view yaml, std::string_view file) {
  std::vector<IoPrecision> list;
  std::set<std::string_view> names;
  const auto refuse = [&](std::size_t line, std::string_view why) {
    return input_error("{}: line {}: {}; write '- IOName: NAME' and below it 'Precision: TYPE'",
                       file, line, why);
  };
  std::size_t number = 0;
  while (!yaml.empty()) {
    const std::size_t end = std::min(yaml.find('\n'), yaml.size());
    std::string_view line = trimmed(yaml.substr(0, end));
    yaml.remove_prefix(std::min(end + 1, yaml.size()));
    ++number;
    if (line.empty() || line[0] == '#' || line == "---") continue;
    const bool begins = line.starts_with("- ");
    if (begins) line = trimmed(line.substr(2));
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) return refuse(number, "not a key with its value");
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = unquoted(trimmed(line.substr(colon + 2)));
    if (begins && !list.empty() && list.back().precision.empty())
      return refuse(number, "the input or output before has no precision");
    if (begins != (key == "IOName")) return refuse(number, "an entry must begin with its IOName");
    if (begins) {
      if (!names.insert(value).second) return refuse(number, "a name that was given before");
      list.push_back({std::string(value), {}});
    } else if (list.empty()) {
      return refuse(number, "a key before the first IOName");
    } else if (key == "Precision") {
      list.back().precision = value;
    }
  }
  if (!list.empty() && list.back().precision.empty())
    return refuse(number, "the last input or output has no precision");
  return list;
}

}  // namespace npuscope::npu::nsp
