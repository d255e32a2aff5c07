#include "formats/perfetto/read/slices.hpp"

#include <algorithm>

#include "ingest/slices.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::int64_t is_open = -1;

}  // namespace

std::uint32_t Slices::add_row(const NewSpan& span, SpanKind kind, std::int64_t duration) {
  const auto row = std::uint32_t(spans_->unit.size());
  spans_->unit.push_back(UnitId(span.track));
  spans_->op.push_back(span.op);
  spans_->kind.push_back(kind);
  spans_->start.push_back(span.time);
  spans_->duration.push_back(duration);
  if (span.arguments != nullptr) arguments_.add(row, *span.arguments);
  Track& track = (*tracks_)[span.track];
  track.has_rows = true;
  track.first_time = std::min(track.first_time, span.time);
  return row;
}

void Slices::close(std::uint32_t row, std::int64_t time, std::uint64_t offset) {
  std::int64_t duration = time - spans_->start[row];
  if (duration < 0) {
    defects_->add(Defect::end_before_begin, offset);
    duration = 0;
  }
  spans_->duration[row] = duration;
}

void Slices::become_late(Track& track) {
  if (!track.late) track.late = std::make_unique<LateEvents>();
  track.late->early_ends = track.late->events.size();
  track.late->first_late_row = std::uint32_t(rows());
}

bool Slices::is_meant(const EndOf& of, std::uint32_t row) const {
  const Op& op = (*ops_)[index_of(spans_->op[row])];
  if (of.category != StringId{} && op.kind != of.category) return false;
  return of.name == StringId{} || op.name == StringId{} || op.name == of.name;
}

// Takes the open slice that this end belongs to off the stack, or marks it as ended where others
// are open inside it. none: no slice is meant.
std::uint32_t Slices::take_begin(Track& track, const EndOf& of) {
  std::vector<std::uint32_t>& open = track.open;
  if (open.empty()) return none;
  const std::uint32_t innermost = open.back();
  if (track.ended_in_open == 0 && (of.any() || is_meant(of, innermost))) {
    open.pop_back();
    return innermost;
  }
  const std::size_t depth = std::min(open.size(), deepest_search);
  for (std::size_t i = 0; i < depth; ++i) {
    const std::uint32_t row = open[open.size() - 1 - i];
    if (spans_->duration[row] != is_open || !is_meant(of, row)) continue;
    if (i == 0) {
      open.pop_back();
    } else {
      ++track.ended_in_open;
      track.ended_by_name.push_back(row);
    }
    return row;
  }
  return none;
}

// Before an event at `time`: what is still open inside a slice that ended before ends with it.
void Slices::leave_ended(Track& track, std::int64_t time) {
  std::vector<std::uint32_t>& open = track.open;
  const auto has_ended = [&](std::uint32_t row) { return spans_->duration[row] != is_open; };
  const auto leave = [&] {
    track.ended_in_open -= has_ended(open.back());
    open.pop_back();
  };
  while (track.ended_in_open > 0 && has_ended(open.back())) leave();
  if (track.ended_in_open == 0) return;
  // They all ended at one moment: the next event at another one is here.
  const auto ended = std::find_if(open.rbegin(), open.rend(), has_ended);
  const std::int64_t end = spans_->start[*ended] + spans_->duration[*ended];
  if (time <= end) return;
  while (track.ended_in_open > 0) {
    if (!has_ended(open.back())) {
      defects_->add_without_place(Defect::ended_with_outer);
      close(open.back(), end);
      open.pop_back();
    } else {
      leave();
    }
  }
}

std::uint32_t Slices::begin(const NewSpan& span) {
  Track& track = (*tracks_)[span.track];
  if (track.ended_in_open > 0) leave_ended(track, span.time);
  if (span.time < track.last_time) {
    defects_->add(Defect::late_events, span.offset);
    if (track.in_order()) become_late(track);
  } else {
    track.last_time = span.time;
  }
  const std::uint32_t row = add_row(span, SpanKind::slice, is_open);
  if (track.in_order()) {
    track.open.push_back(row);
  } else {
    track.late->events.push_back({span.time, row, none, {}});
  }
  return row;
}

Slices::Ended Slices::end(std::uint32_t track_number, std::int64_t time, const EndOf& of,
                          const ArgumentList& more, std::uint64_t offset) {
  Track& track = (*tracks_)[track_number];
  if (track.ended_in_open > 0) leave_ended(track, time);
  if (time < track.last_time) {
    defects_->add(Defect::late_events, offset);
    if (track.in_order()) become_late(track);
  } else {
    track.last_time = time;
  }
  if (!track.in_order()) return late_end(track, time, of, more);
  std::uint32_t row = none;
  if (of.any() && track.ended_in_open == 0 && !track.open.empty()) {  // nearly all
    row = track.open.back();
    track.open.pop_back();
  } else {
    row = take_begin(track, of);
  }
  if (row == none) {
    if (!track.late) track.late = std::make_unique<LateEvents>();
    track.late->events.push_back({time, none, none, of});
    return {};
  }
  spans_->duration[row] = time - spans_->start[row];
  if (!more.empty()) arguments_.append(row, more);
  return {row, none};
}

Slices::Ended Slices::late_end(Track& track, std::int64_t time, const EndOf& of,
                               const ArgumentList& more) {
  Deferred deferred;
  if (!more.empty()) deferred.arguments = arguments_.keep(more);
  deferred_.push_back(deferred);
  const auto place = std::uint32_t(deferred_.size() - 1);
  track.late->events.push_back({time, none, place, of});
  return {none, place};
}

