#include "analysis/timeline/stages.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace npuscope::analysis {

bool is_word_for_layers(std::string_view word) {
  constexpr std::array words{"layer", "layers", "block", "blocks", "stage", "stages", "h"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

namespace {

// Where the first layer of `path` ends, its parts lying between `separators`; npos without one.
std::size_t end_of_layer(std::string_view path, std::string_view separators) {
  std::size_t begin = 0;
  for (std::size_t end = path.find_first_of(separators); end != path.npos;
       end = path.find_first_of(separators, begin)) {
    if (end > begin && is_digit(path[end - 1])) return end;
    begin = end + 1;
  }
  return path.npos;
}

// The same between underscores: "_model_layers_12" of "_model_layers_12_mlp".
std::size_t end_of_worded_layer(std::string_view name) {
  std::string_view before;
  std::size_t begin = 0;
  for (std::size_t end = name.find('_'); end != name.npos; end = name.find('_', begin)) {
    const std::string_view word = name.substr(begin, end - begin);
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_digit) &&
        is_word_for_layers(before)) {
      return end;
    }
    before = word;
    begin = end + 1;
  }
  return name.npos;
}

}  // namespace

std::string_view stage_of(std::string_view node) {
  const bool has_folders = node.find('/', 1) != node.npos;
  const std::string_view separators = has_folders ? "/." : ".";
  // What follows the last separator of folders is the operator itself.
  const std::string_view path = has_folders ? node.substr(0, node.rfind('/') + 1) : node;
  if (const auto end = end_of_layer(path, separators); end != path.npos) return node.substr(0, end);
  if (const auto end = end_of_worded_layer(node); end != node.npos) return node.substr(0, end);
  return has_folders ? node.substr(0, node.find('/', 1)) : std::string_view{};
}

}  // namespace npuscope::analysis
