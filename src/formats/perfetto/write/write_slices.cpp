#include "formats/perfetto/write/write_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "formats/perfetto/about.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/lanes.hpp"
#include "profile/loss_counts.hpp"
#include "profile/names.hpp"
#include "profile/numbered_phases.hpp"

namespace npuscope::perfetto {
namespace {

// What a trace's own reader makes: an event says all of it.
bool is_plain(SpanKind kind) { return kind == SpanKind::slice || kind == SpanKind::instant; }

}  // namespace

SliceWriter::SliceWriter(const Profile& profile, const TraceTime& time, UnitTracks& tracks,
                         SequenceWriter& sequence, Losses& losses, std::uint64_t& next_flow_id)
    : profile_(profile),
      time_(time),
      tracks_(tracks),
      sequence_(sequence),
      losses_(losses),
      by_unit_(profile) {
  give_flows_ids(next_flow_id);
  sort_span_measures();
}

// An arrow leaves where its first span begins. It must not arrive earlier; where both begin
// together it arrives at the end of the second, which is later and so comes second in a viewer.
void SliceWriter::give_flows_ids(std::uint64_t& next_flow_id) {
  const Spans& spans = profile_.spans;
  for (const Flow& flow : profile_.flows) {
    const std::uint32_t from = index_of(flow.from);
    const std::uint32_t to = index_of(flow.to);
    if (from >= spans.size() || to >= spans.size()) {
      ++lost_flows_;
      continue;
    }
    const std::int64_t leaves = time_.of(spans.start[from]);
    const std::int64_t arrives = time_.of(spans.start[to]);
    const bool at_end = leaves == arrives && spans.kind[to] != SpanKind::instant &&
                        time_.end_of(spans.start[to], spans.duration[to]) > arrives;
    if (leaves > arrives || (leaves == arrives && !at_end)) {
      ++backward_flows_;
      continue;
    }
    if (flow.name != StringId{} || flow.category != StringId{}) ++named_flows_;
    flow_ends_.push_back({from, next_flow_id, false, false});
    flow_ends_.push_back({to, next_flow_id, true, at_end});
    ++next_flow_id;
  }
  std::stable_sort(flow_ends_.begin(), flow_ends_.end(),
                   [](const FlowEnd& a, const FlowEnd& b) { return a.row < b.row; });
  if (flow_ends_.empty()) return;
  has_flow_.assign(spans.size(), false);
  for (const FlowEnd& end : flow_ends_) has_flow_[end.row] = true;
}

void SliceWriter::sort_span_measures() {
  for (std::uint32_t i = 0; i < profile_.measures.size(); ++i) {
    const Measure& measure = profile_.measures[i];
    const bool of_span = measure.subject == Measure::Subject::span;
    if (of_span && measure.subject_id < profile_.spans.size()) {
      if (has_measure_.empty()) has_measure_.assign(profile_.spans.size(), false);
      has_measure_[measure.subject_id] = true;
    }
    if (of_span || measure.subject == Measure::Subject::phase) measures_.push_back(i);
  }
  const auto order = [&](std::uint32_t i) {
    return std::tuple(profile_.measures[i].subject, profile_.measures[i].subject_id);
  };
  std::stable_sort(measures_.begin(), measures_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
}

std::vector<std::vector<SliceWriter::Item>> SliceWriter::in_lanes(
    std::span<const Item> items) const {
  std::vector<std::vector<Item>> lanes(1);
  lanes[0].reserve(items.size());
  LaneAssigner assigner;
  for (const Item& item : items) {
    const std::uint32_t lane = item.is_instant ? 0 : assigner.place(item.start, item.end);
    if (lane >= lanes.size()) lanes.resize(lane + 1);
    lanes[lane].push_back(item);
  }
  return lanes;
}

void SliceWriter::write_unit(UnitId unit) {
  const Spans& spans = profile_.spans;
  std::vector<Item> items;
  std::vector<Item> async;
  const auto rows = by_unit_.of(unit);
  items.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    Item item{row, time_.of(spans.start[row]), time_.end_of(spans.start[row], spans.duration[row]),
              false};
    item.is_instant = spans.kind[row] == SpanKind::instant;
    if (spans.duration[row] < 0) ++negative_durations_;
    (spans.kind[row] == SpanKind::async ? async : items).push_back(item);
  }
  const auto lanes = in_lanes(items);
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].empty()) continue;
    const bool own = lane == 0 && index_of(unit) < profile_.units.size();
    if (lane > 0) moved_to_lanes_ += lanes[lane].size();
    write_track(own ? tracks_.of(unit) : tracks_.add_lane(unit, lane), lanes[lane], What::spans);
  }
  asynchronous_ += async.size();
  if (async.empty()) return;
  const auto async_lanes = in_lanes(async);
  for (std::uint32_t lane = 0; lane < async_lanes.size(); ++lane) {
    TrackToWrite track;
    track.name = lane == 0 ? "async" : fmt::format("async ({})", lane + 1);
    write_track(tracks_.add_below(unit, track), async_lanes[lane], What::spans);
  }
}

