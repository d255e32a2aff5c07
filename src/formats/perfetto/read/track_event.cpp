#include "formats/perfetto/read/track_event.hpp"

namespace npuscope::perfetto {

LegacyEvent LegacyEvent::decode(std::string_view message) {
  LegacyEvent event;
  const auto set_id = [&](IdKind kind, std::uint64_t number) {
    event.id_kind = kind;
    event.id = number;
  };
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(legacy_field::name_iid): event.name_iid = reader.get_uint64(); break;
      case varint_field(legacy_field::phase): event.phase = reader.get_uint32(); break;
      case varint_field(legacy_field::duration_us): event.duration_us = reader.get_int64(); break;
      case varint_field(legacy_field::unscoped_id):
        set_id(IdKind::unscoped, reader.get_uint64());
        break;
      case varint_field(legacy_field::local_id): set_id(IdKind::local, reader.get_uint64()); break;
      case varint_field(legacy_field::global_id):
        set_id(IdKind::global, reader.get_uint64());
        break;
      case bytes_field(legacy_field::id_scope): event.id_scope = bytes_of(reader); break;
      case varint_field(legacy_field::bind_id): event.bind_id = reader.get_uint64(); break;
      case varint_field(legacy_field::bind_to_enclosing):
        event.bind_to_enclosing = reader.get_uint64() != 0;
        break;
      case varint_field(legacy_field::flow_direction):
        event.flow_direction = reader.get_uint32();
        break;
      case varint_field(legacy_field::instant_event_scope):
        event.instant_scope = reader.get_uint32();
        break;
      case varint_field(legacy_field::process_override):
        event.process_override = reader.get_int32();
        break;
      case varint_field(legacy_field::thread_override):
        event.thread_override = reader.get_int64();
        break;
      default: reader.skip();
    }
  }
  return event;
}

void TrackEvent::clear() {
  type = EventType::unspecified;
  present = {};
  has_legacy = false;
  of_form_ = nullptr;
  name = {};
  category_iids.clear();
  annotations = {};
  if (!has_other_) return;
  has_other_ = has_location_iid = has_correlation = has_thread_counts_ = false;
  time_delta_us.reset();
  time_absolute_us.reset();
  thread_time_us = thread_instructions = {};
  location = {};
  unknown_field = 0;
  more_annotations.clear();
  categories.clear();
  flows.clear();
  terminating_flows.clear();
  extra_counter_tracks.clear();
  extra_counters.clear();
  extra_double_counter_tracks.clear();
  extra_double_counters.clear();
}

// What few events have.
void TrackEvent::decode_other(FieldReader& reader) {
  has_other_ = true;
  switch (reader.tag_and_type()) {
    case bytes_field(event_field::debug_annotations):
      more_annotations.push_back(bytes_of(reader));
      return;
    case bytes_field(event_field::categories): categories.push_back(bytes_of(reader)); return;
    case varint_field(event_field::source_location_iid):
      location_iid = reader.get_uint64();
      has_location_iid = true;
      return;
    case bytes_field(event_field::source_location): location = bytes_of(reader); return;
    case varint_field(event_field::correlation_id):
      correlation = reader.get_uint64();
      has_correlation = true;
      return;
    case varint_field(event_field::timestamp_delta_us): time_delta_us = reader.get_int64(); return;
    case varint_field(event_field::timestamp_absolute_us):
      time_absolute_us = reader.get_int64();
      return;
    case varint_field(event_field::thread_time_delta_us):
      thread_time_us.delta = reader.get_int64();
      has_thread_counts_ = true;
      return;
    case varint_field(event_field::thread_time_absolute_us):
      thread_time_us.absolute = reader.get_int64();
      has_thread_counts_ = true;
      return;
    case varint_field(event_field::thread_instructions_delta):
      thread_instructions.delta = reader.get_int64();
      has_thread_counts_ = true;
      return;
    case varint_field(event_field::thread_instructions_absolute):
      thread_instructions.absolute = reader.get_int64();
      has_thread_counts_ = true;
      return;
    default: break;
  }
  switch (reader.tag()) {
    case event_field::category_iids: append_varints(reader, category_iids); return;
    case event_field::extra_counter_values: append_varints(reader, extra_counters); return;
    case event_field::extra_counter_tracks: append_varints(reader, extra_counter_tracks); return;
    case event_field::extra_double_counter_tracks:
      append_varints(reader, extra_double_counter_tracks);
      return;
    case event_field::extra_double_counter_values:
      append_fixed64(reader, extra_double_counters);
      return;
    case event_field::flow_ids_varint: append_varints(reader, flows); return;
    case event_field::terminating_flow_ids_varint:
      append_varints(reader, terminating_flows);
      return;
    case event_field::flow_ids: append_fixed64(reader, flows); return;
    case event_field::terminating_flow_ids: append_fixed64(reader, terminating_flows); return;
    default: unknown_field = reader.tag(); reader.skip();
  }
}

