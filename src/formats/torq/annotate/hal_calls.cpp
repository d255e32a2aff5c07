#include "formats/torq/annotate/hal_calls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/sort_rows.hpp"

namespace npuscope::torq {

void HalCalls::take(const LogEvent& event) {
  const std::uint32_t number = numbers_.of(event.invocation);
  if (number == invocations_.size()) invocations_.push_back({event.dispatch});
  invocations_[number].has_details |= !is_whole(event.type);
  const std::uint64_t key = std::uint64_t(number) << 32 | std::uint32_t(event.type);
  const auto next = std::uint32_t(calls_.size());
  const auto add = [&](std::uint32_t before) {
    calls_.push_back({event.time_us, event.time_us, event.type, number, event.action, before});
  };
  if (event.edge == LogEdge::begin) {
    const auto [last, is_first] = open_.try_emplace(key, next);
    add(is_first ? none : std::exchange(last->second, next));
    ++open_count_;
    return;
  }
  const auto last = event.edge == LogEdge::end ? open_.find(key) : open_.end();
  if (last == open_.end()) {
    add(none);
    ends_without_begin_ += event.edge == LogEdge::end;
    return;
  }
  const Call& ended = calls_[last->second];
  calls_[last->second].end_us = event.time_us;
  --open_count_;
  if (ended.before == none) {
    open_.erase(last);
  } else {
    last->second = ended.before;
  }
}

std::vector<HalCall> HalCalls::finish() {
  numbers_ = {};  // a log of nothing but calls has as many
  std::erase_if(calls_, [&](const Call& each) {
    return invocations_[each.invocation].has_details && is_whole(each.type);
  });
  const auto earlier = [&](const Call& a, const Call& b) {
    const auto key = [&](const Call& each) {
      return std::tuple(each.invocation, each.begin_us, each.action);
    };
    const auto of_a = key(a), of_b = key(b);
    return of_a != of_b ? of_a < of_b : strings_[a.type] < strings_[b.type];
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), earlier)) {
    sort_rows(calls_.begin(), calls_.end(), earlier);
  }
  std::vector<HalCall> calls;
  calls.reserve(calls_.size());
  for (const Call& each : calls_) {
    calls.push_back({invocations_[each.invocation].dispatch, each.type,
                     std::min(each.begin_us, each.end_us), std::max(each.begin_us, each.end_us)});
  }
  std::vector<Call>().swap(calls_);
  return calls;
}

}  // namespace npuscope::torq
