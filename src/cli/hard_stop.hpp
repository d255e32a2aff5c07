// Ends the program when a call that cannot be interrupted takes too long: SQLite looks at no clock
// while it sorts, or within one function of SQL.
//
//   HardStop stop(65s, usage_error("..."));   // says so and exits, 65 s from here
//   ...                                       // unless it is gone by then
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "npuscope/base/result.hpp"

namespace npuscope::cli {

class HardStop {
 public:
  HardStop(std::chrono::milliseconds after, Error error);

  // Who waits for a reader of the output is not stuck.
  void set_writing(bool writing) { writing_ = writing; }

 private:
  void watch(const std::stop_token& stop, std::chrono::milliseconds after, const Error& error);

  std::atomic<bool> writing_ = false;
  std::mutex mutex_;
  std::condition_variable_any gone_;
  std::jthread watcher_;  // last: it uses the others
};

}  // namespace npuscope::cli
