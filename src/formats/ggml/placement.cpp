#include "formats/ggml/placement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace npuscope::ggml {
namespace {

constexpr std::int64_t max_time = std::int64_t{1} << 61;  // ticks; 26 days

std::int64_t rounded(double value) {
  return std::int64_t(std::llround(std::clamp(value, -double(max_time), double(max_time))));
}

}  // namespace

Placement::Placement(Log& log) {
  struct Before {
    std::int64_t time = 0, counter = 0;
    std::uint32_t clock = 0;
  };
  std::vector<std::optional<Before>> before(log.sessions.size());
  std::optional<std::int64_t> first_printed;
  for (const Batch& batch : log.batches) {
    Place place;
    const double cycles_per_us = log.clocks[batch.clock].cycles_per_us;
    place.ticks_per_cycle = cycles_per_us > 0 ? double(ticks_per_us) / cycles_per_us : 1;
    place_in_batch(log, batch, place);
    const std::int64_t length = rounded(double(place.end - place.begin) * place.ticks_per_cycle);
    auto& last = before[batch.session];
    if (last) {
      const bool goes_on = has_counter_ && place.begin >= last->counter;
      const double gap = goes_on ? double(place.begin - last->counter) : 0;
      place.time = std::min(max_time, last->time + rounded(gap * place.ticks_per_cycle));
    }
    if (batch.printed_us) {
      if (!first_printed) first_printed = *batch.printed_us - length / ticks_per_us;
      const std::int64_t since = std::clamp(*batch.printed_us - *first_printed - printing_us_,
                                            -max_time / ticks_per_us, max_time / ticks_per_us);
      place.time = std::max(place.time, since * ticks_per_us - length);
      has_print_times_ = true;
      printing_us_ = std::min(max_time / ticks_per_us, printing_us_ + batch.printing_us);
    }
    last = Before{place.time + length, place.end, batch.clock};
    places_.push_back(place);
  }
}

void Placement::place_in_batch(Log& log, const Batch& batch, Place& place) {
  const auto runs = std::span(log.runs).subspan(batch.first_run, batch.runs);
  if (batch.start) {
    place.begin = *batch.start;
    place.end = place.begin + std::int64_t(batch.cycles);
    for (const OpRun& run : runs) {
      place.end = std::max(place.end, run.start + std::int64_t(run.cycles));
    }
    return;
  }
  if (!runs.empty() && runs.front().start >= 0) {
    place.begin = runs.front().start;
    for (const OpRun& run : runs) {
      place.begin = std::min(place.begin, run.start);
      place.end = std::max(place.end, run.start + std::int64_t(run.cycles));
    }
    return;
  }
  has_counter_ = false;
  for (OpRun& run : runs) {
    run.start = place.end;
    place.end = std::min(max_time, place.end + std::int64_t(run.cycles));
  }
}

std::int64_t Placement::time(std::size_t batch, std::int64_t counter) const {
  const Place& place = places_[batch];
  return place.time + rounded(double(counter - place.begin) * place.ticks_per_cycle);
}

}  // namespace npuscope::ggml
