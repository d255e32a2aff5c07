// Track events: slices, instants, states and counters with their names, arguments and flows.
#include <bit>

#include "base/field_reader.hpp"
#include "formats/perfetto/read/trace_reader.hpp"

namespace npuscope::perfetto {
namespace {

// Times are kept so far from the ends of 64 bits that their differences fit: 73 years in ns.
constexpr std::int64_t farthest_time = std::int64_t{1} << 61;
constexpr LegacyEvent no_legacy;

bool is_in_range(std::int64_t time) { return time >= -farthest_time && time <= farthest_time; }

}  // namespace

bool TraceReader::time_of(const Packet& packet, Sequence& sequence, std::int64_t& time) {
  const std::uint32_t clock = packet.clock != 0 ? packet.clock : sequence.defaults.clock;
  if (clock == 0) clocks_.use_base();
  if (!clocks_.usual_to_trace_time(clock, packet.sequence, packet.timestamp, time)) {
    const std::optional<std::int64_t> any = time_by_any_clock(packet, clock);
    time = any.value_or(0);
    return any.has_value();
  }
  if (is_in_range(time)) return true;
  defects_.add(Defect::time_out_of_range, packet.offset);
  return false;
}

std::optional<std::int64_t> TraceReader::time_by_any_clock(const Packet& packet,
                                                           std::uint32_t clock) {
  auto time = clocks_.to_trace_time(clock, packet.sequence, packet.timestamp);
  if (!time && clock != 0 && !is_sequence_clock(clock) && clocks_.may_assume_base()) {
    clocks_.assume_base(clock);
    defects_.add(Defect::assumed_base_clock, packet.offset);
    time = clocks_.to_trace_time(clock, packet.sequence, packet.timestamp);
  }
  if (!time && clock != 0) {
    defects_.add(Defect::clock_not_related, packet.offset);
    return std::nullopt;
  }
  if (!time || !is_in_range(*time)) {
    defects_.add(Defect::time_out_of_range, packet.offset);
    return std::nullopt;
  }
  return time;
}

// Microseconds of the monotonic clock, absolute or since the last event of the sequence; as trace
// time where no snapshot relates the two.
std::optional<std::int64_t> TraceReader::time_of_old(const Packet& packet, Sequence& sequence) {
  std::int64_t microseconds = 0;
  if (event_.time_absolute_us) {
    microseconds = *event_.time_absolute_us;
  } else if (!event_.time_delta_us) {
    defects_.add(Defect::no_timestamp, packet.offset);
    return std::nullopt;
  } else if (!sequence.reference_time_us) {
    defects_.add(Defect::no_reference_timestamp, packet.offset);
    return std::nullopt;
  } else if (__builtin_add_overflow(*sequence.reference_time_us, *event_.time_delta_us,
                                    &*sequence.reference_time_us)) {
    sequence.reference_time_us.reset();
    defects_.add(Defect::time_out_of_range, packet.offset);
    return std::nullopt;
  } else {
    microseconds = *sequence.reference_time_us;
  }
  std::int64_t time = 0;
  if (__builtin_mul_overflow(microseconds, 1000, &time) || !is_in_range(time)) {
    defects_.add(Defect::time_out_of_range, packet.offset);
    return std::nullopt;
  }
  if (time < 0) return time;
  const auto related =
      clocks_.to_trace_time(clock_id::monotonic, packet.sequence, std::uint64_t(time));
  return related && is_in_range(*related) ? *related : time;
}

std::uint32_t TraceReader::track_of_plain(const Sequence& sequence) {
  return event_.present.track_uuid ? tracks_.by_uuid(event_.track_uuid) : track_of(sequence);
}

std::uint32_t TraceReader::track_of(const Sequence& sequence, const LegacyEvent& legacy) {
  if (!event_.has_legacy) return track_of_plain(sequence);
  if (event_.present.track_uuid && event_.track_uuid != 0)
    return tracks_.by_uuid(event_.track_uuid);
  if (!event_.present.track_uuid && sequence.defaults.track_uuid.value_or(0) != 0) {
    return track_of(sequence);
  }
  if (legacy.process_override || legacy.thread_override) {
    const auto [pid, tid] = thread_of(sequence);
    return tracks_.of_thread(legacy.process_override.value_or(pid),
                             legacy.thread_override.value_or(tid));
  }
  // A track of 0 that is said is the default track, but for events of the JSON format; one that is
  // not said, the thread that writes.
  const bool is_default = event_.present.track_uuid && legacy.phase == 0;
  if (!is_default && sequence.thread_track) return *sequence.thread_track;
  return tracks_.by_uuid(0);
}

// Of an event that says none.
std::uint32_t TraceReader::track_of(const Sequence& sequence) {
  const std::uint64_t uuid = sequence.defaults.track_uuid.value_or(0);
  if (uuid == 0 && sequence.thread_track) return *sequence.thread_track;
  return tracks_.by_uuid(uuid);
}

// Process and thread of what a sequence writes; 0 where nothing says so.
std::pair<std::int32_t, std::int64_t> TraceReader::thread_of(const Sequence& sequence) {
  if (!sequence.thread_track) return {0, 0};
  const Track& track = tracks_[*sequence.thread_track];
  return {track.pid, track.tid};
}

StringId TraceReader::name_of(const Packet& packet, const InternedState* interned,
                              const LegacyEvent& legacy) {
  std::uint64_t iid = event_.name_iid;
  if (!event_.present.name_iid) {
    if (event_.name.data() != nullptr) return profile_.strings.intern(event_.name);
    if (!legacy.name_iid) return {};
    iid = *legacy.name_iid;
  }
  const StringId* const name = interned == nullptr ? nullptr : interned->names.find(iid);
  if (!name && iid != 0) defects_.add(Defect::missing_interned_name, packet.offset);
  return name ? *name : StringId{};
}

// Several categories are joined by commas, as in the JSON format.
StringId TraceReader::joined_category(const Packet& packet, const InternedState* interned) {
  if (event_.categories.empty() && event_.category_iids.empty()) return {};
  joined_categories_.clear();
  const auto join = [&](std::string_view category) {
    if (!joined_categories_.empty()) joined_categories_ += ',';
    joined_categories_ += category;
  };
  for (const std::uint64_t iid : event_.category_iids) {
    join(profile_.strings[interned_category(iid, packet, interned)]);
  }
  for (const std::string_view category : event_.categories) join(category);
  return profile_.strings.intern(joined_categories_);
}

OpId TraceReader::find_or_add_op(StringId name, StringId category) {
  const std::uint64_t key = std::uint64_t(name) << 32 | std::uint64_t(category);
  const auto [entry, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (is_new) {
    Op op;
    op.name = name;
    op.kind = category;
    profile_.ops.push_back(op);
  }
  if (index_of(name) >= last_op_of_name_.size()) last_op_of_name_.resize(profile_.strings.size());
  last_op_of_name_[index_of(name)] = {category, entry->second};
  return entry->second;
}

void TraceReader::decode_arguments(const EventContext& context) {
  annotations_.decode(event_, context.interned, context.offset, arguments_);
  if (event_.has_location_iid || event_.location.data() != nullptr) add_location(context);
  if (event_.has_correlation) {
    const bool is_signed = event_.correlation >> 63 == 0;
    arguments_.add(profile_.strings.intern("correlation_id"),
                   is_signed ? ArgumentType::integer : ArgumentType::unsigned_integer,
                   event_.correlation);
  }
}

void TraceReader::add_location(const EventContext& context) {
  std::optional<SourceLocation> location;
  if (event_.location.data() != nullptr) {
    std::uint64_t iid = 0;
    location = decode_location(event_.location, profile_.strings, iid);
  } else if (context.interned != nullptr) {
    const SourceLocation* const known = context.interned->locations.find(event_.location_iid);
    if (known != nullptr) location = *known;
  }
  if (!location) return defects_.add(Defect::missing_interned_value, context.offset);
  StringPool& strings = profile_.strings;
  if (location->file != StringId{}) {
    arguments_.add_text(strings.intern("source_file"), location->file);
  }
  if (location->function != StringId{}) {
    arguments_.add_text(strings.intern("source_function"), location->function);
  }
  if (location->line != 0) {
    arguments_.add(strings.intern("source_line"), ArgumentType::integer, location->line);
  }
}

// True: `arguments_` are those of its annotations.
bool TraceReader::decode_event(const Packet& packet, const InternedState* interned) {
  const bool has_form = event_forms_.decode(packet.track_event, event_);
  if (has_form) {
    if (event_.annotations.empty()) {
      arguments_.clear();
      return true;
    }
    if (interned != nullptr && annotations_.decode_by_form(event_, *interned, arguments_)) {
      return true;
    }
  }
  event_.decode(packet.track_event);
  if (!has_form) event_forms_.learn(packet.track_event, event_);
  return false;
}

// Half of all events say no more than that a slice ends.
void TraceReader::take_plain_end(std::uint32_t track, std::int64_t time, std::uint64_t offset) {
  last_time_ = std::max(last_time_, time);
  arguments_.clear();
  slices_.end(track, time, {}, arguments_, offset);
}

// Nearly all others, that one begins.
void TraceReader::take_plain_begin(const Packet& packet, const Sequence& sequence,
                                   std::int64_t time, bool has_arguments) {
  last_time_ = std::max(last_time_, time);
  const InternedState* const interned = sequence.interned.get();
  const std::uint32_t track = track_of_plain(sequence);
  const StringId name = name_of(packet, interned, no_legacy);
  const StringId category = category_of(packet, interned);
  if (!has_arguments) annotations_.decode(event_, interned, packet.offset, arguments_);
  slices_.begin({track, op_of(name, category), time, &arguments_, packet.offset});
}

// False where it says more.
bool TraceReader::take_plain_event(const Packet& packet, const Sequence& sequence,
                                   std::int64_t time, bool has_arguments) {
  if (!event_.is_plain()) return false;
  if (event_.type == EventType::slice_begin) {
    take_plain_begin(packet, sequence, time, has_arguments);
    return true;
  }
  const bool ends = event_.type == EventType::slice_end && !event_.has_name() &&
                    event_.category_iids.empty() && event_.annotations.empty();
  if (ends) take_plain_end(track_of_plain(sequence), time, packet.offset);
  return ends;
}

void TraceReader::take_track_event(const Packet& packet, Sequence& sequence) {
  if (!packet.has_timestamp) {
    event_.decode(packet.track_event);
    const std::optional<std::int64_t> time = time_of_old(packet, sequence);
    if (time) take_decoded_event(packet, sequence, *time);
    return;
  }
  std::int64_t time = 0;
  const bool has_time = time_of(packet, sequence, time);
  constexpr char shortest_end[] = {varint_field(event_field::type), char(EventType::slice_end)};
  if (packet.track_event == std::string_view(shortest_end, 2)) {
    if (has_time) take_plain_end(track_of(sequence), time, packet.offset);
    return;
  }
  const bool has_arguments = decode_event(packet, sequence.interned.get());
  if (!has_time || take_plain_event(packet, sequence, time, has_arguments)) return;
  take_decoded_event(packet, sequence, time);
}

void TraceReader::take_decoded_event(const Packet& packet, Sequence& sequence, std::int64_t time) {
  if (event_.unknown_field != 0) defects_.add_event_field(event_.unknown_field, packet.offset);
  if (event_.has_legacy) legacy_ = LegacyEvent::decode(event_.legacy);
  const LegacyEvent& legacy = event_.has_legacy ? legacy_ : no_legacy;
  last_time_ = std::max(last_time_, time);
  const InternedState* interned = sequence.interned.get();
  EventContext context;
  context.track = track_of(sequence, legacy);
  context.time = time;
  context.offset = packet.offset;
  context.name = name_of(packet, interned, legacy);
  context.category = category_of(packet, interned);
  context.interned = interned;
  context.sequence = &sequence;
  decode_arguments(context);
  const bool has_extra = !event_.extra_counters.empty() || !event_.extra_double_counters.empty();
  if (has_extra) take_extra_counters(context);
  if (event_.has_thread_counts()) take_thread_counts(context);
  if (legacy.phase != 0) {
    take_legacy_event(context, legacy);
  } else {
    take_typed_event(context);
  }
}

void TraceReader::take_typed_event(const EventContext& context) {
  NewSpan span{context.track, {}, context.time, {}, context.offset};
  switch (event_.type) {
    case EventType::slice_end:
      take_flows(context, slices_.end(context.track, context.time, {context.name, context.category},
                                      arguments_, context.offset));
      return;
    case EventType::counter: take_counter(context); return;
    case EventType::slice_begin:
      span.op = op_of(context.name, context.category);
      span.arguments = &arguments_;
      take_flows(context, {slices_.begin(span), none});
      return;
    case EventType::instant:
      span.op = op_of(context.name, context.category);
      span.arguments = &arguments_;
      take_flows(context, {slices_.instant(span), none});
      return;
    case EventType::state: {
      const bool begins = context.name != StringId{};
      if (begins) span.op = op_of(context.name, context.category);
      span.arguments = &arguments_;
      take_flows(context, {slices_.state(span, begins), none});
      return;
    }
    case EventType::unspecified: break;
  }
  defects_.add(Defect::unknown_event_type, context.offset);
}

void TraceReader::take_flows(const EventContext& context, Slices::Ended at) {
  const auto add = [&](std::uint64_t id, bool terminates) {
    if (at.row == none && at.deferred == none) {
      return defects_.add(Defect::flow_without_slice, context.offset);
    }
    const FlowPoint point{.time = context.time,
                          .at = at.row,
                          .role = terminates ? FlowPoint::Role::ends : FlowPoint::Role::meets};
    if (at.row != none) return flows_.add(FlowSpace::track_event, id, point);
    flows_.add_deferred(FlowSpace::track_event, id, point, at.deferred);
  };
  for (const std::uint64_t id : event_.flows) add(id, false);
  for (const std::uint64_t id : event_.terminating_flows) add(id, true);
}

void TraceReader::take_counter(const EventContext& context) {
  const std::uint32_t track = context.track;
  tracks_[track].take_counter_values();
  if (event_.present.double_counter) {
    const double value = event_.double_counter * double(tracks_[track].multiplier);
    return add_sample(track, {}, {}, context.time, value);
  }
  if (!event_.present.counter) return defects_.add(Defect::counter_without_value, context.offset);
  add_sample(track, {}, {}, context.time, counter_value(track, event_.counter, context));
}

double TraceReader::counter_value(std::uint32_t track, std::int64_t value,
                                  const EventContext& context) {
  if (tracks_[track].incremental) {
    std::int64_t& sum = context.sequence->state().incremental_counters[track];
    if (__builtin_add_overflow(sum, value, &sum)) {
      defects_.add(Defect::counter_without_value, context.offset);
    }
    value = sum;
  }
  return double(value) * double(tracks_[track].multiplier);
}

// What the thread of the event has used so far, as events of old say it: series of that thread.
void TraceReader::take_thread_counts(const EventContext& context) {
  if (tracks_[context.track].kind != Track::Kind::thread) return;
  const auto take = [&](const CountedValue& value, std::int64_t& sum, std::int64_t unit,
                        std::string_view name) {
    if (!value.absolute && !value.delta) return;
    if (!value.absolute && __builtin_add_overflow(sum, *value.delta, &sum)) sum = 0;
    const double now = double(value.absolute.value_or(sum)) * double(unit);
    add_sample(context.track, profile_.strings.intern(name), {}, context.time, now);
  };
  take(event_.thread_time_us, context.sequence->thread_time_us, 1000, "thread_time");
  take(event_.thread_instructions, context.sequence->thread_instructions, 1,
       "thread_instruction_count");
}

void TraceReader::take_extra_counters(const EventContext& context) {
  const auto take = [&](const std::vector<std::uint64_t>& of_event,
                        const std::vector<std::uint64_t>& of_sequence, std::size_t values,
                        auto&& value_of) {
    const auto& uuids = of_event.empty() ? of_sequence : of_event;
    for (std::size_t i = 0; i < values; ++i) {
      if (i >= uuids.size()) {
        return defects_.add(Defect::extra_counter_without_track, context.offset, values - i);
      }
      const std::uint32_t track = tracks_.by_uuid(uuids[i]);
      tracks_[track].take_counter_values();
      add_sample(track, {}, {}, context.time, value_of(track, i));
    }
  };
  const SequenceDefaults& defaults = context.sequence->defaults;
  take(event_.extra_counter_tracks, defaults.extra_counter_tracks, event_.extra_counters.size(),
       [&](std::uint32_t track, std::size_t i) {
         return counter_value(track, event_.extra_counters[i], context);
       });
  take(event_.extra_double_counter_tracks, defaults.extra_double_counter_tracks,
       event_.extra_double_counters.size(), [&](std::uint32_t track, std::size_t i) {
         return std::bit_cast<double>(event_.extra_double_counters[i]) *
                double(tracks_[track].multiplier);
       });
}

// A counter track has one series, named like the track in the end; legacy counters on a thread have
// one for each name and part.
void TraceReader::add_sample(std::uint32_t track, StringId name, StringId part, std::int64_t time,
                             double value) {
  Counters& counters = profile_.counters;
  const auto add_series = [&] {
    counters.series.push_back({UnitId::none, name, part});
    track_of_series_.push_back(track);
    return std::uint32_t(counters.series.size() - 1);
  };
  std::uint32_t series = none;
  if (name == StringId{} && part == StringId{}) {
    if (tracks_[track].series == none) tracks_[track].series = add_series();
    series = tracks_[track].series;
  } else {
    const auto [entry, is_new] = named_series_.try_emplace({track, name, part}, 0);
    if (is_new) entry->second = add_series();
    series = entry->second;
  }
  counters.of.push_back(series);
  counters.time.push_back(time);
  counters.value.push_back(value);
  tracks_[track].first_time = std::min(tracks_[track].first_time, time);
}

}  // namespace npuscope::perfetto
