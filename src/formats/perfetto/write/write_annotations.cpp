#include "formats/perfetto/write/write_annotations.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "formats/perfetto/fields.hpp"
#include "profile/names.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::perfetto {
namespace {

// Of a debug annotation but for its JSON: its field and size, its head, its value.
constexpr std::size_t max_argument_bytes = 2 * longest_varint + 8 + longest_varint;

// The tag of the value of an annotation; 0: it has none.
std::uint32_t tag_of(ArgumentType type) {
  switch (type) {
    case ArgumentType::null: return 0;
    case ArgumentType::boolean: return varint_tag(annotation_field::boolean);
    case ArgumentType::integer: return varint_tag(annotation_field::integer);
    case ArgumentType::unsigned_integer: return varint_tag(annotation_field::unsigned_integer);
    case ArgumentType::number: return fixed64_tag(annotation_field::number);
    case ArgumentType::text: return varint_tag(annotation_field::text_iid);
    case ArgumentType::json: return bytes_tag(annotation_field::legacy_json);
  }
  return 0;
}

char* put_bits(char* at, std::uint64_t bits) {
  std::memcpy(at, &bits, sizeof bits);  // both little-endian
  return at + sizeof bits;
}

}  // namespace

AnnotationWriter::AnnotationWriter(const Profile& profile, SequenceWriter& sequence)
    : profile_(profile),
      sequence_(sequence),
      numbers_(profile, sequence),
      has_arguments_(!profile.spans.arguments.empty()),
      forms_(profile.spans.arguments.shapes.size()) {
  for (std::size_t shape = 0; shape < forms_.size(); ++shape) {
    const ArgumentShape& keys = profile.spans.arguments.shapes[shape];
    forms_[shape].heads.resize(keys.size());
    forms_[shape].max = keys.size() * max_argument_bytes;
    for (std::uint32_t place = 0; place < keys.size(); ++place) {
      if (keys[place].type == ArgumentType::json) forms_[shape].json.push_back(place);
    }
  }
  sort_measures();
  const Spans& spans = profile.spans;
  has_extras_ = spans.instance.size() == spans.size() ||
                spans.processor_cycles.size() == spans.size() || !spans.measures.empty() ||
                !has_measure_.empty();
}

