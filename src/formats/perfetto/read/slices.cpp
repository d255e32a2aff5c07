#include "formats/perfetto/read/slices.hpp"

#include <algorithm>

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
  if (span.arguments.shape != 0) arguments_.set(row, span.arguments);
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

std::uint32_t Slices::begin(const NewSpan& span) {
  Track& track = (*tracks_)[span.track];
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
    track.late->events.push_back({span.time, row, none});
  }
  return row;
}

Slices::Ended Slices::end(std::uint32_t track_number, std::int64_t time, const ArgumentList& more,
                          std::uint64_t offset) {
  Track& track = (*tracks_)[track_number];
  if (time < track.last_time) {
    defects_->add(Defect::late_events, offset);
    if (track.in_order()) become_late(track);
  } else {
    track.last_time = time;
  }
  if (!track.in_order()) return late_end(track, time, more);
  if (track.open.empty()) {
    if (!track.late) track.late = std::make_unique<LateEvents>();
    track.late->events.push_back({time, none, none});
    return {};
  }
  const std::uint32_t row = track.open.back();
  track.open.pop_back();
  spans_->duration[row] = time - spans_->start[row];
  if (!more.empty() && !arguments_.append(row, more)) {
    defects_->add(Defect::too_many_arguments, offset, more.keys.size());
  }
  return {row, none};
}

Slices::Ended Slices::late_end(Track& track, std::int64_t time, const ArgumentList& more) {
  Deferred deferred;
  if (!arguments_.place(more, deferred.arguments)) {
    defects_->add(Defect::too_many_arguments, 0, more.keys.size());
  }
  deferred_.push_back(deferred);
  const auto place = std::uint32_t(deferred_.size() - 1);
  track.late->events.push_back({time, none, place});
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
  if (!more.empty() && !arguments_.append(row, more)) {
    defects_->add(Defect::too_many_arguments, offset, more.keys.size());
  }
  return row;
}

// Begins and ends in an order that pairs to the same spans. Where begins and ends fall on one
// moment several orders do, and none of them changes how others pair.
void Slices::append_early(std::span<const std::uint32_t> early_rows,
                          std::vector<LateEvents::Event>& events) const {
  std::vector<std::uint32_t> open;
  const auto end_of = [&](std::uint32_t row) { return spans_->start[row] + spans_->duration[row]; };
  const auto closes = [&](std::uint32_t row) { return spans_->duration[row] != is_open; };
  for (const std::uint32_t row : early_rows) {
    while (!open.empty() && closes(open.back()) && end_of(open.back()) <= spans_->start[row]) {
      events.push_back({end_of(open.back()), none, none});
      open.pop_back();
    }
    events.push_back({spans_->start[row], row, none});
    open.push_back(row);
  }
  for (; !open.empty(); open.pop_back()) {
    if (closes(open.back())) events.push_back({end_of(open.back()), none, none});
  }
}

void Slices::pair_late(Track& track, std::span<const std::uint32_t> early_rows) {
  LateEvents& late = *track.late;
  const auto early_ends = std::ptrdiff_t(late.early_ends);
  // An early end without begin found nothing open: before the begins of its moment it does again.
  std::vector<LateEvents::Event> events(late.events.begin(), late.events.begin() + early_ends);
  append_early(early_rows, events);
  events.insert(events.end(), late.events.begin() + early_ends, late.events.end());
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  track.open.clear();
  late.events.clear();
  for (const LateEvents::Event& event : events) {
    if (event.row != none) {
      spans_->duration[event.row] = is_open;
      track.open.push_back(event.row);
      continue;
    }
    if (track.open.empty()) {
      late.events.push_back(event);
      continue;
    }
    const std::uint32_t row = track.open.back();
    track.open.pop_back();
    spans_->duration[row] = event.time - spans_->start[row];
    if (event.deferred == none) continue;
    deferred_[event.deferred].row = row;
    if (!arguments_.append(row, deferred_[event.deferred].arguments)) {
      defects_->add(Defect::too_many_arguments, 0);
    }
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
    if (of.late) defects_->add(Defect::unmatched_end, 0, of.late->events.size());
    defects_->add(Defect::unclosed_slice, 0, of.open.size());
    for (const std::uint32_t row : of.open) close(row, last_time);
    if (of.state_row != none) close(of.state_row, last_time);
  }
  for (const auto& [key, open] : async_) {
    defects_->add(Defect::unclosed_async, 0, open.size());
    for (const std::uint32_t row : open) close(row, last_time);
  }
  for (SpanKind& kind : spans_->kind) {
    if (kind == whole_slice) kind = SpanKind::slice;
  }
  if (!spans_->arguments.empty()) arguments_.finish(rows());
}

}  // namespace npuscope::perfetto
