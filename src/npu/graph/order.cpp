#include "npu/graph/importer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "npu/graph/limits.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint32_t nobody = 0xFFFFFFFF;
constexpr std::size_t cycle_names_shown = 8;

std::string display_name(const std::vector<NodeSource>& nodes, std::uint32_t index) {
  const NodeSource& node = nodes[index];
  return node.name.empty() ? fmt::format("{}_{}", node.op, index) : std::string(node.name);
}

bool may_hold_branches(const NodeSource& node) {
  return node.op == "If" || node.op == "Loop" || node.op == "Scan";
}

// Names that the branches inside a node read and do not make themselves.
void collect_branch_names(const NodeSource& node, std::size_t depth,
                          std::vector<std::string_view>& names) {
  if (depth > limits::nesting)
    fail_import("branches nest deeper than {}; simplify the model", limits::nesting);
  for (const auto& [name, attribute] : read_attribute_sources(node.attributes)) {
    if (!attribute.graph) continue;
    const GraphSource graph = read_graph_source(*attribute.graph);
    std::vector<std::string_view> read;
    std::unordered_set<std::string_view> own;
    for (const NodeSource& inner : graph.nodes) {
      read.insert(read.end(), inner.inputs.begin(), inner.inputs.end());
      own.insert(inner.outputs.begin(), inner.outputs.end());
      if (may_hold_branches(inner)) collect_branch_names(inner, depth + 1, read);
    }
    for (const Encoded input : graph.inputs) own.insert(read_value_source(input).name);
    for (const Encoded output : graph.outputs) read.push_back(read_value_source(output).name);
    for (const std::string_view each : read)
      if (!own.contains(each)) names.push_back(each);
  }
}

// For each node the nodes it reads from, as one array with offsets.
struct Dependencies {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> on;

  std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(on).subspan(begin[node], begin[node + 1] - begin[node]);
  }
};

Dependencies find_dependencies(const std::vector<NodeSource>& nodes) {
  std::unordered_map<std::string_view, std::uint32_t> makers;
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    for (const std::string_view output : nodes[index].outputs) {
      if (output.empty()) continue;
      const auto [found, fresh] = makers.emplace(output, index);
      if (fresh) continue;
      fail_import("'{}' is made by both node '{}' and node '{}'; export the model again", output,
                  display_name(nodes, found->second), display_name(nodes, index));
    }
  }
  Dependencies dependencies;
  std::vector<std::string_view> names;
  for (const NodeSource& node : nodes) {
    names = node.inputs;
    if (may_hold_branches(node)) collect_branch_names(node, 0, names);
    for (const std::string_view name : names) {
      const auto maker = makers.find(name);
      if (maker != makers.end()) dependencies.on.push_back(maker->second);
    }
    dependencies.begin.push_back(std::uint32_t(dependencies.on.size()));
  }
  return dependencies;
}

bool in_order(const Dependencies& dependencies, std::size_t count) {
  for (std::uint32_t node = 0; node < count; ++node) {
    for (const std::uint32_t earlier : dependencies.of(node))
      if (earlier >= node) return false;
  }
  return true;
}

// Every node left waits for another one that is left: following those leads into a cycle.
[[noreturn]] void fail_with_cycle(const std::vector<NodeSource>& nodes,
                                  const Dependencies& dependencies,
                                  const std::vector<std::uint32_t>& waits_for) {
  const auto is_left = [&](std::uint32_t node) { return waits_for[node] > 0; };
  std::uint32_t node = 0;
  while (!is_left(node)) ++node;
  std::vector<bool> seen(nodes.size());
  std::vector<std::uint32_t> walk;
  while (!seen[node]) {
    seen[node] = true;
    walk.push_back(node);
    const auto from = dependencies.of(node);
    node = *std::ranges::find_if(from, is_left);
  }
  walk.erase(walk.begin(), std::ranges::find(walk, node));
  std::ranges::reverse(walk);
  std::string names;
  for (std::size_t i = 0; i < std::min(walk.size(), cycle_names_shown); ++i) {
    names += fmt::format("{}'{}'", i == 0 ? "" : " -> ", display_name(nodes, walk[i]));
  }
  if (walk.size() > cycle_names_shown) {
    names += fmt::format(" -> {} more", walk.size() - cycle_names_shown);
  }
  fail_import("its nodes form a cycle: {} -> '{}'; export the model again", names,
              display_name(nodes, walk.front()));
}

std::vector<std::uint32_t> sort(const std::vector<NodeSource>& nodes,
                                const Dependencies& dependencies) {
  const auto count = std::uint32_t(nodes.size());
  std::vector<std::uint32_t> waits_for(count), first_reader(count, nobody);
  struct Reader {
    std::uint32_t node, next;
  };
  std::vector<Reader> readers;  // a linked list for each node
  for (std::uint32_t node = 0; node < count; ++node) {
    for (const std::uint32_t maker : dependencies.of(node)) {
      ++waits_for[node];
      readers.push_back({node, first_reader[maker]});
      first_reader[maker] = std::uint32_t(readers.size() - 1);
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t node = 0; node < count; ++node)
    if (waits_for[node] == 0) ready.push(node);
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (std::uint32_t r = first_reader[node]; r != nobody; r = readers[r].next) {
      if (--waits_for[readers[r].node] == 0) ready.push(readers[r].node);
    }
  }
  if (order.size() < count) fail_with_cycle(nodes, dependencies, waits_for);
  return order;
}

}  // namespace

std::vector<std::uint32_t> topological_order(const std::vector<NodeSource>& nodes) {
  const Dependencies dependencies = find_dependencies(nodes);
  if (!in_order(dependencies, nodes.size())) return sort(nodes, dependencies);
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace npuscope::npu
