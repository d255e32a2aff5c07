#include "analysis/graph/graph_facts.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/ops/op_times.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_cycles = 100;
constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

std::uint64_t bytes_of(const Bytes& size) { return size.value > 0 ? std::uint64_t(size.value) : 0; }

void add_tensor(TensorSum& sum, std::uint64_t bytes) {
  ++sum.count;
  sum.bytes = sum.bytes + bytes < sum.bytes ? ~std::uint64_t{0} : sum.bytes + bytes;
  sum.without_size += bytes == 0;
}

class Facts {
 public:
  Facts(const Profile& profile, const OpGraph& graph, const OpTimes& times)
      : profile_(profile), graph_(graph), times_(times) {}

  GraphFacts find() {
    count_tensors();
    count_ops();
    for (const Edge& edge : graph_.edges()) {
      if (std::size_t(edge.kind) < facts_.edges.size()) ++facts_.edges[std::size_t(edge.kind)];
    }
    find_components();
    find_chain();
    return std::move(facts_);
  }

 private:
  bool is_op(OpId op) const { return index_of(op) < graph_.size(); }

  void count_tensors() {
    const auto& tensors = profile_.tensors;
    facts_.compiled.assign(graph_.size(), 0);
    facts_.uses.assign(tensors.size(), 0);
    for (const TensorUse& use : profile_.tensor_uses) {
      if (use.tensor < tensors.size()) ++facts_.uses[use.tensor];
      if (is_op(use.consumer)) facts_.compiled[index_of(use.consumer)] = 1;
    }
    std::vector<std::uint32_t> memory(profile_.strings.size(), nowhere);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = tensors[i];
      const std::uint64_t bytes = bytes_of(tensor.size);
      const bool made = is_op(tensor.producer);
      if (made) facts_.compiled[index_of(tensor.producer)] = 1;
      if (tensor.is_shape) {
        ++facts_.shapes;
        continue;
      }
      add_tensor(facts_.tensors, bytes);
      add_tensor(tensor.is_constant    ? facts_.constants
                 : !made               ? facts_.inputs
                 : facts_.uses[i] == 0 ? facts_.outputs
                                       : facts_.inner,
                 bytes);
      std::uint32_t& place = memory[std::uint32_t(tensor.memory)];
      if (place == nowhere) {
        place = std::uint32_t(facts_.memories.size());
        facts_.memories.push_back({tensor.memory, {}});
      }
      add_tensor(facts_.memories[place].sum, bytes);
      facts_.largest.push_back(std::uint32_t(i));
    }
    sort_rows(facts_.largest.begin(), facts_.largest.end(),
              [&](auto a, auto b) { return tensors[a].size.value > tensors[b].size.value; });
  }

  void count_ops() {
    std::vector<std::uint32_t> place_of(profile_.strings.size(), nowhere);
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const Op& op = profile_.ops[i];
      const OpId id{i};
      const bool linked = !graph_.from(id).empty() || !graph_.to(id).empty();
      const bool is_frame = times_.seen[i] == OpTimes::frames_alone && !linked;
      if (is_frame && op.node_kind == StringId::empty) continue;
      if (op.kind != StringId::empty || linked || times_.seen[i]) facts_.compiled[i] = 1;
      if (!facts_.compiled[i]) {
        ++facts_.only_named;
        continue;
      }
      ++facts_.ops;
      facts_.alone += !linked;
      facts_.sources += linked && graph_.to(id).empty();
      facts_.sinks += linked && graph_.from(id).empty();
      std::uint32_t& place = place_of[std::uint32_t(op.kind)];
      if (place == nowhere) {
        place = std::uint32_t(facts_.kinds.size());
        facts_.kinds.push_back({});
        facts_.kinds.back().kind = op.kind;
        facts_.kinds.back().engine = op.engine;
      }
      KindCount& kind = facts_.kinds[place];
      ++kind.ops;
      kind.output_bytes += bytes_of(op.output);
      facts_.ran += times_.seen[i] > 0;
      kind.ran += times_.seen[i] > 0;
      if (times_.ran(id)) kind.work = saturating_add(kind.work, times_.work[i]);
    }
    sort_rows(facts_.kinds.begin(), facts_.kinds.end(),
              [](const KindCount& a, const KindCount& b) { return a.ops > b.ops; });
  }

  void find_components() {
    std::vector<std::uint32_t> root(graph_.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::uint32_t op) {
      while (root[op] != op) op = root[op] = root[root[op]];
      return op;
    };
    for (const Edge& edge : graph_.edges()) {
      const std::uint32_t a = find(index_of(edge.from)), b = find(index_of(edge.to));
      root[std::max(a, b)] = std::min(a, b);
    }
    std::vector<std::uint32_t> members(graph_.size(), 0);
    for (std::uint32_t op = 0; op < graph_.size(); ++op) ++members[find(op)];
    for (const std::uint32_t count : members) {
      facts_.components += count > 1;
      if (count > 1) {
        facts_.largest_component = std::max<std::uint64_t>(facts_.largest_component, count);
      }
    }
  }

  void find_chain() {
    const GraphOrder order = order_of(graph_, EdgeKinds::all());
    std::vector<std::uint32_t> level(order.ranks(), 0), before(order.ranks(), nowhere);
    std::uint32_t last = nowhere;
    for (std::uint32_t rank = 0; rank < order.ranks(); ++rank) {
      const auto ops = order.at(rank);
      if (ops.size() > 1) put_cycle(ops);
      for (const std::uint32_t op : ops) {
        for (const Edge& edge : graph_.from(OpId(op))) {
          const std::uint32_t to = order.rank[index_of(edge.to)];
          if (to == rank || level[to] > level[rank]) continue;
          level[to] = level[rank] + 1;
          before[to] = rank;
        }
      }
      const bool linked = ops.size() > 1 || facts_.compiled[ops[0]];
      if (linked && (last == nowhere || level[rank] > level[last])) last = rank;
    }
    for (std::uint32_t rank = last; rank != nowhere; rank = before[rank]) {
      facts_.chain.push_back(OpId(order.at(rank)[0]));
    }
    std::reverse(facts_.chain.begin(), facts_.chain.end());
    facts_.levels = facts_.chain.size();
    facts_.level.resize(graph_.size());
    std::vector<std::uint64_t> wide(facts_.levels, 0);
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      facts_.level[op] = level[order.rank[op]];
      const bool linked = !graph_.from(OpId(op)).empty() || !graph_.to(OpId(op)).empty();
      if (linked) ++wide[facts_.level[op]];
    }
    for (const std::uint64_t width : wide) facts_.width = std::max(facts_.width, width);
    sort_rows(facts_.cycles.begin(), facts_.cycles.end(),
              [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }

  void put_cycle(std::span<const std::uint32_t> ops) {
    ++facts_.cycle_count;
    if (facts_.cycles.size() == max_cycles) return;
    auto& cycle = facts_.cycles.emplace_back();
    for (const std::uint32_t op : ops) cycle.push_back(OpId(op));
  }

  const Profile& profile_;
  const OpGraph& graph_;
  const OpTimes& times_;
  GraphFacts facts_;
};

}  // namespace

GraphFacts graph_facts(const Profile& profile, const OpGraph& graph, const OpTimes& times) {
  return Facts(profile, graph, times).find();
}

}  // namespace npuscope::analysis
