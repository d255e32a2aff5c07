#include "analysis/compare/gathering.hpp"

#include <algorithm>

namespace npuscope::analysis {

Gathering::Gathering(std::size_t groups, std::size_t inferences, std::size_t values)
    : groups_(groups), inferences_(inferences) {
  constexpr std::size_t always = 1 << 20;
  if (groups * inferences > std::max(always, 2 * values)) return;
  sums_.assign(groups * inferences, 0);
  seen_.assign(groups * inferences, 0);
}

void Gathering::finish(const std::vector<std::uint32_t>& ids, OpSamples& out) {
  if (sums_.empty()) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.group != b.group ? a.group < b.group : a.inference < b.inference;
    });
  }
  any_.assign(inferences_, false);
  out.first.assign(1, 0);
  std::size_t next = 0;
  for (std::uint32_t group = 0; group < groups_; ++group) {
    if (sums_.empty()) {
      while (next < entries_.size() && entries_[next].group == group) put_entries(next, ids, out);
    } else {
      put_row(group, ids, out);
    }
    out.first.push_back(std::uint32_t(out.entries.size()));
  }
  for (std::size_t i = 0; i < inferences_; ++i) {
    if (any_[i]) out.inferences.push_back(ids[i]);
  }
}

void Gathering::put_row(std::uint32_t group, const std::vector<std::uint32_t>& ids,
                        OpSamples& out) {
  for (std::size_t i = 0; i < inferences_; ++i) {
    const std::size_t place = group * inferences_ + i;
    if (seen_[place] == 0) continue;
    out.entries.push_back({ids[i], sums_[place]});
    any_[i] = true;
  }
}

// All entries of one inference, from `next` on.
void Gathering::put_entries(std::size_t& next, const std::vector<std::uint32_t>& ids,
                            OpSamples& out) {
  const Entry& first = entries_[next];
  double sum = 0;
  while (next < entries_.size() && entries_[next].group == first.group &&
         entries_[next].inference == first.inference) {
    sum += entries_[next++].value;
  }
  out.entries.push_back({ids[first.inference], sum});
  any_[first.inference] = true;
}

}  // namespace npuscope::analysis
