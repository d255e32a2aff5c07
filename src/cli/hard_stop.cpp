#include "cli/hard_stop.hpp"

#include <cstdio>
#include <cstdlib>

#include "cli/command.hpp"

namespace npuscope::cli {

HardStop::HardStop(std::chrono::milliseconds after, Error error)
    : watcher_([this, after, error = std::move(error)](const std::stop_token& stop) {
        watch(stop, after, error);
      }) {}

void HardStop::watch(const std::stop_token& stop, std::chrono::milliseconds after,
                     const Error& error) {
  std::unique_lock lock(mutex_);
  do {
    gone_.wait_for(lock, stop, after, [] { return false; });
    if (stop.stop_requested()) return;
    after = std::chrono::seconds(1);
  } while (writing_);
  const ExitStatus status = report(error);
  std::fflush(stderr);
  std::_Exit(int(status));  // what still runs holds what an orderly end would need
}

}  // namespace npuscope::cli
