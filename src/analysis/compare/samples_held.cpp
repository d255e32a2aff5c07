#include "analysis/compare/samples_held.hpp"

#include <algorithm>
#include <utility>

#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t groups_at_once = 8;  // numbers of a line of the processor's cache

}  // namespace

Gathering::Gathering(std::size_t groups, std::size_t inferences, std::size_t values)
    : groups_(groups), inferences_(inferences) {
  constexpr std::size_t always = 1 << 20;
  if (groups * inferences > std::max(always, 2 * values)) return;
  sums_.assign(groups * inferences, 0);
  seen_.assign(groups * inferences, 0);
}

void Gathering::finish(const std::vector<std::uint32_t>& ids, OpSamples& out) {
  if (sums_.empty()) {
    sort_rows(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.group != b.group ? a.group < b.group : a.inference < b.inference;
    });
  }
  any_.assign(inferences_, false);
  out.first.assign(1, 0);
  if (sums_.empty()) {
    std::size_t next = 0;
    for (std::uint32_t group = 0; group < groups_; ++group) {
      while (next < entries_.size() && entries_[next].group == group) put_entries(next, ids, out);
      out.first.push_back(std::uint32_t(out.entries.size()));
    }
  } else {
    out.entries.reserve(std::size_t(std::count(seen_.begin(), seen_.end(), 1)));
    for (std::size_t first = 0; first < groups_; first += groups_at_once) put_rows(first, ids, out);
  }
  for (std::size_t i = 0; i < inferences_; ++i) {
    if (any_[i]) out.inferences.push_back(ids[i]);
  }
}

// Those of some groups, which stand side by side in each inference.
void Gathering::put_rows(std::size_t first, const std::vector<std::uint32_t>& ids, OpSamples& out) {
  const std::size_t count = std::min(groups_at_once, groups_ - first);
  std::size_t next[groups_at_once] = {};
  for (std::size_t i = 0; i < inferences_; ++i) {
    const std::uint8_t* const seen = &seen_[i * groups_ + first];
    for (std::size_t group = 0; group < count; ++group) next[group] += seen[group];
  }
  std::size_t place = out.entries.size();
  for (std::size_t group = 0; group < count; ++group) {
    place += std::exchange(next[group], place);
    out.first.push_back(std::uint32_t(place));
  }
  out.entries.resize(place);
  for (std::size_t i = 0; i < inferences_; ++i) {
    const std::size_t at = i * groups_ + first;
    for (std::size_t group = 0; group < count; ++group) {
      if (seen_[at + group] == 0) continue;
      out.entries[next[group]++] = {ids[i], sums_[at + group]};
      any_[i] = true;
    }
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
