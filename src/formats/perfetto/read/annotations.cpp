#include "formats/perfetto/read/annotations.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {
namespace {

constexpr int deepest = 64;

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

void add_unsigned(ArgumentList& into, StringId name, std::uint64_t value) {
  const bool fits = value <= std::uint64_t(std::numeric_limits<std::int64_t>::max());
  into.add(name, fits ? ArgumentType::integer : ArgumentType::unsigned_integer, value);
}

void write_leaf(JsonWriter<std::string>& json, const auto& value) { json.value(value); }
void write_leaf(JsonWriter<std::string>& json, std::monostate) { json.null(); }
// JSON has no other numbers.
void write_leaf(JsonWriter<std::string>& json, double value) {
  if (std::isfinite(value)) return json.value(value);
  json.value(fmt::format("{}", value));
}

}  // namespace

void AnnotationDecoder::decode_each(const TrackEvent& event, const InternedState* interned,
                                    std::uint64_t offset, ArgumentList& into) {
  into.clear();
  const Scope scope{interned, offset};
  FieldReader reader(event.annotations);
  while (reader.next()) decode(reader.get_view(), scope, into);
  for (const std::string_view annotation : event.more_annotations) decode(annotation, scope, into);
  if (interned == nullptr || !event.more_annotations.empty()) return;
  forms_.learn(event.annotations, event.name_number(), *interned, into);
}

void AnnotationDecoder::decode(std::string_view annotation, Scope scope, ArgumentList& into) {
  StringId name{};
  FieldReader reader(annotation);
  // Writers put the name first; only its last value counts.
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(annotation_field::name_iid): {
        const std::uint64_t iid = reader.get_uint64();
        const StringId* const known =
            scope.interned == nullptr ? nullptr : scope.interned->annotation_names.find(iid);
        if (!known) defects_->add(Defect::missing_interned_value, scope.offset);
        if (!known) return;
        name = *known;
        break;
      }
      case bytes_field(annotation_field::name): name = strings_->intern(bytes_of(reader)); break;
      default: reader.skip();
    }
  }
  decode_value(annotation, scope, name, into);
}

void AnnotationDecoder::decode_value(std::string_view annotation, Scope scope, StringId name,
                                     ArgumentList& into) {
  FieldReader reader(annotation);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(annotation_field::boolean):
        return into.add(name, ArgumentType::boolean, reader.get_uint64() != 0);
      case varint_field(annotation_field::unsigned_integer):
      case varint_field(annotation_field::pointer):
        return add_unsigned(into, name, reader.get_uint64());
      case varint_field(annotation_field::integer):
        return into.add(name, ArgumentType::integer, reader.get_uint64());
      case fixed64_field(annotation_field::number):
        return into.add(name, ArgumentType::number, bits_of(reader.get_double()));
      case bytes_field(annotation_field::text):
        return into.add_text(name, strings_->intern(bytes_of(reader)));
      case varint_field(annotation_field::text_iid): {
        const std::uint64_t iid = reader.get_uint64();
        const StringId* const text =
            scope.interned ? scope.interned->annotation_strings.find(iid) : nullptr;
        if (!text) return defects_->add(Defect::missing_interned_value, scope.offset);
        return into.add_text(name, *text);
      }
      case bytes_field(annotation_field::legacy_json):
        return add_legacy_json(bytes_of(reader), name, into);
      case bytes_field(annotation_field::nested):
      case bytes_field(annotation_field::dictionary):
      case bytes_field(annotation_field::array): {
        text_.clear();
        Json json(text_);
        write_json(json, annotation, scope, 0);
        return into.add(name, ArgumentType::json, std::uint32_t(strings_->intern(text_)));
      }
      case varint_field(annotation_field::name_iid):
      case bytes_field(annotation_field::name): reader.skip(); break;
      default: defects_->add(Defect::annotation_without_value, scope.offset); reader.skip();
    }
  }
  into.add(name, ArgumentType::null, 0);
}

struct AnnotationDecoder::LegacyJson {
  simdjson::dom::parser parser;
};

// Text that is JSON is kept as it stands; a lone number or string as what it is.
void AnnotationDecoder::add_legacy_json(std::string_view text, StringId name, ArgumentList& into) {
  if (!legacy_json_) legacy_json_ = std::make_shared<LegacyJson>();
  simdjson::dom::element element;
  if (legacy_json_->parser.parse(text.data(), text.size(), true).get(element) !=
      simdjson::SUCCESS) {
    return into.add_text(name, strings_->intern(text));
  }
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
    case simdjson::dom::element_type::OBJECT:
      return into.add(name, ArgumentType::json, std::uint32_t(strings_->intern(text)));
    case simdjson::dom::element_type::INT64:
      return into.add(name, ArgumentType::integer,
                      std::uint64_t(element.get_int64().value_unsafe()));
    case simdjson::dom::element_type::UINT64:
      return add_unsigned(into, name, element.get_uint64().value_unsafe());
    case simdjson::dom::element_type::DOUBLE:
      return into.add(name, ArgumentType::number, bits_of(element.get_double().value_unsafe()));
    case simdjson::dom::element_type::STRING:
      return into.add_text(name, strings_->intern(element.get_string().value_unsafe()));
    case simdjson::dom::element_type::BOOL:
      return into.add(name, ArgumentType::boolean, element.get_bool().value_unsafe());
    case simdjson::dom::element_type::NULL_VALUE: return into.add(name, ArgumentType::null, 0);
  }
}

