#include "analysis/graph/graph_node_names.hpp"

#include "analysis/ops/op_names.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::analysis {
namespace {

bool is_word(char c) { return is_digit(c) || is_letter(c); }

// Converters write all punctuation as _, and leave out what a name begins with.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_word(c)) {
      text += c;
    } else if (!text.empty()) {
      text += '_';
    }
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  return text;
}

// "libjit_a libjit_b /node/__12" is "/node": a prefix of words, and the ordinal of a tile.
std::string_view without_decoration(std::string_view name) {
  if (const auto blank = name.rfind(' '); blank != name.npos) name.remove_prefix(blank + 1);
  return without_tile(name);
}

}  // namespace

NodeNames::NodeNames(const ExpectedGraph& expected) {
  for (std::uint32_t i = 0; i < expected.nodes.size(); ++i) {
    const ExpectedNode& node = expected.nodes[i];
    nodes_.try_emplace(node.name, i);
    const auto [place, is_new] = plain_.try_emplace(plain(node.name), i);
    if (!is_new) place->second = no_node;
    // Loads bear the names of constants: that they do is no sign of whose work they are.
    for (const std::uint32_t output : node.outputs) {
      const ExpectedTensor& tensor = expected.tensors[output];
      if (!tensor.is_constant) tensors_[tensor.name] = i;
    }
  }
}

std::uint32_t NodeNames::lookup(std::string_view name, MatchEvidence& evidence) const {
  evidence = MatchEvidence::name;
  if (const auto node = nodes_.find(name); node != nodes_.end()) return node->second;
  evidence = MatchEvidence::tensor_name;
  if (const auto node = tensors_.find(name); node != tensors_.end()) return node->second;
  return no_node;
}

// The longest beginning, up to a punctuation mark, that is a name.
std::uint32_t NodeNames::derived(std::string_view name) const {
  if (const auto node = plain_.find(plain(name)); node != plain_.end() && node->second != no_node) {
    return node->second;
  }
  constexpr std::size_t longest = 512;
  for (std::size_t end = std::min(name.size(), longest); end-- > 1;) {
    if (is_word(name[end])) continue;
    const std::string_view beginning = name.substr(0, end);
    if (const auto node = nodes_.find(beginning); node != nodes_.end()) return node->second;
  }
  return no_node;
}

NodeNames::Found NodeNames::find(std::string_view name) const {
  Found found;
  if (name.empty()) return found;
  for (const std::string_view text : {name, without_decoration(name)}) {
    if (const auto node = lookup(text, found.evidence); node != no_node) {
      found.nodes = {node};
      return found;
    }
  }
  const std::string_view bare = without_decoration(name);
  for (std::size_t begin = 0; begin <= bare.size();) {
    const std::size_t end = std::min(bare.find_first_of("+,;&|", begin), bare.size());
    if (begin == 0 && end == bare.size()) break;  // nothing is joined
    MatchEvidence evidence;
    const auto node = lookup(without_decoration(bare.substr(begin, end - begin)), evidence);
    if (node != no_node) found.nodes.push_back(node);
    begin = end + 1;
  }
  if (!found.nodes.empty()) {
    found.evidence = MatchEvidence::joined_name;
    return found;
  }
  found.evidence = MatchEvidence::derived_name;
  if (const auto node = derived(bare); node != no_node) found.nodes = {node};
  return found;
}

}  // namespace npuscope::analysis
