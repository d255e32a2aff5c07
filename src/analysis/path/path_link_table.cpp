#include "analysis/path/path_link_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/counting_sort.hpp"
#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

class LinkTable {
 public:
  LinkTable(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
            const StepwiseEdges& stepwise)
      : graph_(graph),
        nodes_(nodes),
        loose_(loose),
        stepwise_(stepwise),
        slices_(std::clamp<std::size_t>(workers(), 1, 8)) {}

  bool write() {
    sort_loose();
    std::vector<std::uint32_t> first(slices_, 0);
    parallel_for(slices_, [&](std::size_t slice) { first[slice] = count_slice(slice); });
    std::uint32_t count = 0;
    for (std::uint32_t& each : first) count += std::exchange(each, count);
    graph_.links.resize(count);
    graph_.first_link.resize(graph_.size() + 1);
    graph_.first_link[graph_.size()] = count;
    std::vector<char> in_order(slices_);
    parallel_for(slices_,
                 [&](std::size_t slice) { in_order[slice] = write_slice(slice, first[slice]); });
    return std::find(in_order.begin(), in_order.end(), false) == in_order.end();
  }

 private:
  // Each slice begins anew with what has ended before it, so there are no more than threads, and
  // later ones are shorter: telling a node anew takes a quarter of writing one.
  std::uint32_t first_of(std::size_t slice) const {
    const auto share = [](std::size_t slices) { return 1 - std::pow(0.75, double(slices)); };
    return std::uint32_t(double(graph_.size()) * (share(slice) / share(slices_)));
  }

  void sort_loose() {
    if (loose_.empty()) return;
    CountingSort by_node(loose_.size(), graph_.size(), [&](std::size_t i) { return loose_[i].to; });
    first_loose_ = by_node.first();
    by_node.place_items(sorted_);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return loose_[a].place < loose_[b].place;
    };
    parallel_for(slices_, [&](std::size_t slice) {
      for (std::uint32_t node = first_of(slice); node < first_of(slice + 1); ++node) {
        const auto begin = sorted_.begin() + first_loose_[node];
        const auto end = sorted_.begin() + first_loose_[node + 1];
        if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
      }
    });
  }

  std::span<const std::uint32_t> loose_of(std::uint32_t node) const {
    if (sorted_.empty()) return {};
    return std::span(sorted_).subspan(first_loose_[node],
                                      first_loose_[node + 1] - first_loose_[node]);
  }

  bool follows(std::uint32_t node) const { return !stepwise_.empty() && node < nodes_.count(); }

  std::uint32_t count_slice(std::size_t slice) const {
    const std::uint32_t first = first_of(slice), last = first_of(slice + 1);
    std::size_t count = sorted_.empty() ? 0 : first_loose_[last] - first_loose_[first];
    for (std::uint32_t node = first; node < last && follows(node); ++node) {
      count += stepwise_.links_to(node);
    }
    return std::uint32_t(count);
  }

  bool write_slice(std::size_t slice, std::uint32_t next) {
    const std::uint32_t first = first_of(slice), last = first_of(slice + 1);
    if (first == last) return true;
    std::optional<StepwiseEdges::Sweep> sweep;
    if (follows(first)) sweep.emplace(stepwise_, first);
    bool in_order = true;
    const auto put = [&](std::uint32_t node, const PathLink& link) {
      in_order = in_order && link.from < node;
      graph_.links[next++] = link;
    };
    PathLink* const links = graph_.links.data();
    for (std::uint32_t node = first; node < last; ++node) {
      graph_.first_link[node] = next;
      const std::uint32_t before = graph_.unit_before[node];
      in_order = in_order && (before < node || before == PathGraph::none);
      const auto loose = loose_of(node);
      std::size_t put_loose = 0;
      if (follows(node) && sweep->go_to(node)) {
        for (const StepwiseEdges::Followed& edge : stepwise_.into(graph_.op_of(node))) {
          for (; put_loose < loose.size() && loose_[loose[put_loose]].place <= edge.edge;
               ++put_loose) {
            put(node, loose_[loose[put_loose]].link);
          }
          PathLink& link = links[next];
          if (!sweep->link(edge, link)) continue;
          in_order = link.from < node && in_order;
          next += 1;
        }
      }
      for (; put_loose < loose.size(); ++put_loose) put(node, loose_[loose[put_loose]].link);
    }
    return in_order;
  }

  PathGraph& graph_;
  const PathNodes& nodes_;
  const std::vector<LooseLink>& loose_;
  const StepwiseEdges& stepwise_;
  std::size_t slices_;
  std::vector<std::uint32_t> first_loose_;  // by node, in sorted_; one more
  Column<std::uint32_t> sorted_;            // places in loose_
};

}  // namespace

bool write_links(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
                 const StepwiseEdges& stepwise) {
  return LinkTable(graph, nodes, loose, stepwise).write();
}

}  // namespace npuscope::analysis
