#include "formats/perfetto/write/write_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "formats/perfetto/about.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/write/write_tracks.hpp"
#include "profile/names.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::perfetto {
SliceWriter::SliceWriter(const Profile& profile, const SpanSource& spans, const TraceTime& time,
                         UnitTracks& tracks, SequenceWriter& sequence, Losses& losses,
                         std::uint64_t first_flow_id)
    : profile_(profile),
      spans_(spans),
      time_(time),
      tracks_(tracks),
      sequence_(sequence),
      losses_(losses),
      first_flow_id_(first_flow_id),
      numbers_(profile, sequence),
      annotations_(profile, sequence),
      recent_forms_(max_recent_forms) {}

// The spans of a unit as items of one kind of track.
class SliceWriter::UnitItems {
 public:
  // `counts`: the asynchronous ones.
  UnitItems(SliceWriter& writer, UnitId unit, What what, bool counts)
      : writer_(writer), stream_(writer.spans_.spans_of(unit)), what_(what), counts_(counts) {}

  bool next(Item& item) {
    PlacedSpan span;
    while (stream_->next(span)) {
      const bool is_async = span.kind == SpanKind::async;
      writer_.asynchronous_ += counts_ && is_async;
      if (is_async != (what_ == What::async)) continue;
      const TraceTime& time = writer_.time_;
      item = {time.of(span.start), Item::no_end, span.row, span.flows};
      if (span.kind != SpanKind::instant) item.end = time.end_of(span.start, span.duration);
      return true;
    }
    return false;
  }

 private:
  SliceWriter& writer_;
  std::unique_ptr<SpanStream> stream_;
  What what_;
  bool counts_;
};

void SliceWriter::write_unit(UnitId unit) {
  const std::uint64_t asynchronous = asynchronous_;
  bool counts = true;
  write_lanes(unit, What::spans, spans_.max_held(),
              [&] { return UnitItems(*this, unit, What::spans, std::exchange(counts, false)); });
  if (asynchronous_ == asynchronous) return;
  write_lanes(unit, What::async, spans_.max_held(),
              [&] { return UnitItems(*this, unit, What::async, false); });
}

void SliceWriter::write_phases() {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < profile_.phases.size(); ++i) {
    const Phase& phase = profile_.phases[i];
    items.push_back({time_.of(phase.start), time_.end_of(phase.start, phase.duration), i});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
  });
  struct Phases {
    std::span<const Item> items;
    bool next(Item& item) {
      if (items.empty()) return false;
      item = items.front();
      items = items.subspan(1);
      return true;
    }
  };
  write_lanes(UnitId::none, What::phases, items.size(), [&] { return Phases{items}; });
}

// A lane is a sequence of packets of its own, one after another: the first that is not written yet
// is written as its items come; of those above it as many as may be held are written behind it, and
// the others when the items come once more.
template <class ItemsAgain>
void SliceWriter::write_lanes(UnitId unit, What what, std::size_t max_held,
                              const ItemsAgain& items_again) {
  for (std::uint32_t lane = 0, lanes = 1; lane < lanes;) {
    LaneAssigner assigner;
    std::vector<std::vector<Item>> held;  // of the lanes above
    std::size_t held_items = 0;
    std::uint32_t first_left_out = std::numeric_limits<std::uint32_t>::max();
    bool has_begun = false;
    auto items = items_again();
    for (Item item; items.next(item);) {
      const std::uint32_t of = item.is_instant() ? 0 : assigner.place(item.start, item.end);
      lanes = std::max(lanes, of + 1);
      if (lane == 0 && of > 0 && what == What::spans) ++moved_to_lanes_;
      if (of < lane || of >= first_left_out) continue;
      if (of == lane) {
        if (!std::exchange(has_begun, true)) begin_track(unit, what, lane, item);
        write_item(item, what);
        continue;
      }
      if (of - lane > held.size()) held.resize(of - lane);
      held[of - lane - 1].push_back(item);
      if (++held_items <= max_held) continue;
      first_left_out = lane + std::uint32_t(held.size());
      held_items -= held.back().size();
      held.pop_back();
    }
    end_track();
    ++lane;
    for (std::vector<Item>& of_lane : held) {
      begin_track(unit, what, lane++, of_lane.front());
      for (const Item& item : of_lane) write_item(item, what);
      end_track();
      std::vector<Item>().swap(of_lane);
    }
  }
}

void SliceWriter::begin_track(UnitId unit, What what, std::uint32_t lane, const Item& first) {
  sequence_.begin(track_of(unit, what, lane), first.start);
}

std::uint64_t SliceWriter::track_of(UnitId unit, What what, std::uint32_t lane) {
  if (what == What::spans) {
    const bool own = lane == 0 && index_of(unit) < profile_.units.size();
    return own ? tracks_.of(unit) : tracks_.add_lane(unit, lane);
  }
  TrackToWrite track;
  track.name = what == What::async ? "async" : "phases";
  if (lane > 0) track.name += fmt::format(" ({})", lane + 1);
  if (what == What::phases) {
    track.rank = -1;  // above the units
    track.description = text_of(TrackPlace{TrackPlace::Kind::phases});
  }
  return tracks_.add_below(unit, track);
}

