#include "formats/perfetto/read/event_forms.hpp"

#include <optional>

#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {
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
