#include "analysis/ops/row_names.hpp"

#include <array>

#include "analysis/ops/op_names.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {
namespace {

// "/model/layers.12" as "/model/layers."; empty where no word for layers stands before the number.
std::string_view without_number(std::string_view stage) {
  std::string_view stem = stage;
  while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
  if (stem.size() == stage.size()) return {};
  std::string_view word = stem;
  while (!word.empty() && std::string_view("._/").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  word.remove_prefix(std::min(word.find_last_of("._/") + 1, word.size()));
  return is_word_for_layers(word) ? stem : std::string_view{};
}

}  // namespace

RowNames::RowNames(const std::vector<std::string_view>& labels, bool folds_layers) {
  // What a node is called beside its like of other layers; those of one name are of as many layers.
  struct Folded {
    bool is_known = false;
    StringId name = StringId::empty;
    std::uint32_t layer = 0;
  };
  std::vector<Folded> folded;  // by text
  StringPool layers;
  std::string name;
  of_op_.reserve(labels.size());
  for (const std::string_view label : labels) {
    const std::string_view node = without_tile(label);
    const StringId text = texts_.intern(node);
    of_op_.push_back({text, 0});
    if (!folds_layers) continue;
    folded.resize(std::max(folded.size(), texts_.size()));
    Folded& each = folded[std::uint32_t(text)];
    if (each.is_known) continue;
    each.is_known = true;
    const std::string_view stage = stage_of(node);
    const std::string_view stem = without_number(stage);
    if (stem.empty()) continue;
    name.assign(stem).append("*").append(node.substr(stage.size()));
    each.name = texts_.intern(name);
    each.layer = std::uint32_t(layers.intern(stage)) - 1;  // not empty, which is 0
    layers_.resize(std::max(layers_.size(), texts_.size()));
    layers_[std::uint32_t(each.name)] += 1;
  }
  layers_.resize(texts_.size());
  if (!folds_layers) return;
  for (Place& place : of_op_) {
    const Folded& each = folded[std::uint32_t(place.name)];
    if (layers_[std::uint32_t(each.name)] > 1) place = {each.name, each.layer};
  }
}

bool is_word_for_layers(std::string_view word) {
  constexpr std::array words{"layer", "layers", "block", "blocks", "blk", "stage", "stages", "h"};
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
