#include "analysis/path/path_nodes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

// By start, those that start at once as they were; starts are below 2^bits.
void radix_sort(Column<NodeStart>& nodes, int bits) {
  constexpr int digit = 9;
  Column<NodeStart> sorted;
  sorted.resize(nodes.size());
  for (int shift = 0; shift < bits; shift += digit) {
    const auto bucket_of = [shift](const NodeStart& node) {
      return std::size_t(node.start >> shift) & ((std::size_t{1} << digit) - 1);
    };
    std::uint32_t next[std::size_t{1} << digit] = {};
    for (const NodeStart& node : nodes) next[bucket_of(node)] += 1;
    std::uint32_t place = 0;
    for (std::uint32_t& each : next) place += std::exchange(each, place);
    for (const NodeStart& node : nodes) sorted[next[bucket_of(node)]++] = node;
    nodes.swap(sorted);
  }
}

// The nodes of a unit come nearly by start, so those of a slice of the timeline are together in
// each: a slice is small enough to be sorted in the processor's cache.
class StartOrder {
 public:
  StartOrder(const Column<std::int64_t>& starts, const std::vector<std::uint32_t>& first_of_unit)
      : starts_(starts), first_of_unit_(first_of_unit), by_start_(first_of_unit.size() - 1) {
    const std::size_t size = starts.size(), units = by_start_.size();
    std::uint64_t last = 0;
    for (std::size_t node = 0; node < size; ++node) last = std::max(last, start_of(node));
    width_ = last / max_slices(size, units) + 1;
    first_of_slice_.assign(std::size_t(last / width_) + 2, 0);
    places_.resize(first_of_slice_.size() * units);
  }

  void run(const TakeNodes& take) {
    parallel_for(by_start_.size(), [&](std::size_t unit) { cut_unit(unit); });
    const std::size_t units = by_start_.size();
    for (std::size_t slice = 0; slice < first_of_slice_.size(); ++slice) {
      for (std::size_t unit = 0; unit < units; ++unit) {
        first_of_slice_[slice] += places_[slice * units + unit];
      }
    }
    const std::size_t slices = first_of_slice_.size() - 1;
    parallel_for(slices, [&](std::size_t slice) { take_slice(slice, take); });
  }

 private:
  std::uint64_t start_of(std::size_t sequence) const {
    return std::uint64_t(std::max<std::int64_t>(starts_[sequence], 0));
  }

  // Where each slice begins among the unit's nodes, which are put by start first.
  void cut_unit(std::size_t unit) {
    const std::uint32_t first = first_of_unit_[unit], last = first_of_unit_[unit + 1];
    bool in_order = true;
    for (std::uint32_t i = first + 1; i < last; ++i) {
      in_order = in_order && start_of(i - 1) <= start_of(i);
    }
    std::vector<std::uint32_t>& sorted = by_start_[unit];
    if (!in_order) {
      sorted.resize(last - first);
      std::iota(sorted.begin(), sorted.end(), first);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return start_of(a) < start_of(b); });
    }
    std::uint32_t place = 0;
    for (std::size_t slice = 0; slice < first_of_slice_.size(); ++slice) {
      std::uint32_t end = last - first;
      while (place < end) {
        const std::uint32_t middle = place + (end - place) / 2;
        const bool before = start_of(sequence_at(unit, middle)) / width_ < slice;
        (before ? place : end) = before ? middle + 1 : middle;
      }
      places_[slice * by_start_.size() + unit] = place;
    }
  }

  std::uint32_t sequence_at(std::size_t unit, std::uint32_t place) const {
    const auto& sorted = by_start_[unit];
    return sorted.empty() ? first_of_unit_[unit] + place : sorted[place];
  }

  void take_slice(std::size_t slice, const TakeNodes& take) {
    const std::size_t units = by_start_.size();
    const std::uint32_t* const begin = &places_[slice * units];
    const std::uint32_t* const end = begin + units;
    Column<NodeStart> nodes;
    nodes.reserve(first_of_slice_[slice + 1] - first_of_slice_[slice]);
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      for (std::uint32_t place = begin[unit]; place < end[unit]; ++place) {
        const std::uint32_t sequence = sequence_at(unit, place);
        nodes.push_back({start_of(sequence) - slice * width_, sequence, unit});
      }
    }
    radix_sort(nodes, int(std::bit_width(width_)));
    take(slice, first_of_slice_[slice], nodes);
  }

  const Column<std::int64_t>& starts_;
  const std::vector<std::uint32_t>& first_of_unit_;
  std::vector<std::vector<std::uint32_t>> by_start_;  // of units that are not; else empty
  std::uint64_t width_ = 1;                           // ticks of a slice
  std::vector<std::uint32_t> first_of_slice_;         // nodes; one more
  std::vector<std::uint32_t> places_;  // by slice and unit: where it begins among the unit's nodes
};

}  // namespace

std::size_t max_slices(std::size_t nodes, std::size_t units) {
  constexpr std::size_t nodes_of_slice = 16'384;
  return std::max<std::size_t>(1, std::min(nodes / nodes_of_slice, nodes / (8 * units)));
}

void take_by_start(const Column<std::int64_t>& starts,
                   const std::vector<std::uint32_t>& first_of_unit, const TakeNodes& take) {
  StartOrder(starts, first_of_unit).run(take);
}

NodeOrder order_by_start(PathGraph& graph, const std::vector<std::uint32_t>& first_of_unit) {
  NodeOrder order;
  order.node_of.resize(graph.start.size());
  order.sequence_of.resize(graph.start.size());
  graph.unit.resize(graph.start.size());
  take_by_start(graph.start, first_of_unit,
                [&](std::size_t, std::uint32_t node, std::span<const NodeStart> nodes) {
                  for (const NodeStart& each : nodes) {
                    order.sequence_of[node] = each.sequence;
                    graph.unit[node] = each.unit;
                    order.node_of[each.sequence] = node++;
                  }
                });
  return order;
}

}  // namespace npuscope::analysis
