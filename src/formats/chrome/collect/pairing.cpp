#include "formats/chrome/collect/pairing.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "formats/chrome/problems.hpp"
#include "ingest/slices.hpp"

namespace npuscope::chrome {

void ArgumentMerger::take(const Arguments& from, std::size_t from_row,
                          const std::vector<std::uint32_t>& shape_of) {
  if (from.empty()) return;
  const ArgumentRow added = from.row(from_row);
  if (added.shape() == 0) return;
  const std::uint32_t shape = shape_of.empty() ? added.shape() : shape_of[added.shape()];
  if (shape_ != 0) return append(shape, added);
  shape_ = shape;
  for (std::size_t i = 0; i < shapes_[shape].size(); ++i) bits_.push_back(added.bits(i));
}

void ArgumentMerger::append(std::uint32_t added_shape, const ArgumentRow& added) {
  ArgumentShape keys = shapes_[shape_];
  const ArgumentShape& added_keys = shapes_[added_shape];
  for (std::size_t i = 0; i < added_keys.size(); ++i) {
    const auto same = std::ranges::find(keys, added_keys[i].name, &ArgumentKey::name);
    if (same == keys.end()) {
      keys.push_back(added_keys[i]);
      bits_.push_back(added.bits(i));
    } else {
      bits_[std::size_t(same - keys.begin())] = added.bits(i);
      *same = added_keys[i];
    }
  }
  shape_ = shapes_.intern(keys);
}

void ArgumentMerger::put(std::size_t row) {
  if (shape_ == 0) return;
  into_.add(row, shape_, bits_);
  shape_ = 0;
  bits_.clear();
}

namespace {

bool is_meant(const Boundary& begin, StringId name) {
  return name == StringId::empty || begin.name == name || begin.name == StringId::empty;
}

// Takes the begin that this end belongs to off the stack. Those inside it lose what is around them.
std::uint32_t take_begin(std::vector<std::uint32_t>& open, std::span<const Boundary> boundaries,
                         const Boundary& end, std::vector<std::int64_t>* cut_at) {
  const std::size_t depth = std::min(open.size(), deepest_search);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto at = open.end() - 1 - std::ptrdiff_t(i);
    if (!is_meant(boundaries[*at], end.name)) continue;
    const std::uint32_t begin = *at;
    open.erase(at);
    if (i == 0 || cut_at == nullptr) return begin;
    if (cut_at->empty()) cut_at->resize(boundaries.size(), not_cut);
    for (auto inner = open.end() - std::ptrdiff_t(i); inner != open.end(); ++inner) {
      std::int64_t& cut = (*cut_at)[*inner];
      if (cut == not_cut) cut = end.time;
    }
    return begin;
  }
  return unmatched;
}

// Of each track together, in the order of time.
std::vector<std::uint32_t> in_order(std::span<const Boundary> boundaries) {
  std::vector<std::uint32_t> order(boundaries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(boundaries[a].track, boundaries[a].time) <
           std::tie(boundaries[b].track, boundaries[b].time);
  });
  return order;
}

// Begins and ends in the order of the file.
std::vector<Boundary> boundaries_of(const Slices& slices, const Ends& ends) {
  std::vector<Boundary> boundaries;
  std::uint32_t end = 0;
  const auto add_ends_before = [&](std::size_t slice) {
    for (; end < ends.size() && ends.slices_before[end] <= slice; ++end) {
      boundaries.push_back({ends.thread[end], ends.time[end], ends.name[end], end, true});
    }
  };
  for (std::uint32_t slice = 0; slice < slices.size(); ++slice) {
    add_ends_before(slice);
    if (slices.duration[slice] != unfinished) continue;
    boundaries.push_back(
        {slices.thread[slice], slices.start[slice], slices.name[slice], slice, false});
  }
  add_ends_before(slices.size());
  return boundaries;
}

// Of each thread, the time of its last event.
std::vector<std::int64_t> last_times(const Slices& slices, const Ends& ends) {
  std::vector<std::int64_t> last;
  const auto see = [&](std::uint32_t thread, std::int64_t time) {
    if (thread >= last.size()) last.resize(thread + 1, std::numeric_limits<std::int64_t>::min());
    last[thread] = std::max(last[thread], time);
  };
  for (std::size_t i = 0; i < slices.size(); ++i) {
    see(slices.thread[i], slices.start[i] + std::max<std::int64_t>(slices.duration[i], 0));
  }
  for (std::size_t i = 0; i < ends.size(); ++i) see(ends.thread[i], ends.time[i]);
  return last;
}

// A slice and its end.
struct Pair {
  std::uint32_t slice = 0;
  std::uint32_t end = 0;
};

// `pairs` in the order of the slices.
void append_arguments(Slices& slices, const Arguments& of_ends, std::span<const Pair> pairs,
                      ShapeTable& shapes) {
  if (of_ends.empty()) return;
  Arguments all;
  ArgumentMerger merger(all, shapes);
  std::size_t next = 0;
  for (std::uint32_t row = 0; row < slices.size(); ++row) {
    merger.take(slices.arguments, row);
    if (next < pairs.size() && pairs[next].slice == row) {
      merger.take(of_ends, pairs[next++].end);
    }
    merger.put(row);
  }
  all.resize(slices.size());
  slices.arguments = std::move(all);
}

}  // namespace

std::vector<std::uint32_t> pair_boundaries(std::span<const Boundary> boundaries,
                                           std::vector<std::int64_t>* cut_at) {
  std::vector<std::uint32_t> partner(boundaries.size(), unmatched);
  std::vector<std::uint32_t> open;
  std::uint64_t track = 0;
  for (const std::uint32_t at : in_order(boundaries)) {
    const Boundary& boundary = boundaries[at];
    if (boundary.track != track) open.clear();
    track = boundary.track;
    if (!boundary.is_end) {
      open.push_back(at);
    } else if (const auto begin = take_begin(open, boundaries, boundary, cut_at);
               begin != unmatched) {
      partner[at] = begin;
      partner[begin] = at;
    }
  }
  return partner;
}

void pair_begins_and_ends(Slices& slices, const Ends& ends, ShapeTable& shapes,
                          Problems& problems) {
  const std::vector<Boundary> boundaries = boundaries_of(slices, ends);
  std::vector<std::int64_t> cut_at;
  const std::vector<std::uint32_t> partner = pair_boundaries(boundaries, &cut_at);
  const std::vector<std::int64_t> last = last_times(slices, ends);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    if (boundary.is_end) {
      if (partner[i] == unmatched) problems.add(Problem::unmatched_end, 0);
      continue;
    }
    if (partner[i] == unmatched && !cut_at.empty() && cut_at[i] != not_cut) {
      problems.add(Problem::cut_begin, 0);
      slices.duration[boundary.row] = cut_at[i] - boundary.time;
      continue;
    }
    if (partner[i] == unmatched) {
      problems.add(Problem::unmatched_begin, 0);
      slices.duration[boundary.row] = last[slices.thread[boundary.row]] - boundary.time;
      continue;
    }
    const Boundary& end = boundaries[partner[i]];
    slices.duration[boundary.row] = end.time - boundary.time;
    pairs.push_back({boundary.row, end.row});
  }
  append_arguments(slices, ends.arguments, pairs, shapes);
}

}  // namespace npuscope::chrome
