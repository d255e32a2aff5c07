#include "report/graph/graph_loads.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::report {
namespace {

class Loads {
 public:
  explicit Loads(const GraphView& view)
      : profile_(view.profile), graph_(view.graph), times_(view.times), facts_(view.facts) {
    uses_data_.assign(graph_.size(), 0);
    for (const TensorUse& use : profile_.tensor_uses) {
      if (index_of(use.consumer) >= graph_.size() || use.tensor >= profile_.tensors.size())
        continue;
      const Tensor& tensor = profile_.tensors[use.tensor];
      if (!tensor.is_shape && !tensor.is_constant) uses_data_[index_of(use.consumer)] = 1;
    }
    find_kernels();
    find_sources();
  }

  // The last of a chain is found first.
  std::vector<OpId> owners() const {
    std::vector<OpId> owners(graph_.size(), OpId::none);
    for (int step = 0; step < max_chain; ++step) {
      for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        if (is_source_[op] && owners[op] == OpId::none) owners[op] = owner_of(op, owners);
      }
    }
    return owners;
  }

 private:
  static constexpr int max_chain = 4;  // DDR to VTCM, multicast, a copy or two within VTCM

  bool is_movement(std::uint32_t op) const {
    const Engine said = profile_.ops[op].engine;
    const std::uint32_t unit = index_of(times_.unit[op]);
    const Engine ran = unit < profile_.units.size() ? profile_.units[unit].engine : Engine::none;
    return analysis::domain_of(said != Engine::none ? said : ran) == analysis::Domain::movement;
  }

  // Of each node the op that computes, the one with most work.
  void find_kernels() {
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      if (!facts_.compiled[op] || profile_.ops[op].node == StringId::empty || is_movement(op))
        continue;
      const auto [place, is_new] = kernel_of_node_.try_emplace(profile_.ops[op].node, op);
      if (!is_new && times_.work[op] > times_.work[place->second]) place->second = op;
    }
  }

  std::optional<std::uint32_t> kernel_of(std::uint32_t op) const {
    const auto place = kernel_of_node_.find(profile_.ops[op].node);
    if (place == kernel_of_node_.end()) return std::nullopt;
    return place->second;
  }

  // Movements that have data of no op that computes: nothing leads to them, or only such movements
  // do. Reused memory carries no data.
  void find_sources() {
    is_source_.assign(graph_.size(), 0);
    for (int step = 0; step < max_chain; ++step) {
      const std::vector<std::uint8_t> before = is_source_;
      const auto has_other_data = [&](std::uint32_t edge) {
        const Edge& each = graph_.edges()[edge];
        return each.kind != EdgeKind::reuse && !before[index_of(each.from)];
      };
      for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        if (!facts_.compiled[op] || before[op] || !is_movement(op)) continue;
        is_source_[op] = std::ranges::none_of(graph_.to(OpId(op)), has_other_data);
      }
    }
  }

  // None: it is no load, or its consumer's owner is not found yet.
  OpId owner_of(std::uint32_t op, const std::vector<OpId>& owners) const {
    OpId consumer = OpId::none;
    for (const Edge& edge : graph_.from(OpId(op))) {
      if (edge.kind == EdgeKind::reuse) continue;
      if (consumer != OpId::none && !are_of_one_node(edge.to, consumer)) return OpId::none;
      if (consumer == OpId::none) consumer = edge.to;
    }
    if (consumer == OpId::none) {
      const auto kernel = kernel_of(op);
      return kernel ? OpId(*kernel) : OpId::none;
    }
    const bool is_load = !uses_data_[op] || are_of_one_node(OpId(op), consumer);
    if (!is_load) return OpId::none;
    return is_movement(index_of(consumer)) ? owners[index_of(consumer)] : consumer;
  }

  bool are_of_one_node(OpId a, OpId b) const {
    const StringId node = profile_.ops[index_of(a)].node;
    return a == b || (node != StringId::empty && node == profile_.ops[index_of(b)].node);
  }

  const Profile& profile_;
  const analysis::OpGraph& graph_;
  const analysis::OpTimes& times_;
  const analysis::GraphFacts& facts_;
  std::vector<std::uint8_t> uses_data_;  // by op: a tensor that is no constant
  std::vector<std::uint8_t> is_source_;  // by op
  std::unordered_map<StringId, std::uint32_t> kernel_of_node_;
};

}  // namespace

std::vector<OpId> owners_of_loads(const GraphView& view) { return Loads(view).owners(); }

}  // namespace npuscope::report
