#include "profile/interval_sets.hpp"

#include <array>

#include "base/parallel.hpp"

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

// What begins within the window, of each set that has any of it.
std::vector<Slice> slices_of(const std::vector<const IntervalSet*>& sets, Interval window) {
  const auto place = [](const IntervalSet& set, std::int64_t time) {
    return std::ranges::lower_bound(set, time, {}, &Interval::begin) - set.begin();
  };
  std::vector<Slice> slices;
  for (const IntervalSet* set : sets) {
    const auto first = place(*set, window.begin), last = place(*set, window.end);
    if (first < last) slices.emplace_back(set->data() + first, std::size_t(last - first));
  }
  return slices;
}

IntervalSet unite(const std::vector<const IntervalSet*>& sets, std::span<const Interval> windows) {
  IntervalSet sum;
  sum.reserve(size_of(slices_of(sets, {windows.front().begin, windows.back().end})));
  UnionOfWindow of_window;
  for (const Interval& window : windows) {
    std::vector<Slice> slices = slices_of(sets, window);
    append_all(sum, of_window.of(slices));
  }
  return sum;
}

}  // namespace

SeenUnion::SeenUnion(std::vector<const IntervalSet*> sets) {
  std::erase_if(sets, [](const IntervalSet* set) { return set->empty(); });
  if (sets.size() == 1) all_ = sets.front();
  if (sets.size() < 2) return;
  const std::vector<Interval> windows = windows_of(std::span(sets));
  std::vector<IntervalSet> parts(std::min(windows.size(), workers()));
  parallel_for(parts.size(), [&](std::size_t part) {
    const std::size_t first = windows.size() * part / parts.size();
    const std::size_t last = windows.size() * (part + 1) / parts.size();
    parts[part] = unite(sets, std::span(windows).subspan(first, last - first));
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

IntervalSet union_of(const IntervalSet& a, const IntervalSet& b) {
  constexpr std::size_t few = 4'096;  // as of an inference: windows would take longer than the rest
  if (a.size() + b.size() > few) return union_of_many({&a, &b});
  IntervalSet sum(a.size() + b.size());
  sum.resize(std::size_t(write_union(a, b, sum.data()) - sum.data()));
  return sum;
}

}  // namespace npuscope
