// What a session has printed of a batch whose end has not come yet: lines of several sessions, and
// of batches of one after the other, until the log has all of one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "formats/ggml/log.hpp"
#include "formats/ggml/log_line.hpp"
#include "formats/ggml/records.hpp"
#include "formats/ggml/trace_events.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::ggml {

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
