#include "formats/torq/profile/log_inferences.hpp"

#include <algorithm>

namespace npuscope::torq {

bool is_internal(std::string_view dispatch) { return dispatch.starts_with("__"); }

LogInferences::LogInferences(const RuntimeLog& log, const std::vector<LogInterval>& intervals) {
  std::vector<std::int64_t> dispatches;
  std::vector<Interval> calls;
  for (const LogInterval& each : intervals) {
    const std::string_view type = log.strings[each.type];
    if (type == "DISPATCH") dispatches.push_back(each.begin_us);
    if (type == "HAL_CALL" && log.strings[each.dispatch] == "__HAL_QUEUE_EXECUTE__") {
      calls.push_back({each.begin_us, each.end_us});
    }
  }
  std::sort(dispatches.begin(), dispatches.end());
  std::sort(calls.begin(), calls.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  for (const Interval& call : calls) {
    const auto first = std::lower_bound(dispatches.begin(), dispatches.end(), call.begin);
    if (first != dispatches.end() && *first <= call.end) calls_.push_back(call);
  }
  if (calls_.empty()) count_calls(log);
}

std::uint32_t LogInferences::of(const LogInterval& each) const {
  if (by_queue()) {
    const auto after =
        std::upper_bound(calls_.begin(), calls_.end(), each.begin_us,
                         [](std::int64_t at, const Interval& call) { return at < call.begin; });
    return std::uint32_t(std::max<std::ptrdiff_t>(0, after - calls_.begin() - 1));
  }
  const auto found = of_invocation_.find(each.invocation);
  return found == of_invocation_.end() ? 0 : found->second;
}

// Without the queue: how many calls of the same dispatch were before.
void LogInferences::count_calls(const RuntimeLog& log) {
  std::map<StringId, std::uint32_t> calls_of;
  for (const LogEvent& event : log.events) {
    if (is_internal(log.strings[event.dispatch])) continue;
    if (event.action == no_action && log.strings[event.type] != "DISPATCH") continue;
    const auto [place, is_new] = of_invocation_.try_emplace(event.invocation, 0);
    if (is_new) place->second = calls_of[event.dispatch]++;
    count_ = std::max(count_, place->second + 1);
  }
}

std::uint32_t inference_count(const RuntimeLog& log) {
  CountedNotes notes(log.name);
  return LogInferences(log, pair_events(log, notes)).count();
}

}  // namespace npuscope::torq
