#include "profile/union_of_many.hpp"

#include <algorithm>
#include <array>

#include "base/parallel.hpp"
#include "profile/append_interval.hpp"

namespace npuscope {
namespace {

using Slice = std::span<const Interval>;

std::size_t size_of(const std::vector<Slice>& slices) {
  std::size_t size = 0;
  for (const Slice& slice : slices) size += slice.size();
  return size;
}

// The union of what begins in one window, two slices by two, until it is asked for the next one.
class UnionOfWindow {
 public:
  Slice of(std::vector<Slice>& slices) {
    for (std::size_t round = 0; slices.size() > 1; ++round) {
      IntervalSet& united = united_[round % 2];
      united.resize(std::max(united.size(), size_of(slices)));
      Interval* end = united.data();
      std::size_t pairs = 0;
      for (std::size_t i = 0; i < slices.size(); i += 2) {
        Interval* const begin = end;
        end = write_union(slices[i], i + 1 < slices.size() ? slices[i + 1] : Slice{}, begin);
        slices[pairs++] = Slice(begin, end);
      }
      slices.resize(pairs);
    }
    return slices.empty() ? Slice{} : slices.front();
  }

 private:
  std::array<IntervalSet, 2> united_;  // of this round and of the one before, which it reads
};

// Windows follow from the set with most intervals: each has as many of its.
class Windows {
 public:
  explicit Windows(const std::vector<const IntervalSet*>& sets) : sets_(sets) {
    std::size_t all = 0;
    const IntervalSet* largest = sets.front();
    for (const IntervalSet* set : sets) {
      all += set->size();
      if (set->size() > largest->size()) largest = set;
    }
    const std::size_t windows = std::min(largest->size(), all / intervals_a_window + 1);
    for (std::size_t window = 1; window < windows; ++window) {
      begins_.push_back((*largest)[largest->size() * window / windows].begin);
    }
  }

  std::size_t count() const { return begins_.size() + 1; }

  // What begins in the windows from first to last.
  std::vector<Slice> slices(std::size_t first, std::size_t last) const {
    std::vector<Slice> slices;
    for (const IntervalSet* set : sets_) {
      const auto begin = place_of(*set, first), end = place_of(*set, last);
      if (begin < end) slices.emplace_back(set->data() + begin, end - begin);
    }
    return slices;
  }

  // The union of these.
  IntervalSet unite(std::size_t first, std::size_t last) const {
    IntervalSet sum;
    sum.reserve(size_of(slices(first, last)));
    UnionOfWindow of_window;
    for (std::size_t window = first; window < last; ++window) {
      std::vector<Slice> of_sets = slices(window, window + 1);
      append_all(sum, of_window.of(of_sets));
    }
    return sum;
  }

 private:
  static constexpr std::size_t intervals_a_window = 8'192;  // with their unions in a core's cache

  std::size_t place_of(const IntervalSet& set, std::size_t window) const {
    if (window == 0) return 0;
    if (window == count()) return set.size();
    const auto starts_before = [](const Interval& interval, std::int64_t time) {
      return interval.begin < time;
    };
    const auto at = std::lower_bound(set.begin(), set.end(), begins_[window - 1], starts_before);
    return std::size_t(at - set.begin());
  }

  const std::vector<const IntervalSet*>& sets_;
  std::vector<std::int64_t> begins_;  // of each window but the first
};

}  // namespace

SeenUnion::SeenUnion(std::vector<const IntervalSet*> sets) {
  std::erase_if(sets, [](const IntervalSet* set) { return set->empty(); });
  if (sets.size() == 1) all_ = sets.front();
  if (sets.size() < 2) return;
  const Windows windows(sets);
  std::vector<IntervalSet> parts(std::min(windows.count(), workers()));
  parallel_for(parts.size(), [&](std::size_t part) {
    parts[part] = windows.unite(windows.count() * part / parts.size(),
                                windows.count() * (part + 1) / parts.size());
  });
  for (std::size_t part = 1; part < parts.size(); ++part) append_all(parts[0], parts[part]);
  made_ = std::move(parts.front());
}

IntervalSet SeenUnion::take() && {
  if (all_ != &made_) return *all_;
  return std::move(made_);
}

IntervalSet union_of_many(std::vector<const IntervalSet*> sets) {
  return SeenUnion(std::move(sets)).take();
}

IntervalSet union_of(const IntervalSet& a, const IntervalSet& b) { return union_of_many({&a, &b}); }

}  // namespace npuscope
