#include "analysis/path/path_links.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"

namespace npuscope::analysis {

void StepwiseEdges::prepare() {
  const std::size_t ops = profile_.ops.size();
  CountingSort by_consumer(edges_.size(), ops, [&](std::size_t i) { return to_[i]; });
  first_into_ = by_consumer.first();
  std::vector<Followed> sorted(edges_.size());
  by_consumer.place([&](std::size_t i, std::uint32_t at) { sorted[at] = edges_[i]; });
  edges_ = std::move(sorted);
  is_followed_.assign(ops, false);
  met_from_.assign(ops, std::numeric_limits<std::int64_t>::min());
  for (std::uint32_t op = 0; op < ops; ++op) {
    for (const Followed& edge : into(op)) {
      is_followed_[edge.from] = true;
      const OpRun& producer = nodes_.run(edge.from);
      met_from_[op] = std::max(met_from_[op], producer.first_end);
      unmet_edges_ += nodes_.run(op).last_begin < producer.first_end ? 1 : 0;
    }
  }
}

std::size_t StepwiseEdges::links_to(std::uint32_t node) const {
  const std::size_t op = graph_.op_of(node);
  const auto edges = into(op);
  if (edges.empty() || !is_consumer(node)) return 0;
  if (graph_.start[node] >= met_from_[op]) return edges.size();
  return std::size_t(std::count_if(edges.begin(), edges.end(), [&](const Followed& edge) {
    return graph_.start[node] >= nodes_.run(edge.from).first_end;
  }));
}

// What began before is told anew, so that several can go through parts of the nodes side by side.
StepwiseEdges::Sweep::Sweep(const StepwiseEdges& edges, std::uint32_t first_node)
    : edges_(edges), producers_(edges.is_followed_.size()) {
  while (next_node_ < first_node) begin(next_node_++);
}

bool StepwiseEdges::Sweep::go_to(std::uint32_t node) {
  ask_ahead(node);
  begin_ = edges_.graph_.start[node];
  const std::size_t count = edges_.nodes_.count();
  while (next_node_ < count && edges_.graph_.start[next_node_] <= begin_) begin(next_node_++);
  if (!edges_.is_consumer(node)) return false;
  place_ = edges_.nodes_.place_of(node);
  return true;
}

// Which op comes next is no more regular than the program: what is asked of it is far apart.
void StepwiseEdges::Sweep::ask_ahead(std::uint32_t node) const {
  constexpr std::uint32_t near = 6, far = 12;
  const auto& op = edges_.graph_.op;
  if (node + far >= op.size()) return;
  if (const std::size_t next = op[node + far]; next < producers_.size()) {
    __builtin_prefetch(&producers_[next]);
    __builtin_prefetch(edges_.edges_.data() + edges_.first_into_[next]);
  }
  for (const Followed& edge : edges_.into(op[node + near])) {
    __builtin_prefetch(&producers_[edge.from]);
  }
}

void StepwiseEdges::Sweep::begin(std::uint32_t node) {
  const std::size_t op = edges_.graph_.op_of(node);
  if (op >= producers_.size() || !edges_.is_followed_[op] || !edges_.nodes_.is_first(node)) return;
  if (!edges_.nodes_.is_plain() && edges_.nodes_.run(op).transfers &&
      !edges_.nodes_.is_transfer(edges_.graph_.row[node])) {
    return;  // the results are there when its transfers are
  }
  Producer& producer = producers_[op];
  while (producer.next_end < edges_.graph_.start[node]) end_next(producer);
  const std::int64_t end = end_of(node);
  if (producer.next == PathGraph::none) {
    producer.next = node;
    producer.next_end = end;
    return;
  }
  if (producer.running == PathGraph::none) {
    producer.running = std::uint32_t(running_.size());
    running_.emplace_back();
  }
  std::vector<std::uint32_t>& running = running_[producer.running];
  const auto later = [&](std::uint32_t a, std::uint32_t b) { return ends_later(a, b); };
  const bool is_next = ends_later(producer.next, node);
  running.push_back(is_next ? producer.next : node);
  std::push_heap(running.begin(), running.end(), later);
  if (!is_next) return;
  producer.next = node;
  producer.next_end = end;
}

void StepwiseEdges::Sweep::take_running(Producer& producer) {
  std::vector<std::uint32_t>& running = running_[producer.running];
  if (running.empty()) return;
  std::pop_heap(running.begin(), running.end(),
                [&](std::uint32_t a, std::uint32_t b) { return ends_later(a, b); });
  producer.next = running.back();
  producer.next_end = end_of(producer.next);
  running.pop_back();
}

// Of those that end at once the one that began later.
bool StepwiseEdges::Sweep::ends_later(std::uint32_t node, std::uint32_t other) const {
  if (end_of(node) != end_of(other)) return end_of(node) > end_of(other);
  const PathNodes& nodes = edges_.nodes_;
  return nodes.is_before(nodes.execution(other), nodes.execution(node));
}

}  // namespace npuscope::analysis
