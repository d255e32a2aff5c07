#include "formats/chrome/collect/pairing.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "formats/chrome/collect/argument_merger.hpp"
#include "formats/chrome/limits.hpp"

namespace npuscope::chrome {
namespace {

bool is_meant(const Boundary& begin, StringId name) {
  return name == StringId::empty || begin.name == name || begin.name == StringId::empty;
}

// Takes the begin that this end belongs to off the stack.
std::uint32_t take_begin(std::vector<std::uint32_t>& open, std::span<const Boundary> boundaries,
                         StringId name) {
  const std::size_t depth = std::min(open.size(), deepest_search);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto at = open.end() - 1 - std::ptrdiff_t(i);
    if (!is_meant(boundaries[*at], name)) continue;
    const std::uint32_t begin = *at;
    open.erase(at);
    return begin;
  }
  return unmatched;
}

// The slices that are open on one track. One that ended before what is open inside it stays until
// the next moment, to end that too.
class OpenSlices {
 public:
  OpenSlices(std::span<const Boundary> boundaries, Pairs& pairs)
      : boundaries_(boundaries), pairs_(pairs) {}

  void take(std::uint32_t at) {
    const Boundary& boundary = boundaries_[at];
    if (ended_ > 0) leave_ended(boundary.time);
    if (!boundary.is_end) {
      open_.push_back(at);
    } else if (const std::uint32_t begin = take_begin(boundary.name); begin != unmatched) {
      pairs_.partner[at] = begin;
      pairs_.partner[begin] = at;
    }
  }
  void finish() {
    if (ended_ > 0) leave_ended(std::numeric_limits<std::int64_t>::max());
    open_.clear();
  }

 private:
  bool has_ended(std::uint32_t begin) const { return pairs_.partner[begin] != unmatched; }
  std::uint32_t take_begin(StringId name);
  void leave_ended(std::int64_t time);

  std::span<const Boundary> boundaries_;
  Pairs& pairs_;
  std::vector<std::uint32_t> open_;
  std::size_t ended_ = 0;  // of them
};

std::uint32_t OpenSlices::take_begin(StringId name) {
  const std::size_t depth = std::min(open_.size(), deepest_search);
  for (std::size_t i = 0; i < depth; ++i) {
    const std::uint32_t begin = open_[open_.size() - 1 - i];
    if (has_ended(begin) || !is_meant(boundaries_[begin], name)) continue;
    if (i == 0) {
      open_.pop_back();
    } else {
      ++ended_;
    }
    return begin;
  }
  return unmatched;
}

// All that ended so ended at one moment: the next event at another one is here.
void OpenSlices::leave_ended(std::int64_t time) {
  for (; ended_ > 0 && has_ended(open_.back()); --ended_) open_.pop_back();
  if (ended_ == 0) return;
  const auto ended = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](std::uint32_t begin) { return has_ended(begin); });
  const std::int64_t end = boundaries_[pairs_.partner[*ended]].time;
  if (time <= end) return;
  if (pairs_.cut_at.empty()) pairs_.cut_at.resize(boundaries_.size(), Pairs::not_cut);
  for (; ended_ > 0; open_.pop_back()) {
    if (has_ended(open_.back())) {
      --ended_;
    } else {
      pairs_.cut_at[open_.back()] = end;
    }
  }
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

}  // namespace

std::vector<std::uint32_t> pair_boundaries(std::span<const Boundary> boundaries) {
  std::vector<std::uint32_t> partner(boundaries.size(), unmatched);
  std::vector<std::uint32_t> open;
  std::uint64_t track = 0;
  for (const std::uint32_t at : in_order(boundaries)) {
    const Boundary& boundary = boundaries[at];
    if (boundary.track != track) open.clear();
    track = boundary.track;
    if (!boundary.is_end) {
      open.push_back(at);
    } else if (const auto begin = take_begin(open, boundaries, boundary.name); begin != unmatched) {
      partner[at] = begin;
      partner[begin] = at;
    }
  }
  return partner;
}

Pairs pair_nested(std::span<const Boundary> boundaries) {
  Pairs pairs;
  pairs.partner.assign(boundaries.size(), unmatched);
  OpenSlices open(boundaries, pairs);
  std::uint64_t track = 0;
  for (const std::uint32_t at : in_order(boundaries)) {
    if (boundaries[at].track != track) open.finish();
    track = boundaries[at].track;
    open.take(at);
  }
  open.finish();
  return pairs;
}

void pair_begins_and_ends(Slices& slices, const Ends& ends, ShapeTable& shapes,
                          Problems& problems) {
  const std::vector<Boundary> boundaries = boundaries_of(slices, ends);
  const auto [partner, cut_at] = pair_nested(boundaries);
  const std::vector<std::int64_t> last = last_times(slices, ends);
  ArgumentMerger merger(slices.arguments, slices.size(), shapes);
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    if (boundary.is_end) {
      if (partner[i] == unmatched) problems.add(Problem::unmatched_end, 0);
      continue;
    }
    if (!cut_at.empty() && cut_at[i] != Pairs::not_cut) {
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
    merger.merge(boundary.row, ends.arguments, end.row);
  }
}

}  // namespace npuscope::chrome
