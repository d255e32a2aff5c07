// Events of the JSON format inside a trace: Chrome records them so where the newer forms have no
// place for what it means.
#include <fmt/format.h>

#include "formats/perfetto/read/trace_reader.hpp"

namespace npuscope::perfetto {

void TraceReader::take_legacy_event(const EventContext& context, const LegacyEvent& legacy) {
  NewSpan span{context.track, {}, context.time, {}, context.offset};
  const auto fill = [&] {
    span.op = op_of(context.name, context.category);
    span.arguments = &arguments_;
  };
  const auto attach = [&](Slices::Ended at) {
    take_flows(context, at);
    take_bind_id(context, legacy, at);
  };
  switch (legacy.phase) {
    case 'B': fill(); return attach({slices_.begin(span), none});
    case 'E':
      return attach(slices_.end(context.track, context.time, {context.name, context.category},
                                arguments_, context.offset));
    case 'X': {
      std::int64_t duration = 0;
      if (__builtin_mul_overflow(legacy.duration_us, 1000, &duration) ||
          duration > (std::int64_t{1} << 61)) {
        return defects_.add(Defect::time_out_of_range, context.offset);
      }
      fill();
      last_time_ = std::max(last_time_, context.time + std::max<std::int64_t>(duration, 0));
      return attach({slices_.whole(span, duration), none});
    }
    case 'i':
    case 'I':
    case 'R':
      span.track = track_of_instant(context, legacy);
      fill();
      return attach({slices_.instant(span), none});
    case 'b':
    case 'S':
    case 'e':
    case 'F':
    case 'n':
    case 'T':
    case 'p': return take_legacy_async(context, legacy);
    case 's':
    case 't':
    case 'f': return take_legacy_flow(context, legacy);
    case 'C': return take_legacy_counter(context);
    case 'M': return take_legacy_metadata(context);
    default: defects_.add_legacy_phase(legacy.phase, context.offset);
  }
}

// A moment of a whole process is on its track, one of all processes on the default track.
std::uint32_t TraceReader::track_of_instant(const EventContext& context,
                                            const LegacyEvent& legacy) {
  if (legacy.instant_scope == LegacyEvent::global) return tracks_.by_uuid(0);
  if (legacy.instant_scope != LegacyEvent::process) return context.track;
  const Track& track = tracks_[context.track];
  if (track.kind != Track::Kind::plain) return tracks_.of_process(track.pid);
  return tracks_.of_process(legacy.process_override.value_or(thread_of(*context.sequence).first));
}

// Begun and ended by id within a scope or category; S and F also by name.
void TraceReader::take_legacy_async(const EventContext& context, const LegacyEvent& legacy) {
  AsyncKey key;
  key.id = legacy.id;
  key.kind = std::uint32_t(legacy.id_kind);
  key.scope = legacy.id_scope.empty() ? context.category : profile_.strings.intern(legacy.id_scope);
  if (legacy.phase == 'S' || legacy.phase == 'F') key.name = context.name;
  if (legacy.id_kind == LegacyEvent::IdKind::local) key.pid = tracks_[context.track].pid;
  if (legacy.phase == 'e' || legacy.phase == 'F') {
    const std::uint32_t row = slices_.async_end(key, context.time, arguments_, context.offset);
    return take_flows(context, {row, none});
  }
  NewSpan span{context.track, op_of(context.name, context.category), context.time, &arguments_,
               context.offset};
  const bool begins = legacy.phase == 'b' || legacy.phase == 'S';
  take_flows(context, {begins ? slices_.async_begin(span, key) : slices_.instant(span), none});
}

// Every number among the arguments is a series.
void TraceReader::take_legacy_counter(const EventContext& context) {
  for (std::size_t i = 0; i < arguments_.keys().size(); ++i) {
    const auto value = Argument{arguments_.keys()[i], arguments_.values[i]}.as_number();
    if (!value) {
      defects_.add(Defect::counter_without_value, context.offset);
      continue;
    }
    add_sample(context.track, context.name, arguments_.keys()[i].name, context.time, *value);
  }
  if (arguments_.empty()) defects_.add(Defect::counter_without_value, context.offset);
}

void TraceReader::take_legacy_metadata(const EventContext& context) {
  const std::string_view what = profile_.strings[context.name];
  Track& track = tracks_[context.track];
  for (std::size_t i = 0; i < arguments_.keys().size(); ++i) {
    const ArgumentKey& key = arguments_.keys()[i];
    if (key.type != ArgumentType::text || profile_.strings[key.name] != "name") continue;
    const StringId name = Argument{key, arguments_.values[i]}.text();
    if (what == "thread_name") {
      track.thread_name = name;
      return;
    }
    if (what == "process_name") {
      tracks_[tracks_.of_process(track.pid)].process_name = name;
      return;
    }
  }
  defects_.add_legacy_phase('M', context.offset);
}

// `s` and `t` start from the slice around them, `f` leads to the next one unless told otherwise.
void TraceReader::take_legacy_flow(const EventContext& context, const LegacyEvent& legacy) {
  std::string identity = fmt::format("{} {} {}", std::uint32_t(context.name),
                                     std::uint32_t(context.category), legacy.id);
  identity += legacy.id_scope;
  const bool to_next = legacy.phase == 'f' && !legacy.bind_to_enclosing;
  flows_.add(FlowSpace::legacy, std::uint64_t(legacy_flow_ids_.intern(identity)),
             {.time = context.time,
              .at = context.track,
              .role = legacy.phase == 's'   ? FlowPoint::Role::begins
                      : legacy.phase == 't' ? FlowPoint::Role::steps
                                            : FlowPoint::Role::arrives,
              .binding = to_next ? FlowPoint::Binding::next : FlowPoint::Binding::enclosing,
              .name = context.name,
              .category = context.category});
}

void TraceReader::take_bind_id(const EventContext& context, const LegacyEvent& legacy,
                               Slices::Ended at) {
  if (!legacy.bind_id || legacy.flow_direction == LegacyEvent::no_direction) return;
  if (at.row == none) return defects_.add(Defect::flow_without_slice, context.offset);
  FlowPoint point{.time = context.time, .at = at.row};
  switch (legacy.flow_direction) {
    case LegacyEvent::in: point.role = FlowPoint::Role::arrives; break;
    case LegacyEvent::out: point.role = FlowPoint::Role::begins; break;
    default: point.role = FlowPoint::Role::passes;
  }
  flows_.add(FlowSpace::bind_id, *legacy.bind_id, point);
}

}  // namespace npuscope::perfetto