std::uint32_t Slices::whole(const NewSpan& span, std::int64_t duration) {
  if (duration < 0) defects_->add(Defect::end_before_begin, span.offset);
  (*tracks_)[span.track].may_overlap = true;
  return add_row(span, whole_slice, std::max<std::int64_t>(duration, 0));
}

std::uint32_t Slices::instant(const NewSpan& span) { return add_row(span, SpanKind::instant, 0); }

std::uint32_t Slices::state(const NewSpan& span, bool begins) {
  Track& track = (*tracks_)[span.track];
  if (track.state_row != none) close(track.state_row, span.time, span.offset);
  track.state_row = begins ? add_row(span, whole_slice, is_open) : none;
  if (begins) track.may_overlap = true;
  return track.state_row;
}

std::uint32_t Slices::async_begin(const NewSpan& span, const AsyncKey& key) {
  const std::uint32_t row = add_row(span, SpanKind::async, is_open);
  async_[key].push_back(row);
  return row;
}

std::uint32_t Slices::async_end(const AsyncKey& key, std::int64_t time, const ArgumentList& more,
                                std::uint64_t offset) {
  const auto open = async_.find(key);
  if (open == async_.end()) {
    defects_->add(Defect::unmatched_async_end, offset);
    return none;
  }
  const std::uint32_t row = open->second.back();
  open->second.pop_back();
  if (open->second.empty()) async_.erase(open);
  close(row, time, offset);
  if (!more.empty()) arguments_.append(row, more);
  return row;
}

// Begins and ends in an order that pairs to the same spans. Where begins and ends fall on one
// moment several orders do, and none of them changes how others pair.
void Slices::append_early(Track& track, std::span<const std::uint32_t> early_rows,
                          std::vector<LateEvents::Event>& events) const {
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t>& by_name = track.ended_by_name;
  std::sort(by_name.begin(), by_name.end());
  const auto end_of = [&](std::uint32_t row) { return spans_->start[row] + spans_->duration[row]; };
  const auto closes = [&](std::uint32_t row) { return spans_->duration[row] != is_open; };
  for (const std::uint32_t row : early_rows) {
    while (!open.empty() && closes(open.back()) && end_of(open.back()) <= spans_->start[row]) {
      events.push_back({end_of(open.back()), none, none, {}});
      open.pop_back();
    }
    events.push_back({spans_->start[row], row, none, {}});
    if (!std::binary_search(by_name.begin(), by_name.end(), row)) open.push_back(row);
  }
  for (; !open.empty(); open.pop_back()) {
    if (closes(open.back())) events.push_back({end_of(open.back()), none, none, {}});
  }
  for (const std::uint32_t row : by_name) {
    const Op& op = (*ops_)[index_of(spans_->op[row])];
    events.push_back({end_of(row), none, none, {op.name, op.kind}});
  }
  by_name.clear();
}

void Slices::pair_late(Track& track, std::span<const std::uint32_t> early_rows) {
  LateEvents& late = *track.late;
  const auto early_ends = std::ptrdiff_t(late.early_ends);
  // An early end without begin found nothing open: before the begins of its moment it does again.
  std::vector<LateEvents::Event> events(late.events.begin(), late.events.begin() + early_ends);
  append_early(track, early_rows, events);
  events.insert(events.end(), late.events.begin() + early_ends, late.events.end());
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  track.open.clear();
  track.ended_in_open = 0;
  late.events.clear();
  for (const LateEvents::Event& event : events) {
    if (track.ended_in_open > 0) leave_ended(track, event.time);
    if (event.row != none) {
      spans_->duration[event.row] = is_open;
      track.open.push_back(event.row);
      continue;
    }
    const std::uint32_t row = take_begin(track, event.of);
    if (row == none) {
      late.events.push_back(event);
      continue;
    }
    spans_->duration[row] = event.time - spans_->start[row];
    if (event.deferred == none) continue;
    Deferred& deferred = deferred_[event.deferred];
    deferred.row = row;
    if (deferred.arguments != none) arguments_.give(deferred.arguments, row);
  }
}

void Slices::pair_late_tracks() {
  std::vector<std::uint32_t> late_tracks;
  for (std::uint32_t track = 0; track < tracks_->size(); ++track) {
    if (!(*tracks_)[track].in_order()) late_tracks.push_back(track);
  }
  if (late_tracks.empty()) return;
  std::vector<std::vector<std::uint32_t>> early_rows(tracks_->size());
  for (std::uint32_t row = 0; row < rows(); ++row) {
    const auto track = index_of(spans_->unit[row]);
    const Track& of = (*tracks_)[track];
    if (spans_->kind[row] != SpanKind::slice || of.in_order()) continue;
    if (row < of.late->first_late_row) early_rows[track].push_back(row);
  }
  for (const std::uint32_t track : late_tracks) pair_late((*tracks_)[track], early_rows[track]);
}

void Slices::finish(std::int64_t last_time) {
  pair_late_tracks();
  for (std::uint32_t track = 0; track < tracks_->size(); ++track) {
    Track& of = (*tracks_)[track];
    if (of.ended_in_open > 0) leave_ended(of, std::numeric_limits<std::int64_t>::max());
    if (of.late) defects_->add_without_place(Defect::unmatched_end, of.late->events.size());
    defects_->add_without_place(Defect::unclosed_slice, of.open.size());
    for (const std::uint32_t row : of.open) close(row, last_time);
    if (of.state_row != none) close(of.state_row, last_time);
  }
  for (const auto& [key, open] : async_) {
    defects_->add_without_place(Defect::unclosed_async, open.size());
    for (const std::uint32_t row : open) close(row, last_time);
  }
  for (SpanKind& kind : spans_->kind) {
    if (kind == whole_slice) kind = SpanKind::slice;
  }
  arguments_.finish(rows());
}

}  // namespace npuscope::perfetto