std::string_view AnnotationDecoder::key_of(std::string_view annotation, Scope scope) {
  FieldReader reader(annotation);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(annotation_field::name_iid): {
        const std::uint64_t iid = reader.get_uint64();
        const StringId* const name =
            scope.interned ? scope.interned->annotation_names.find(iid) : nullptr;
        if (!name) defects_->add(Defect::missing_interned_value, scope.offset);
        return name ? (*strings_)[*name] : std::string_view();
      }
      case bytes_field(annotation_field::name): return bytes_of(reader);
      default: reader.skip();
    }
  }
  return {};
}

// The annotation's value: the first one where it has several, as in decode_value().
void AnnotationDecoder::write_json(Json& json, std::string_view annotation, Scope scope,
                                   int depth) {
  if (depth == deepest) {
    defects_->add(Defect::nested_too_deep, scope.offset);
    json.null();
    return;
  }
  enum class Open : std::uint8_t { nothing, dictionary, array } open = Open::nothing;
  bool has_value = false;
  FieldReader reader(annotation);
  while (reader.next()) {
    const std::uint32_t field = reader.tag_and_type();
    const bool may_be_dictionary = !has_value && open != Open::array;
    const bool may_be_array = !has_value && open != Open::dictionary;
    if (field == bytes_field(annotation_field::dictionary) && may_be_dictionary) {
      if (open == Open::nothing) json.begin_object();
      open = Open::dictionary;
      const std::string_view entry = bytes_of(reader);
      json.key(key_of(entry, scope));
      write_json(json, entry, scope, depth + 1);
      continue;
    }
    if (field == bytes_field(annotation_field::array) && may_be_array) {
      if (open == Open::nothing) json.begin_array();
      open = Open::array;
      write_json(json, bytes_of(reader), scope, depth + 1);
      continue;
    }
    if (has_value || open != Open::nothing) {
      reader.skip();
      continue;
    }
    has_value = true;
    switch (field) {
      case varint_field(annotation_field::boolean): json.value(reader.get_uint64() != 0); break;
      case varint_field(annotation_field::unsigned_integer):
      case varint_field(annotation_field::pointer): json.value(reader.get_uint64()); break;
      case varint_field(annotation_field::integer): json.value(reader.get_int64()); break;
      case fixed64_field(annotation_field::number): write_leaf(json, reader.get_double()); break;
      case bytes_field(annotation_field::legacy_json):  // may be no JSON: as text
      case bytes_field(annotation_field::text): json.value(bytes_of(reader)); break;
      case varint_field(annotation_field::text_iid): {
        const std::uint64_t iid = reader.get_uint64();
        const StringId* const text =
            scope.interned ? scope.interned->annotation_strings.find(iid) : nullptr;
        if (!text) defects_->add(Defect::missing_interned_value, scope.offset);
        json.value(text ? (*strings_)[*text] : std::string_view());
        break;
      }
      case bytes_field(annotation_field::nested):
        write_nested(json, bytes_of(reader), scope, depth + 1);
        break;
      default: has_value = false; reader.skip();
    }
  }
  if (open == Open::dictionary) json.end_object();
  if (open == Open::array) json.end_array();
  if (open == Open::nothing && !has_value) json.null();
}

// The form before dict_entries and array_values: keys and values in lists of their own.
void AnnotationDecoder::write_nested(Json& json, std::string_view nested, Scope scope, int depth) {
  if (depth >= deepest) {
    defects_->add(Defect::nested_too_deep, scope.offset);
    json.null();
    return;
  }
  constexpr std::uint64_t dictionary = 1;
  constexpr std::uint64_t array = 2;
  std::uint64_t type = 0;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  std::vector<std::string_view> elements;
  std::variant<std::monostate, std::int64_t, double, bool, std::string_view> leaf;
  FieldReader reader(nested);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(nested_field::type): type = reader.get_uint64(); break;
      case bytes_field(nested_field::keys): keys.push_back(bytes_of(reader)); break;
      case bytes_field(nested_field::values): values.push_back(bytes_of(reader)); break;
      case bytes_field(nested_field::array): elements.push_back(bytes_of(reader)); break;
      case varint_field(nested_field::integer): leaf = reader.get_int64(); break;
      case fixed64_field(nested_field::number): leaf = reader.get_double(); break;
      case varint_field(nested_field::boolean): leaf = reader.get_uint64() != 0; break;
      case bytes_field(nested_field::text): leaf = bytes_of(reader); break;
      default: reader.skip();
    }
  }
  if (type == dictionary) {
    json.object([&] {
      for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i) {
        json.key(keys[i]);
        write_nested(json, values[i], scope, depth + 1);
      }
    });
  } else if (type == array) {
    json.array(elements, [&](auto element) { write_nested(json, element, scope, depth + 1); });
  } else {
    std::visit([&](const auto& value) { write_leaf(json, value); }, leaf);
  }
}

}  // namespace npuscope::perfetto
