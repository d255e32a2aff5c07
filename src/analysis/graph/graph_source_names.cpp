#include "analysis/graph/graph_source_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace npuscope::analysis {
namespace {

// What importers write for constants instead of the model's own operators, more from step to step.
constexpr std::array<std::string_view, 2> constants{"Constant", "ConstantOfShape"};

struct Listed {
  std::string_view kind;
  std::uint32_t number = 0;  // of the node, or of the source's operator
};

bool is_constant(std::string_view kind, std::size_t constants_left_out) {
  const auto* end = constants.begin() + constants_left_out;
  return std::find(constants.begin(), end, kind) != end;
}

std::vector<Listed> without_constants(std::span<const Listed> all, std::size_t left_out) {
  std::vector<Listed> rest;
  for (const Listed& each : all) {
    if (!is_constant(each.kind, left_out)) rest.push_back(each);
  }
  return rest;
}

bool same_kinds(std::span<const Listed> a, std::span<const Listed> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Listed& x, const Listed& y) { return x.kind == y.kind; });
}

// Whether `few` are left of `all` when some are left out.
bool comes_in_order(std::span<const Listed> few, std::span<const Listed> all) {
  std::size_t next = 0;
  for (const Listed& each : all) {
    if (next < few.size() && few[next].kind == each.kind) ++next;
  }
  return next == few.size();
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // operator, node

Pairs pairs_of(std::span<const Listed> operators, std::span<const Listed> nodes) {
  Pairs pairs;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    pairs.emplace_back(operators[i].number, nodes[i].number);
  }
  return pairs;
}

Pairs pairs_by_kind(std::span<const Listed> operators, std::span<const Listed> nodes) {
  std::map<std::string_view, std::pair<std::vector<Listed>, std::vector<Listed>>> by_kind;
  for (const Listed& each : operators) by_kind[each.kind].first.push_back(each);
  for (const Listed& each : nodes) by_kind[each.kind].second.push_back(each);
  Pairs pairs;
  for (const auto& [kind, both] : by_kind) {
    if (both.first.size() != both.second.size()) continue;
    const Pairs more = pairs_of(both.first, both.second);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  return pairs;
}

Pairs meant(std::span<const Listed> operators, const ExpectedGraph& expected) {
  std::vector<Listed> nodes, executing;
  for (std::uint32_t i = 0; i < expected.nodes.size(); ++i) {
    const ExpectedNode& node = expected.nodes[i];
    nodes.push_back({node.op, i});
    if (node.role == ExpectedRole::executes) executing.push_back(nodes.back());
  }
  for (std::size_t left_out = 0; left_out <= constants.size(); ++left_out) {
    const auto some = without_constants(operators, left_out);
    const auto of_model = without_constants(nodes, left_out);
    if (same_kinds(some, of_model)) return pairs_of(some, of_model);
  }
  const auto computing = without_constants(operators, constants.size());
  if (!comes_in_order(computing, nodes)) return {};
  return pairs_by_kind(computing, executing);
}

}  // namespace

SourceNames::SourceNames(const Profile& profile, const ExpectedGraph& expected) {
  std::vector<Listed> operators;
  for (std::uint32_t i = 0; i < profile.source_operators.size(); ++i) {
    operators.push_back({profile.text(profile.source_operators[i].kind), i});
  }
  for (const auto& [number, node] : meant(operators, expected)) {
    const auto name = profile.text(profile.source_operators[number].name);
    const auto [place, is_new] = nodes_.try_emplace(name, node);
    if (!is_new) place->second = no_node;
  }
}

NodeNames::Found SourceNames::find(std::string_view name) const {
  NodeNames::Found found;
  while (!nodes_.empty() && !name.empty()) {
    const std::string_view word = name.substr(0, name.find(' '));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    const auto node = nodes_.find(word);
    if (node == nodes_.end() || node->second == no_node) continue;
    if (std::find(found.nodes.begin(), found.nodes.end(), node->second) != found.nodes.end()) {
      continue;
    }
    found.nodes.push_back(node->second);
  }
  if (!found.nodes.empty()) found.evidence = MatchEvidence::source;
  return found;
}

}  // namespace npuscope::analysis