void SliceWriter::write_item(const Item& item, What what) {
  end_until(item.start);
  if (what == What::phases) {
    write_phase(profile_.phases[item.number], item.number);
  } else {
    write_span(item);
  }
  sequence_.emit(item.start);
  if (!item.is_instant()) open_.push_back(item);
}

void SliceWriter::end_until(std::int64_t time) {
  for (; !open_.empty() && open_.back().end <= time; open_.pop_back()) write_end(open_.back());
}

void SliceWriter::end_track() { end_until(std::numeric_limits<std::int64_t>::max()); }

void SliceWriter::write_end(const Item& item) {
  if (item.flows == no_flows) return sequence_.emit_end(item.end);
  sequence_.event().add_varint(event_field::type, std::uint32_t(EventType::slice_end));
  add_flows(item.flows, true);
  sequence_.emit(item.end);
}

void SliceWriter::write_span(const Item& item) {
  const Spans& spans = profile_.spans;
  const std::uint32_t row = item.number, op = index_of(spans.op[row]);
  const SpanKind kind = spans.kind[row];
  const std::uint64_t of = std::uint64_t(kind) << 33 | std::uint64_t(item.is_instant()) << 32 | op;
  Form& form = recent_forms_[op % max_recent_forms];
  const bool is_known = form.of == of && form.sequence == sequence_.number();
  form.of = of;
  form.sequence = sequence_.number();
  MessageBuffer& event = sequence_.event();
  const auto add = [&](std::string& fields, const auto& make) {
    if (is_known) return event.add_fields(fields);
    const std::size_t before = event.bytes().size();
    make();
    fields = event.bytes().substr(before);
  };
  add(form.name, [&] {
    const auto type = item.is_instant() ? EventType::instant : EventType::slice_begin;
    event.add_varint(event_field::type, std::uint32_t(type));
    add_name(row);
  });
  if (item.flows != no_flows) add_flows(item.flows, false);
  annotations_.add_arguments(row);
  add(form.kind, [&] { annotations_.add_kind(kind); });
  annotations_.add_extras(row);
  add(form.extras, [&] {
    if (op < profile_.ops.size()) annotations_.add_op_extras(profile_.ops[op]);
  });
}

void SliceWriter::write_phase(const Phase& phase, std::uint32_t number) {
  MessageBuffer& event = sequence_.event();
  event.add_varint(event_field::type, std::uint32_t(EventType::slice_begin));
  event.add_varint(event_field::name_iid, numbers_.of(Interned::name, phase.name));
  annotations_.add_phase(phase, number);
}

void SliceWriter::add_name(std::uint32_t row) {
  const SpanKind kind = profile_.spans.kind[row];
  const std::uint32_t op = index_of(profile_.spans.op[row]);
  MessageBuffer& event = sequence_.event();
  if (op >= profile_.ops.size()) {
    if (!is_plain(kind))
      event.add_varint(event_field::name_iid, numbers_.of(Interned::name, word_of(kind)));
    return;
  }
  const StringId name = profile_.ops[op].name;
  const StringId category = profile_.ops[op].kind;
  if (category != StringId{}) {
    event.add_varint(event_field::category_iids, numbers_.of(Interned::category, category));
  }
  if (!is_wait(kind)) {
    if (name != StringId{})
      event.add_varint(event_field::name_iid, numbers_.of(Interned::name, name));
    return;
  }
  // A wait of an op is not the op.
  const std::uint64_t key = std::uint64_t(kind) << 32 | std::uint64_t(name);
  const auto [entry, is_new] = wait_names_.try_emplace(key);
  if (is_new) {
    entry->second.id = std::uint32_t(profile_.strings.size() + words.size() + wait_names_.size());
    entry->second.text = fmt::format("{} {}", wait_prefix(kind), profile_.text(name));
  }
  event.add_varint(event_field::name_iid,
                   sequence_.intern(Interned::name, entry->second.id,
                                    [&]() -> std::string_view { return entry->second.text; }));
}

void SliceWriter::add_flows(std::uint32_t flows, bool on_slice_end) {
  spans_.flow_ends(flows, flow_ends_);
  for (const FlowEnd& end : flow_ends_) {
    if (end.on_slice_end != on_slice_end) continue;
    const auto field = end.terminates ? event_field::terminating_flow_ids : event_field::flow_ids;
    sequence_.event().add_fixed64(field, first_flow_id_ + end.number);
  }
}

void SliceWriter::count_losses() {
  losses_.add("spans that overlap on one unit: on further tracks beside it", moved_to_lanes_);
  losses_.add("units that are hardware: as tracks of their names", hardware_units(profile_));
  losses_.add("measures of spans and phases: as annotations",
              numbers_of_spans(profile_) + annotations_.measures());
  losses_.add("phases: as slices of a track of their own", profile_.phases.size());
  losses_.add("asynchronous spans: as slices of tracks of their own", asynchronous_);
}

}  // namespace npuscope::perfetto
