#include "analysis/ops/row_names.hpp"

#include <algorithm>
#include <array>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {

namespace {

// How long the digits are that `text` begins with.
std::size_t digits_in(std::string_view text) {
  return std::size_t(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

}  // namespace

std::string without_ordinals(std::string_view name) {
  std::string stem;
  while (!name.empty()) {
    std::size_t length = 0;
    for (const std::string_view mark : {"/__", "__", ":OpId_", " OpId_", "_token_"}) {
      if (!name.starts_with(mark)) continue;
      const std::size_t digits = digits_in(name.substr(mark.size()));
      if (digits == 0) continue;
      length = mark.size() + digits;
      if (mark == "_token_" && name.substr(length).starts_with("_")) {
        const std::size_t more = digits_in(name.substr(length + 1));
        if (more > 0) length += 1 + more;
      }
      break;
    }
    if (length == 0) {
      stem += name.front();
      length = 1;
    }
    name.remove_prefix(length);
  }
  return stem;
}

std::string_view without_tile(std::string_view name) {
  const auto at = name.rfind("/__");
  if (at == name.npos || at == 0) return name;
  const std::string_view number = name.substr(at + 3);
  return !number.empty() && digits_in(number) == number.size() ? name.substr(0, at) : name;
}

std::optional<std::uint64_t> last_ordinal(std::string_view name) {
  const std::size_t mark = name.rfind("__");
  if (mark == name.npos) return std::nullopt;
  return parse_number<std::uint64_t>(name.substr(mark + 2));
}

std::vector<std::string_view> name_parts(std::string_view name) {
  constexpr std::string_view separators = "+;,|&";
  constexpr std::size_t max_parts = 64;
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= name.size() && parts.size() < max_parts) {
    const std::size_t end = std::min(name.find_first_of(separators, begin), name.size());
    std::string_view part = name.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  if (parts.size() == 1) parts.clear();
  return parts;
}

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
