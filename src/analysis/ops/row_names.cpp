#include "analysis/ops/row_names.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "analysis/ops/op_names.hpp"
#include "analysis/timeline/stages.hpp"
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

// A label, and what it would be called beside its like of other layers.
struct Folded {
  std::string_view node;
  std::string name;        // empty: the node
  std::string_view layer;  // empty: of none
};

Folded fold(std::string_view label) {
  const std::string_view node = without_tile(label);
  const std::string_view stage = stage_of(node);
  const std::string_view stem = without_number(stage);
  if (stem.empty()) return {node, {}, {}};
  std::string name = std::string(stem) + "*";
  name += node.substr(stage.size());
  return {node, std::move(name), stage};
}

}  // namespace

RowNames::RowNames(const std::vector<std::string_view>& labels, bool folds_layers) {
  std::unordered_map<std::string_view, Folded> folded;                         // by label
  std::unordered_map<std::string_view, std::set<std::string_view>> layers_of;  // by folded name
  std::unordered_map<std::string_view, std::uint32_t> numbers;                 // by layer
  std::vector<const Folded*> of_labels;
  of_labels.reserve(labels.size());
  for (const std::string_view label : labels) {
    const auto [place, is_new] = folded.try_emplace(label);
    Folded& each = place->second;
    of_labels.push_back(&each);
    if (!is_new) continue;
    each = fold(label);
    if (each.layer.empty() || !folds_layers) continue;
    layers_of[each.name].insert(each.layer);
    numbers.try_emplace(each.layer, std::uint32_t(numbers.size()));
  }
  std::unordered_map<std::string_view, std::uint32_t> place_of;  // in names_, by text
  of_op_.reserve(labels.size());
  for (const Folded* each : of_labels) {
    const auto found = layers_of.find(each->name);
    const std::size_t layers = found == layers_of.end() ? 1 : found->second.size();
    const std::string_view text = layers > 1 ? std::string_view(each->name) : each->node;
    const auto [place, is_new] = place_of.try_emplace(text, std::uint32_t(names_.size()));
    if (is_new) names_.push_back({std::string(text), std::uint32_t(layers)});
    of_op_.push_back({place->second, layers > 1 ? numbers.at(each->layer) : 0});
  }
}

}  // namespace npuscope::analysis
