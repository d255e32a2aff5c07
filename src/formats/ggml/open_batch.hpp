// What a session has printed of a batch whose end has not come yet: lines of several sessions, and
// of batches of one after the other, until the log has all of one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <vector>

#include "formats/ggml/log.hpp"
#include "formats/ggml/log_line.hpp"
#include "formats/ggml/records.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::ggml {

// Starts and stops of a thread, paired: "info" names which, and its highest bit is the mark of a
// stop, so that a start of info 32768 and above is printed as a stop.

// As the counter goes on from `before`, of which the log has the low 32 bits: forward by up to two
// seconds, or back by a little.
inline std::int64_t unwrapped(std::int64_t before, std::uint32_t low) {
  constexpr std::uint32_t a_little = 1 << 24;
  const std::uint32_t forward = low - std::uint32_t(before);
  const bool is_back = forward > std::numeric_limits<std::uint32_t>::max() - a_little;
  return before + std::int64_t(forward) - (is_back ? std::int64_t{1} << 32 : 0);
}

class TraceEvents {
 public:
  // What is open is of a batch or op before, and lost.
  void begin(std::int64_t base) {
    for (Thread& thread : threads_) {
      thread.open.clear();
      thread.at = base;
      thread.seen = 0;
    }
  }
  // From here on the counter of all threads goes on from `base`.
  void go_on_from(std::int64_t base) {
    for (Thread& thread : threads_) thread.at = std::max(thread.at, base);
  }
  void add(std::uint8_t of_thread, std::uint8_t name, std::uint16_t info, bool is_start,
           std::uint32_t low, std::vector<Event>& events) {
    Thread& thread = threads_[of_thread];
    thread.seen += 1;
    const std::int64_t at = thread.at = unwrapped(thread.at, low);
    const auto is_same = [&](const Open& open) { return open.name == name && open.info == info; };
    if (!is_start) {
      const auto found = std::find_if(thread.open.rbegin(), thread.open.rend(), is_same);
      if (found != thread.open.rend()) {
        const std::int64_t cycles = std::max<std::int64_t>(0, at - found->start);
        constexpr std::int64_t max = std::numeric_limits<std::uint32_t>::max();
        events.push_back(
            {found->start, std::uint32_t(std::min(cycles, max)), of_thread, name, info});
        thread.open.erase(std::next(found).base());
        return;
      }
    }
    constexpr std::size_t max_open = 256;  // a ring of DMA has fewer
    if (thread.open.size() == max_open) {
      thread.open.erase(thread.open.begin());
    }
    thread.open.push_back({at, name, info});
  }

  std::uint64_t seen(std::size_t thread) const { return threads_[thread].seen; }
  std::size_t open() const {
    std::size_t count = 0;
    for (const Thread& thread : threads_) count += thread.open.size();
    return count;
  }

 private:
  struct Open {
    std::int64_t start;
    std::uint8_t name;
    std::uint16_t info;
  };
  struct Thread {
    std::vector<Open> open;
    std::int64_t at = 0;
    std::uint64_t seen = 0;
  };
  std::array<Thread, trace_threads> threads_;
};

// Where in the log a line is.
struct LogPlace {
  std::optional<std::int64_t> printed_us;  // when the host printed it
  std::uint32_t graph = Coverage::no_graph;
};

class OpenBatch {
 public:
  // Whether an op of this layer is of the next batch, where a line that says so is missing: one has
  // all ops that it counts, layers begin again, or an op does.
  bool ends_before(std::uint32_t operation, int layer, const OpNumbers& numbers) const;

  void begin(const BatchHead& head, LogPlace place);
  void end(const BatchEnd& end);
  // `pmu_place`: of its pmu counts in the log. Before G5 an op's events follow its line.
  void add(std::uint32_t operation, int layer, const OpNumbers& numbers, std::uint32_t pmu_place,
           bool events_follow, LogPlace place);
  // False where no op came before, so that its counter says nothing.
  bool add(const EventRecord& event, std::uint8_t name);
  // Of its last line, and the time of --log-jsonl.
  void keep_prefix(std::string_view prefix, std::optional<std::int64_t> time);

  // Moves the batch into the log, if there is any.
  void close_into(Log& log, std::uint32_t session, CountedNotes& losses, std::uint64_t offset);

 private:
  bool any() const { return !runs_.empty() || batch_.start.has_value(); }
  void count_losses(Batch& batch, CountedNotes& losses, std::uint64_t offset);
  std::optional<std::int64_t> last_printed() const;

  Batch batch_;
  std::vector<OpRun> runs_;
  std::vector<Event> events_;
  TraceEvents trace_;
  std::optional<std::uint64_t> stated_runs_;
  std::optional<EventCounts> counts_;
  std::int64_t at_ = -1;                    // of the counter, at the last op; -1: none yet
  int layer_ = -1;                          // the highest
  std::unordered_set<std::uint32_t> seen_;  // operations of the same
  std::array<char, 32> last_prefix_{};
  std::size_t last_prefix_size_ = 0;
  std::optional<std::int64_t> last_time_;
};

}  // namespace npuscope::ggml