void TrackEvent::decode(std::string_view message) {
  clear();
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(event_field::type): type = EventType(reader.get_uint32()); break;
      case varint_field(event_field::track_uuid):
        track_uuid = reader.get_uint64();
        present.track_uuid = true;
        break;
      case varint_field(event_field::name_iid):
        name_iid = reader.get_uint64();
        present.name_iid = true;
        break;
      case varint_field(event_field::category_iids):
        category_iids.push_back(reader.get_uint64());
        break;
      case bytes_field(event_field::name): name = bytes_of(reader); break;
      case bytes_field(event_field::debug_annotations):
        if (!annotations.empty() || !reader.get_run(annotations)) decode_other(reader);
        break;
      case varint_field(event_field::counter_value):
        counter = reader.get_int64();
        present.counter = true;
        break;
      case fixed64_field(event_field::double_counter_value):
        double_counter = reader.get_double();
        present.double_counter = true;
        break;
      case bytes_field(event_field::legacy_event):
        legacy = bytes_of(reader);
        has_legacy = true;
        break;
      default: decode_other(reader);
    }
  }
}

namespace {

constexpr char first_of_annotation = bytes_field(event_field::debug_annotations);
constexpr std::size_t shortest_field = 2;

}  // namespace

bool EventForms::decode(std::string_view message, TrackEvent& event) {
  if (message.size() < shortest_field) return false;
  Form& form = form_for(message);
  if (form.part_count == 0) return false;
  if (event.of_form_ != &form) prepare(form, event);
  FieldReader reader(message);
  if (form.category_shift != no_category) {
    event.category_iids[0] = reader.next_bytes() >> form.category_shift & 0x7F;
  }
  for (std::size_t i = 0; i < form.part_count; ++i) {
    const Part& part = form.parts[i];
    if (!reader.take_if_next(part.before, part.mask, part.bytes_before)) return false;
    switch (part.value) {
      case Value::track_uuid: event.track_uuid = reader.get_uint64(); break;
      case Value::category_iid: event.category_iids[0] = reader.get_uint64(); break;
      case Value::name_iid: event.name_iid = reader.get_uint64(); break;
      case Value::name: event.name = bytes_of(reader); break;
      case Value::counter: event.counter = reader.get_int64(); break;
      case Value::double_counter: event.double_counter = reader.get_double(); break;
      case Value::none: break;
    }
  }
  const std::string_view rest = reader.rest();
  if (rest.empty() == form.has_annotations) return false;
  if (form.has_annotations) {
    if (rest[0] != first_of_annotation) return false;
    event.annotations = rest;
  }
  form.learnt_in_vain -= form.learnt_in_vain > 0 ? 1 : 0;
  return true;
}

void EventForms::prepare(const Form& form, TrackEvent& event) {
  event.clear();
  event.type = form.type;
  event.present = form.present;
  event.category_iids.resize(form.has_category ? 1 : 0);
  event.of_form_ = &form;
}

bool EventForms::learn_parts(std::string_view fields, Form& form) {
  const auto value_of = [](std::uint32_t tag) -> std::optional<Value> {
    switch (tag) {
      case varint_field(event_field::type): return Value::none;
      case varint_field(event_field::track_uuid): return Value::track_uuid;
      case varint_field(event_field::category_iids): return Value::category_iid;
      case varint_field(event_field::name_iid): return Value::name_iid;
      case bytes_field(event_field::name): return Value::name;
      case varint_field(event_field::counter_value): return Value::counter;
      case fixed64_field(event_field::double_counter_value): return Value::double_counter;
      default: return std::nullopt;
    }
  };
  form.category_shift = no_category;
  std::size_t parts = 0, part_begin = 0;
  std::uint64_t not_in_mask = 0;
  FieldReader reader(fields);
  const auto here = [&] { return fields.size() - reader.bytes_left(); };
  const auto add = [&](Value value, std::size_t value_begin) {
    const std::size_t bytes = value_begin - part_begin;
    if (parts == most_parts || bytes > sizeof(std::uint64_t)) return false;
    const std::uint64_t mask = ~std::uint64_t{0} >> 8 * (sizeof(std::uint64_t) - bytes);
    Part& part = form.parts[parts++];
    part.mask = mask & ~not_in_mask;
    part.before = FieldReader(fields.substr(part_begin)).next_bytes() & part.mask;
    part.bytes_before = std::uint8_t(bytes);
    part.value = value;
    not_in_mask = 0;
    part_begin = here();
    return true;
  };
  while (reader.next()) {
    const std::optional<Value> value = value_of(reader.tag_and_type());
    if (!value) return false;
    const std::size_t begin = here();
    reader.skip();
    if (*value == Value::none) continue;
    const bool is_short = here() == begin + 1 && here() <= sizeof(std::uint64_t);
    if (*value == Value::category_iid && parts == 0 && is_short) {
      form.category_shift = std::uint8_t(8 * begin);
      not_in_mask |= std::uint64_t{0x7F} << form.category_shift;
      continue;
    }
    if (!add(*value, begin)) return false;
  }
  if (part_begin < fields.size() && !add(Value::none, fields.size())) return false;
  form.part_count = parts;
  return true;
}

void EventForms::learn(std::string_view message, const TrackEvent& event) {
  if (!event.is_plain() || message.size() < shortest_field) return;
  Form& form = form_for(message);
  if (form.learnt_in_vain++ >= most_in_vain) return;
  form.part_count = 0;
  const std::string_view fields = message.substr(0, message.size() - event.annotations.size());
  const bool ends_with_annotations =
      event.annotations.empty() || event.annotations.data() == fields.data() + fields.size();
  if (!ends_with_annotations || event.category_iids.size() > 1) return;
  if (!learn_parts(fields, form)) return;
  form.type = event.type;
  form.present = event.present;
  form.has_category = !event.category_iids.empty();
  form.has_annotations = !event.annotations.empty();
}

}  // namespace npuscope::perfetto