void SliceWriter::write_phases() {
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < profile_.phases.size(); ++i) {
    const Phase& phase = profile_.phases[i];
    items.push_back({i, time_.of(phase.start), time_.end_of(phase.start, phase.duration), false});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tuple(a.start, -a.end) < std::tuple(b.start, -b.end);
  });
  if (items.empty()) return;
  const auto lanes = in_lanes(items);
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    TrackToWrite track;
    track.name = lane == 0 ? "phases" : fmt::format("phases ({})", lane + 1);
    track.rank = -1;  // above the units
    track.description = text_of(TrackPlace{TrackPlace::Kind::phases});
    write_track(tracks_.add_below(UnitId::none, track), lanes[lane], What::phases);
  }
}

void SliceWriter::write_track(std::uint64_t uuid, std::span<const Item> items, What what) {
  sequence_.begin(uuid, items.front().start);
  std::vector<const Item*> open;
  const auto end_until = [&](std::int64_t time) {
    for (; !open.empty() && open.back()->end <= time; open.pop_back()) {
      write_end(*open.back(), what);
    }
  };
  for (const Item& item : items) {
    end_until(item.start);
    if (what == What::phases) {
      write_phase(profile_.phases[item.number], item.number);
    } else {
      write_span(item.number, item.is_instant);
    }
    sequence_.emit(item.start);
    if (!item.is_instant) open.push_back(&item);
  }
  end_until(std::numeric_limits<std::int64_t>::max());
}

void SliceWriter::write_end(const Item& item, What what) {
  if (what == What::phases || has_flow_.empty() || !has_flow_[item.number]) {
    return sequence_.emit_end(item.end);
  }
  sequence_.event().add_varint(event_field::type, std::uint32_t(EventType::slice_end));
  add_flows(item.number, true);
  sequence_.emit(item.end);
}

void SliceWriter::write_span(std::uint32_t row, bool is_instant) {
  const auto type = is_instant ? EventType::instant : EventType::slice_begin;
  sequence_.event().add_varint(event_field::type, std::uint32_t(type));
  add_name(row);
  if (!has_flow_.empty() && has_flow_[row]) add_flows(row, false);
  if (!profile_.spans.arguments.empty()) add_arguments(row);
  add_extras(row);
}

void SliceWriter::write_phase(const Phase& phase, std::uint32_t number) {
  sequence_.event().add_varint(event_field::type, std::uint32_t(EventType::slice_begin));
  sequence_.event().add_varint(event_field::name_iid, iid(Interned::name, phase.name));
  annotate(Word::inference, phase.instance);
  annotate(Word::phase, number);
  if (const auto parent = parent_number(phase)) annotate(Word::parent, *parent);
  if (index_of(phase.unit) < profile_.units.size()) annotate(Word::unit, index_of(phase.unit));
  if (phase.microseconds >= 0) {
    begin_annotation(iid(Interned::annotation_name, Word::microseconds));
    annotation_.add_double(annotation_field::number, phase.microseconds);
    end_annotation();
  }
  add_measures(Measure::Subject::phase, number);
}

void SliceWriter::add_name(std::uint32_t row) {
  const SpanKind kind = profile_.spans.kind[row];
  const std::uint32_t op = index_of(profile_.spans.op[row]);
  MessageBuffer& event = sequence_.event();
  if (op >= profile_.ops.size()) {
    if (!is_plain(kind))
      event.add_varint(event_field::name_iid, iid(Interned::name, word_of(kind)));
    return;
  }
  const StringId name = profile_.ops[op].name;
  const StringId category = profile_.ops[op].kind;
  if (category != StringId{}) {
    event.add_varint(event_field::category_iids, iid(Interned::category, category));
  }
  if (!is_wait(kind)) {
    if (name != StringId{}) event.add_varint(event_field::name_iid, iid(Interned::name, name));
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
                   sequence_.intern(Interned::name, entry->second.id, entry->second.text));
}

void SliceWriter::add_flows(std::uint32_t row, bool on_slice_end) {
  auto end =
      std::lower_bound(flow_ends_.begin(), flow_ends_.end(), row,
                       [](const FlowEnd& a, std::uint32_t wanted) { return a.row < wanted; });
  for (; end != flow_ends_.end() && end->row == row; ++end) {
    if (end->on_slice_end != on_slice_end) continue;
    sequence_.event().add_fixed64(
        end->terminates ? event_field::terminating_flow_ids : event_field::flow_ids, end->id);
  }
}

std::uint64_t SliceWriter::iid(Interned kind, StringId text) {
  return sequence_.intern(kind, std::uint32_t(text), profile_.text(text));
}

std::uint64_t SliceWriter::iid(Interned kind, Word word) {
  return sequence_.intern(kind, std::uint32_t(profile_.strings.size() + std::size_t(word)),
                          text_of(word));
}

void SliceWriter::begin_annotation(std::uint64_t name_iid) {
  annotation_.clear();
  annotation_.add_varint(annotation_field::name_iid, name_iid);
}

void SliceWriter::end_annotation() {
  sequence_.event().add_message(event_field::debug_annotations, annotation_);
}