void AnnotationWriter::sort_measures() {
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

AnnotationWriter::Head AnnotationWriter::head_of(const ArgumentKey& key) const {
  static_assert(Head::max_size >= 1 + varint_bytes(~std::uint32_t{0}) + 2);
  char text[Head::max_size + longest_varint] = {};
  char* at = put_varint(text, varint_tag(annotation_field::name_iid));
  at = put_varint(at, numbers_.of(Interned::annotation_name, key.name));
  if (const std::uint32_t tag = tag_of(key.type)) at = put_varint(at, tag);
  Head head{.size = std::uint8_t(at - text), .type = key.type};
  std::memcpy(&head.bytes, text, sizeof head.bytes);
  return head;
}

inline char* AnnotationWriter::put_argument(char* at, const Head& head, std::uint64_t bits) const {
  return put_message(at, event_field::debug_annotations, [&](char* value) {
    value = put_bits(value, head.bytes) - Head::max_size + head.size;
    const StringId text{std::uint32_t(bits)};
    switch (head.type) {
      case ArgumentType::null: return value;
      case ArgumentType::boolean: return put_varint(value, bits != 0);
      case ArgumentType::integer:
      case ArgumentType::unsigned_integer: return put_varint(value, bits);
      case ArgumentType::number: return put_bits(value, bits);
      case ArgumentType::text:
        return put_varint(value, numbers_.of(Interned::annotation_string, text));
      case ArgumentType::json: {
        const std::string_view json = profile_.text(text);
        return print_text(put_varint(value, json.size()), json);
      }
    }
    return value;
  });
}

void AnnotationWriter::make_heads(Form& form, const ArgumentRow& values) {
  form.sequence = sequence_.number();
  const ArgumentShape& keys = profile_.spans.arguments.shapes[values.shape()];
  for (std::size_t i = 0; i < keys.size(); ++i) {
    form.heads[i] = head_of(keys[i]);
    if (keys[i].type != ArgumentType::text) continue;
    numbers_.of(Interned::annotation_string, StringId(std::uint32_t(values.bits(i))));
  }
}

void AnnotationWriter::add_arguments(std::uint32_t row) {
  if (!has_arguments_) return;
  const ArgumentRow values = profile_.spans.arguments.row(row);
  Form& form = forms_[values.shape()];
  if (form.sequence != sequence_.number()) make_heads(form, values);
  std::size_t max = form.max;
  for (const std::uint32_t place : form.json) {
    max += profile_.text(StringId(std::uint32_t(values.bits(place)))).size();
  }
  sequence_.event().add_made(max, [&](char* at) {
    std::size_t place = 0;
    for (const Head& head : form.heads) at = put_argument(at, head, values.bits(place++));
    return at;
  });
}

template <class Put>
void AnnotationWriter::annotate(std::uint64_t name, std::size_t max, const Put& put) {
  sequence_.event().add_made(4 * longest_varint + max, [&](char* at) {
    return put_message(at, event_field::debug_annotations, [&](char* value) {
      return put(put_varint(put_varint(value, varint_tag(annotation_field::name_iid)), name));
    });
  });
}

void AnnotationWriter::annotate(std::uint64_t name, std::int64_t value) {
  annotate(name, 2 * longest_varint, [&](char* at) {
    return put_varint(put_varint(at, varint_tag(annotation_field::integer)), std::uint64_t(value));
  });
}

void AnnotationWriter::annotate(std::uint64_t name, double value) {
  annotate(name, longest_varint + sizeof value, [&](char* at) {
    return put_bits(put_varint(at, fixed64_tag(annotation_field::number)),
                    std::bit_cast<std::uint64_t>(value));
  });
}

void AnnotationWriter::annotate(Word word, std::int64_t value) {
  annotate(numbers_.of(Interned::annotation_name, word), value);
}

template <class Text>
void AnnotationWriter::annotate_interned(Word word, Text text) {
  const std::uint64_t name = numbers_.of(Interned::annotation_name, word);
  const std::uint64_t value = numbers_.of(Interned::annotation_string, text);
  annotate(name, 2 * longest_varint, [&](char* at) {
    return put_varint(put_varint(at, varint_tag(annotation_field::text_iid)), value);
  });
}

void AnnotationWriter::annotate(Word word, StringId text) {
  if (text != StringId{}) annotate_interned(word, text);
}

void AnnotationWriter::add_kind(SpanKind kind) {
  if (!is_plain(kind)) annotate_interned(Word::span, word_of(kind));
}

void AnnotationWriter::add_extras_of_row(std::uint32_t row) {
  const Spans& spans = profile_.spans;
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    annotate(Word::inference, spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    annotate(Word::processor_cycles, spans.processor_cycles[row]);
  }
  for (const MeasureColumn& column : spans.measures) {
    if (column.values.size() != spans.size()) continue;
    if (column.values[row] == MeasureColumn::missing) continue;
    annotate(numbers_.of(Interned::annotation_name, column.what), column.values[row]);
  }
  if (!has_measure_.empty() && has_measure_[row]) add_measures(Measure::Subject::span, row);
}

void AnnotationWriter::add_op_extras(const Op& op) {
  annotate(Word::node, op.node);
  annotate(Word::node_kind, op.node_kind);
  annotate(Word::memory, op.memory);
  annotate(Word::types, op.types);
  annotate(Word::shape, op.shape);
  annotate(Word::attributes, op.attributes);
  annotate(Word::operands, op.operands);
  annotate(Word::split_from, op.split_from);
  annotate(Word::provider, op.provider);
  if (op.output.value != 0) annotate(Word::output_bytes, op.output.value);
  if (op.id != 0) annotate(Word::op_id, std::int64_t(op.id));
  if (op.engine != Engine::none) {
    const std::string_view engine = stable_name(op.engine);
    annotate(numbers_.of(Interned::annotation_name, Word::engine),
             2 * longest_varint + engine.size(), [&](char* at) {
               at = put_varint(at, bytes_tag(annotation_field::text));
               return print_text(put_varint(at, engine.size()), engine);
             });
  }
  if (op.core != 0) annotate(Word::core, op.core);
  if (op.group != 0) annotate(Word::group, op.group);
  if (op.position != 0) annotate(Word::position, op.position);
  if (op.once_per_inference) annotate(Word::once_per_inference, 1);
}

void AnnotationWriter::add_phase(const Phase& phase, std::uint32_t number) {
  annotate(Word::inference, phase.instance);
  annotate(Word::phase, number);
  if (const auto parent = parent_number(phase)) annotate(Word::parent, *parent);
  if (index_of(phase.unit) < profile_.units.size()) annotate(Word::unit, index_of(phase.unit));
  if (phase.microseconds >= 0) {
    annotate(numbers_.of(Interned::annotation_name, Word::microseconds), phase.microseconds);
  }
  add_measures(Measure::Subject::phase, number);
}

void AnnotationWriter::add_measures(Measure::Subject subject, std::uint32_t id) {
  const auto order = [&](std::uint32_t i) {
    return std::tuple(profile_.measures[i].subject, profile_.measures[i].subject_id);
  };
  const auto wanted = std::tuple(subject, id);
  auto at = std::lower_bound(measures_.begin(), measures_.end(), wanted,
                             [&](std::uint32_t i, const auto& key) { return order(i) < key; });
  for (; at != measures_.end() && order(*at) == wanted; ++at) {
    const Measure& measure = profile_.measures[*at];
    annotate(numbers_.of(Interned::annotation_name, measure.what), measure.value);
  }
}

}  // namespace npuscope::perfetto
