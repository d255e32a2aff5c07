#include "npuscope/analysis/graph.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace npuscope::analysis {
namespace {

// Stable, linear: `rows` in the order of key(row).
template <class Key>
std::vector<std::uint32_t> counting_sort(const std::vector<std::uint32_t>& rows, std::size_t keys,
                                         std::vector<std::uint32_t>& first, const Key& key) {
  first.assign(keys + 1, 0);
  for (const std::uint32_t row : rows) ++first[key(row) + 1];
  for (std::size_t i = 1; i <= keys; ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> next = first, sorted(rows.size());
  for (const std::uint32_t row : rows) sorted[next[key(row)]++] = row;
  return sorted;
}

// Strongly connected components, without recursion: a path of a million ops is common.
class Components {
 public:
  Components(const OpGraph& graph, EdgeKinds kinds)
      : graph_(graph),
        kinds_(kinds),
        number_(graph.size(), 0),
        low_(graph.size(), 0),
        component_(graph.size(), unset) {}

  static constexpr std::uint32_t unset = std::numeric_limits<std::uint32_t>::max();

  void find() {
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      if (number_[op] == 0) walk(op);
    }
  }
  // Numbered in reverse order: a component's successors have lower numbers.
  const std::vector<std::uint32_t>& component() const { return component_; }
  std::uint32_t count() const { return count_; }

 private:
  struct Step {
    std::uint32_t op = 0;
    std::uint32_t next = 0;  // edge of the op to look at
  };

  void enter(std::uint32_t op) {
    number_[op] = low_[op] = ++visited_;
    open_.push_back(op);
    steps_.push_back({op, 0});
  }

  void walk(std::uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      const std::uint32_t op = steps_.back().op;
      const auto edges = graph_.from(OpId(op));
      if (steps_.back().next == edges.size()) {
        leave(op);
        continue;
      }
      const Edge& edge = edges[steps_.back().next++];
      const std::uint32_t to = index_of(edge.to);
      if (!kinds_.has(edge.kind)) continue;
      if (number_[to] == 0) {
        enter(to);
      } else if (component_[to] == unset) {
        low_[op] = std::min(low_[op], number_[to]);
      }
    }
  }

  void leave(std::uint32_t op) {
    steps_.pop_back();
    if (!steps_.empty()) low_[steps_.back().op] = std::min(low_[steps_.back().op], low_[op]);
    if (low_[op] != number_[op]) return;
    std::uint32_t member;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = count_;
    } while (member != op);
    ++count_;
  }

  const OpGraph& graph_;
  EdgeKinds kinds_;
  std::vector<std::uint32_t> number_, low_, component_;  // number 0: not visited
  std::vector<std::uint32_t> open_;
  std::vector<Step> steps_;
  std::uint32_t visited_ = 0, count_ = 0;
};

}  // namespace

OpGraph::OpGraph(std::size_t ops, std::span<const Edge> edges) {
  std::vector<std::uint32_t> rows, first;
  rows.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (index_of(edges[i].from) >= ops || index_of(edges[i].to) >= ops) {
      ++dangling_;
    } else if (edges[i].from == edges[i].to) {
      ++loops_;
    } else {
      rows.push_back(std::uint32_t(i));
    }
  }
  constexpr std::size_t kinds = std::numeric_limits<std::uint8_t>::max() + std::size_t{1};
  rows = counting_sort(rows, kinds, first, [&](auto row) { return std::size_t(edges[row].kind); });
  rows = counting_sort(rows, ops, first, [&](auto row) { return index_of(edges[row].to); });
  rows = counting_sort(rows, ops, first, [&](auto row) { return index_of(edges[row].from); });
  edges_.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    const Edge& edge = edges[row];
    if (!edges_.empty() && edges_.back().from == edge.from && edges_.back().to == edge.to &&
        edges_.back().kind == edge.kind) {
      ++repeats_;
    } else {
      edges_.push_back(edge);
    }
  }
  rows.resize(edges_.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  by_to_ = counting_sort(rows, ops, first_to_, [&](auto i) { return index_of(edges_[i].to); });
  counting_sort(rows, ops, first_from_, [&](auto i) { return index_of(edges_[i].from); });
}

std::span<const Edge> OpGraph::from(OpId op) const {
  const std::uint32_t begin = first_from_[index_of(op)];
  return {edges_.data() + begin, first_from_[index_of(op) + 1] - begin};
}

std::span<const std::uint32_t> OpGraph::to(OpId op) const {
  const std::uint32_t begin = first_to_[index_of(op)];
  return {by_to_.data() + begin, first_to_[index_of(op) + 1] - begin};
}

OpGraph op_graph(const Profile& profile) {
  if (!profile.edges.empty()) return OpGraph(profile.ops.size(), profile.edges);
  std::vector<Edge> edges;
  const auto op_of = [&](SpanId span) {
    return index_of(span) < profile.spans.size() ? profile.spans.op[index_of(span)] : OpId::none;
  };
  // What an inference does after the one before it had ended is no dependency of its ops.
  const auto& instance = profile.spans.instance;
  const auto inference_of = [&](SpanId span) {
    return index_of(span) < instance.size() ? instance[index_of(span)] : every_instance;
  };
  const auto crosses = [&](const Flow& flow) {
    const std::uint32_t from = inference_of(flow.from), to = inference_of(flow.to);
    return from != to && from != every_instance && to != every_instance;
  };
  // The parts of a program that an estimate divides come in the order of a schedule, tile by tile:
  // of each op the first counts.
  const auto is_within_one = [&](OpId from, OpId to) {
    if (index_of(from) >= profile.ops.size() || index_of(to) >= profile.ops.size()) return false;
    const StringId whole = profile.ops[index_of(from)].split_from;
    return whole != StringId::empty && whole == profile.ops[index_of(to)].split_from;
  };
  std::set<OpId> entered;  // of these
  for (const Flow& flow : profile.flows) {
    const OpId from = op_of(flow.from), to = op_of(flow.to);
    if (is_within_one(from, to)) {
      entered.insert(from);
      if (!entered.insert(to).second) continue;
    }
    if (from != to && !crosses(flow)) edges.push_back({from, to, flow.kind});
  }
  return OpGraph(profile.ops.size(), edges);
}

GraphOrder order_of(const OpGraph& graph, EdgeKinds kinds) {
  Components components(graph, kinds);
  components.find();
  GraphOrder order;
  order.rank = components.component();
  for (std::uint32_t& rank : order.rank) rank = components.count() - 1 - rank;
  std::vector<std::uint32_t> ops(graph.size());
  for (std::uint32_t i = 0; i < ops.size(); ++i) ops[i] = i;
  order.ops =
      counting_sort(ops, components.count(), order.first, [&](auto op) { return order.rank[op]; });
  return order;
}

void Reach::spread() {
  for (const std::uint32_t op : order_.ops) {
    const std::uint64_t bits = bits_[order_.rank[op]];
    if (bits == 0) continue;
    for (const Edge& edge : graph_.from(OpId(op))) {
      if (kinds_.has(edge.kind)) bits_[order_.rank[index_of(edge.to)]] |= bits;
    }
  }
}

}  // namespace npuscope::analysis