void SliceWriter::annotate(Word word, std::int64_t value) {
  begin_annotation(iid(Interned::annotation_name, word));
  annotation_.add_varint(annotation_field::integer, std::uint64_t(value));
  end_annotation();
}

void SliceWriter::annotate(Word word, StringId text) {
  if (text == StringId{}) return;
  begin_annotation(iid(Interned::annotation_name, word));
  annotation_.add_varint(annotation_field::text_iid, iid(Interned::annotation_string, text));
  end_annotation();
}

void SliceWriter::add_arguments(std::uint32_t row) {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t count = arguments.count(row);
  for (std::size_t i = 0; i < count; ++i) {
    const Argument argument = arguments.at(row, i);
    begin_annotation(iid(Interned::annotation_name, argument.key.name));
    switch (argument.key.type) {
      case ArgumentType::null: break;
      case ArgumentType::boolean:
        annotation_.add_varint(annotation_field::boolean, argument.boolean());
        break;
      case ArgumentType::integer:
        annotation_.add_varint(annotation_field::integer, argument.bits);
        break;
      case ArgumentType::unsigned_integer:
        annotation_.add_varint(annotation_field::unsigned_integer, argument.bits);
        break;
      case ArgumentType::number:
        annotation_.add_fixed64(annotation_field::number, argument.bits);
        break;
      case ArgumentType::text:
        annotation_.add_varint(annotation_field::text_iid,
                               iid(Interned::annotation_string, argument.text()));
        break;
      case ArgumentType::json:
        annotation_.add_bytes(annotation_field::legacy_json, profile_.text(argument.text()));
        break;
    }
    end_annotation();
  }
}

void SliceWriter::add_extras(std::uint32_t row) {
  const Spans& spans = profile_.spans;
  if (!is_plain(spans.kind[row])) {
    begin_annotation(iid(Interned::annotation_name, Word::span));
    annotation_.add_varint(annotation_field::text_iid,
                           iid(Interned::annotation_string, word_of(spans.kind[row])));
    end_annotation();
  }
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    annotate(Word::inference, spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    annotate(Word::processor_cycles, spans.processor_cycles[row]);
  }
  for (const MeasureColumn& column : spans.measures) {
    if (column.values.size() != spans.size()) continue;
    if (column.values[row] == MeasureColumn::missing) continue;
    begin_annotation(iid(Interned::annotation_name, column.what));
    annotation_.add_varint(annotation_field::integer, std::uint64_t(column.values[row]));
    end_annotation();
  }
  if (!has_measure_.empty() && has_measure_[row]) add_measures(Measure::Subject::span, row);
  const std::uint32_t op = index_of(spans.op[row]);
  if (op < profile_.ops.size()) add_op_extras(profile_.ops[op]);
}

void SliceWriter::add_op_extras(const Op& op) {
  annotate(Word::node, op.node);
  annotate(Word::node_kind, op.node_kind);
  annotate(Word::memory, op.memory);
  annotate(Word::types, op.types);
  annotate(Word::shape, op.shape);
  annotate(Word::attributes, op.attributes);
  annotate(Word::operands, op.operands);
  if (op.output.value != 0) annotate(Word::output_bytes, op.output.value);
  if (op.id != 0) annotate(Word::op_id, std::int64_t(op.id));
  if (op.engine != Engine::none) {
    begin_annotation(iid(Interned::annotation_name, Word::engine));
    annotation_.add_bytes(annotation_field::text, stable_name(op.engine));
    end_annotation();
  }
  if (op.core != 0) annotate(Word::core, op.core);
  if (op.group != 0) annotate(Word::group, op.group);
  if (op.position != 0) annotate(Word::position, op.position);
  if (op.once_per_inference) annotate(Word::once_per_inference, 1);
}

void SliceWriter::add_measures(Measure::Subject subject, std::uint32_t id) {
  const auto order = [&](std::uint32_t i) {
    return std::tuple(profile_.measures[i].subject, profile_.measures[i].subject_id);
  };
  const auto wanted = std::tuple(subject, id);
  auto at = std::lower_bound(measures_.begin(), measures_.end(), wanted,
                             [&](std::uint32_t i, const auto& key) { return order(i) < key; });
  for (; at != measures_.end() && order(*at) == wanted; ++at) {
    const Measure& measure = profile_.measures[*at];
    begin_annotation(iid(Interned::annotation_name, measure.what));
    annotation_.add_double(annotation_field::number, measure.value);
    end_annotation();
  }
}

void SliceWriter::count_losses() {
  losses_.add("flows that end before they begin", backward_flows_);
  losses_.add("flows of spans that are not there", lost_flows_);
  losses_.add("names of flows", named_flows_);
  losses_.add("spans that overlap on one unit: on further tracks beside it", moved_to_lanes_);
  losses_.add("units that are hardware: as tracks of their names", hardware_units(profile_));
  losses_.add("measures of spans and phases: as annotations",
              numbers_of_spans(profile_) + measures_.size());
  losses_.add("phases: as slices of a track of their own", profile_.phases.size());
  losses_.add("asynchronous spans: as slices of tracks of their own", asynchronous_);
  losses_.add("spans of negative duration: written as moments", negative_durations_);
}

}  // namespace npuscope::perfetto
