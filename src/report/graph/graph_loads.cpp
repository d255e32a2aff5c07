#include "report/graph/graph_loads.hpp"

#include <optional>
#include <unordered_map>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::report {
namespace {

class Loads {
 public:
  explicit Loads(const GraphView& view)
      : profile_(view.profile), graph_(view.graph), times_(view.times), facts_(view.facts) {
    uses_constant_.assign(graph_.size(), 0);
    uses_other_.assign(graph_.size(), 0);
    for (const TensorUse& use : profile_.tensor_uses) {
      if (index_of(use.consumer) >= graph_.size() || use.tensor >= profile_.tensors.size())
        continue;
      const Tensor& tensor = profile_.tensors[use.tensor];
      if (tensor.is_shape) continue;
      (tensor.is_constant ? uses_constant_ : uses_other_)[index_of(use.consumer)] = 1;
    }
    find_kernels();
  }

  std::vector<OpId> owners() const {
    std::vector<OpId> owners(graph_.size(), OpId::none);
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      if (facts_.compiled[op] && is_movement(op)) owners[op] = owner_of(op);
    }
    return owners;
  }

 private:
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

  // None: it is no load. Only what nothing leads to can be one: it has no data from other ops.
  OpId owner_of(std::uint32_t op) const {
    if (!graph_.to(OpId(op)).empty()) return OpId::none;
    const auto consumers = graph_.from(OpId(op));
    if (consumers.empty()) {
      const auto kernel = kernel_of(op);
      return kernel ? OpId(*kernel) : OpId::none;
    }
    const OpId consumer = consumers.front().to;
    for (const Edge& edge : consumers) {
      if (edge.to != consumer) return OpId::none;
    }
    const bool brings_constants = uses_constant_[op] && !uses_other_[op];
    const bool is_same_node = profile_.ops[op].node != StringId::empty &&
                              profile_.ops[op].node == profile_.ops[index_of(consumer)].node;
    const bool is_load = (brings_constants || is_same_node) && !is_movement(index_of(consumer));
    return is_load ? consumer : OpId::none;
  }

  const Profile& profile_;
  const analysis::OpGraph& graph_;
  const analysis::OpTimes& times_;
  const analysis::GraphFacts& facts_;
  std::vector<std::uint8_t> uses_constant_, uses_other_;  // by op
  std::unordered_map<StringId, std::uint32_t> kernel_of_node_;
};

}  // namespace

std::vector<OpId> owners_of_loads(const GraphView& view) { return Loads(view).owners(); }

}  // namespace npuscope::report
