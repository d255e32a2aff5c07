#include "formats/ggml/open_batch.hpp"

#include <algorithm>
#include <limits>

namespace npuscope::ggml {
namespace {

std::uint32_t clamped(std::uint64_t number) {
  return std::uint32_t(std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

// Whether the buffer of a thread held no more: GGML_HEXAGON_OPTRACE by default.
bool is_capacity(std::uint64_t count) {
  for (const std::uint64_t ops : {1024, 1280, 2048}) {
    for (const std::uint64_t each : {128, 256}) {
      if (count == ops * each) return true;
    }
  }
  return false;
}

}  // namespace

bool OpenBatch::ends_before(std::uint32_t operation, int layer, const OpNumbers& numbers) const {
  const bool is_full = batch_.start && stated_runs_ && runs_.size() >= *stated_runs_;
  const bool goes_back = !batch_.start && layer >= 0 && layer < layer_;
  const bool repeats = numbers.call_usec && layer < 0 && seen_.contains(operation);
  return is_full || goes_back || repeats;
}

void OpenBatch::begin(const BatchHead& head, LogPlace place) {
  stated_runs_ = head.runs;
  counts_ = head.events;
  batch_.start = head.start;
  batch_.cycles = head.cycles;
  batch_.usec = clamped(head.usec);
  batch_.printed_us = place.printed_us;
  batch_.graph = place.graph;
  at_ = head.start;
  trace_.begin(at_);
}

void OpenBatch::end(const BatchEnd& end) {
  stated_runs_ = end.runs;
  batch_.host_usec = clamped(end.host_usec);
  if (end.events) counts_ = end.events;
}

void OpenBatch::add(std::uint32_t operation, int layer, const OpNumbers& numbers,
                    std::uint32_t pmu_place, bool events_follow, LogPlace place) {
  if (!any()) {
    batch_.printed_us = place.printed_us;
    batch_.graph = place.graph;
  }
  layer_ = std::max(layer_, layer);
  if (numbers.call_usec) seen_.insert(operation);
  OpRun run{operation, clamped(numbers.usec), numbers.cycles};
  run.call_usec = clamped(numbers.call_usec.value_or(0));
  run.pmu = pmu_place;
  if (numbers.start) {
    const auto low = std::uint32_t(*numbers.start);
    constexpr std::int64_t above = std::int64_t{1} << 32;  // so that nothing is below 0
    run.start = at_ < 0 ? above + low : unwrapped(at_, low);
    at_ = run.start;
    if (events_follow) trace_.go_on_from(run.start);
  } else if (at_ < 0) {
    at_ = 0;
  }
  runs_.push_back(run);
}

bool OpenBatch::add(const EventRecord& event, std::uint8_t name) {
  if (at_ < 0) return false;
  trace_.add(event.thread, name, event.info, event.is_start, event.counter, events_);
  return true;
}

void OpenBatch::keep_prefix(std::string_view prefix, std::optional<std::int64_t> time) {
  if (!any()) return;
  last_time_ = time;
  if (prefix.size() > last_prefix_.size())
    prefix.remove_prefix(prefix.size() - last_prefix_.size());
  last_prefix_size_ = prefix.copy(last_prefix_.data(), prefix.size());
}

std::optional<std::int64_t> OpenBatch::last_printed() const {
  return last_time_ ? last_time_ : LogLine::time_us({last_prefix_.data(), last_prefix_size_});
}

void OpenBatch::close_into(Log& log, std::uint32_t session, CountedNotes& losses,
                           std::uint64_t offset) {
  if (any()) {
    Batch batch = batch_;
    batch.session = session;
    count_losses(batch, losses, offset);
    if (const auto last = last_printed(); last && batch.printed_us) {
      batch.printing_us = std::max<std::int64_t>(0, *last - *batch.printed_us);
    }
    batch.first_run = std::uint32_t(log.runs.size());
    batch.runs = std::uint32_t(runs_.size());
    batch.first_event = log.events.size();
    batch.events = std::uint32_t(events_.size());
    log.runs.insert(log.runs.end(), runs_.begin(), runs_.end());
    log.events.insert(log.events.end(), events_.begin(), events_.end());
    log.batches.push_back(batch);
  }
  runs_.clear();
  events_.clear();
  seen_.clear();
  layer_ = -1;
  batch_ = {};
  stated_runs_.reset();
  counts_.reset();
  trace_.begin(std::max<std::int64_t>(at_, 0));
}

void OpenBatch::count_losses(Batch& batch, CountedNotes& losses, std::uint64_t offset) {
  if (stated_runs_ && *stated_runs_ > runs_.size()) {
    losses.add(Severity::warning, offset, "ops that a batch counts and the log does not have",
               *stated_runs_ - runs_.size());
  }
  if (trace_.open() > 0) {
    losses.add(Severity::warning, offset,
               "trace events that began and did not end, or ended and did not begin; left out",
               trace_.open());
  }
  const bool is_cut = !counts_ && !events_.empty();  // the line that counts them is missing
  bool is_full = trace_.open() > 0 || is_cut, is_exact = false;
  for (std::size_t i = 0; counts_ && i < trace_threads; ++i) {
    const std::uint64_t count = (*counts_)[i], seen = trace_.seen(i);
    batch.lost[i] = count > seen ? count - seen : 0;
    is_exact |= batch.lost[i] > 0;
    is_full |= is_capacity(count);
  }
  batch.may_have_lost = is_full && !is_exact;
}

}  // namespace npuscope::ggml
