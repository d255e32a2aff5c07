// The invocations of a log, numbered in the order in which it first has them. Ids that grow, as the
// runtime counts them, take sixteen bytes each; only others go through a map.
//
//   numbers.of(3);  numbers.of(7);  numbers.of(3);   // 0, 1, 0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace npuscope::torq {

class InvocationNumbers {
 public:
  // Of a new one: how many there were.
  std::uint32_t of(std::int64_t id) {
    if (count_ > 0 && id == last_.id) return last_.number;
    last_ = {id, find_or_add(id)};
    return last_.number;
  }

 private:
  struct Numbered {
    std::int64_t id = 0;
    std::uint32_t number = 0;
  };

  std::uint32_t find_or_add(std::int64_t id) {
    if (growing_.empty() || id > growing_.back().id) {
      growing_.push_back({id, count_});
      return count_++;
    }
    const auto found = find(id);
    if (found->id == id) return found->number;
    const auto [place, is_new] = others_.try_emplace(id, count_);
    count_ += is_new;
    return place->second;
  }
  // The first that is not below; there is one. Mostly one of the last.
  std::vector<Numbered>::const_iterator find(std::int64_t id) const {
    auto at = growing_.end() - 1;
    for (int i = 0; i < 8 && at != growing_.begin() && (at - 1)->id >= id; ++i) --at;
    if (at == growing_.begin() || (at - 1)->id < id) return at;
    return std::lower_bound(
        growing_.begin(), at, id,
        [](const Numbered& each, std::int64_t wanted) { return each.id < wanted; });
  }

  std::vector<Numbered> growing_;
  std::unordered_map<std::int64_t, std::uint32_t> others_;
  std::uint32_t count_ = 0;
  Numbered last_;
};

}  // namespace npuscope::torq
