// Which inference what a runtime log tells is of, by when it began: a call of the HAL's queue that
// runs dispatches is one; without such calls the n-th call of a dispatch is.
//
//   const LogInferences inferences(log, pair_events(log, notes));
//   inferences.count(), inferences.of(interval)     // 3; 0, 1 or 2
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/torq/annotate/log_intervals.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// Of the runtime's own steps, not of the model.
bool is_internal(std::string_view dispatch);

class LogInferences {
 public:
  // Calls of the queue count where a dispatch begins within them.
  LogInferences(const RuntimeLog& log, const std::vector<LogInterval>& intervals);

  bool by_queue() const { return !calls_.empty(); }
  const std::vector<Interval>& calls() const { return calls_; }
  std::uint32_t count() const { return by_queue() ? std::uint32_t(calls_.size()) : count_; }
  std::uint32_t of(const LogInterval& each) const;

 private:
  void count_calls(const RuntimeLog& log);

  std::vector<Interval> calls_;
  std::map<std::int64_t, std::uint32_t> of_invocation_;
  std::uint32_t count_ = 0;
};

}  // namespace npuscope::torq
