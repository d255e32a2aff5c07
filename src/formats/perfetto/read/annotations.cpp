#include "formats/perfetto/read/annotations.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/wire.hpp"

namespace npuscope::perfetto {
namespace {

constexpr int deepest = 64;

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

void add_unsigned(ArgumentList& into, StringId name, std::uint64_t value) {
  const bool fits = value <= std::uint64_t(std::numeric_limits<std::int64_t>::max());
  into.add(name, fits ? ArgumentType::integer : ArgumentType::unsigned_integer, value);
}

std::uint32_t first_bytes(std::string_view annotation) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, annotation.data(), sizeof bytes);
  return bytes;
}

// Fields whose values have one type, in numbers of up to eight bytes.
bool may_be_in_form(std::uint32_t field, ArgumentType type) {
  switch (field) {
    case fixed64_field(annotation_field::number): return type == ArgumentType::number;
    case varint_field(annotation_field::boolean): return type == ArgumentType::boolean;
    case varint_field(annotation_field::unsigned_integer):
    case varint_field(annotation_field::pointer):
    case varint_field(annotation_field::integer): return type == ArgumentType::integer;
    default: return false;
  }
}

void write_leaf(JsonWriter<std::string>& json, const auto& value) { json.value(value); }
void write_leaf(JsonWriter<std::string>& json, std::monostate) { json.null(); }
// JSON has no other numbers.
void write_leaf(JsonWriter<std::string>& json, double value) {
  if (std::isfinite(value)) return json.value(value);
  json.value(fmt::format("{}", value));
}

}  // namespace

AnnotationDecoder::Form& AnnotationDecoder::form_for(const InternedState& interned,
                                                     std::uint64_t name_iid) {
  if (interned.annotation_forms == 0) interned.annotation_forms = ++last_forms_;
  const std::uint64_t of = interned.annotation_forms;
  Form& form = forms_[of % sequences_with_forms * forms_of_sequence + name_iid % forms_of_sequence];
  if (form.tried_for != of) form.learnt_in_vain = 0;
  form.tried_for = of;
  return form;
}

void AnnotationDecoder::decode(const std::vector<std::string_view>& annotations,
                               std::uint64_t name_iid, const InternedState* interned,
                               std::uint64_t offset, ArgumentList& into) {
  if (annotations.empty()) return;
  Form* form = nullptr;
  if (interned != nullptr) {
    form = &form_for(*interned, name_iid);
    if (decode_by_form(annotations, *form, *interned, into)) {
      form->learnt_in_vain = 0;
      return;
    }
    into.clear();
  }
  for (const std::string_view annotation : annotations) {
    decode(annotation, interned, offset, into);
  }
  if (form != nullptr && form->learnt_in_vain++ < most_in_vain) {
    learn_form(annotations, *form, *interned, into);
  }
}

// False, and nothing is said of it, where an annotation is another one or not right.
bool AnnotationDecoder::decode_by_form(const std::vector<std::string_view>& annotations, Form& form,
                                       const InternedState& interned, ArgumentList& into) {
  if (form.of != interned.annotation_forms || form.begins.size() != annotations.size()) {
    return false;
  }
  into.values.resize(annotations.size());
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const std::string_view annotation = annotations[i];
    const Begin& begin = form.begins[i];
    std::uint64_t word = 0;
    const std::size_t bytes = annotation.size() - begin.size;
    if (annotation.size() <= begin.size || bytes > sizeof word) return false;
    if ((first_bytes(annotation) & begin.mask) != begin.bytes) return false;
    const char* const end = annotation.data() + annotation.size();
    std::memcpy(&word, end - sizeof word, sizeof word);
    std::uint64_t& value = into.values[i];
    if (form.keys[i].type == ArgumentType::number) {
      if (bytes != sizeof word) return false;
      value = word;
      continue;
    }
    word >>= 8 * (sizeof word - bytes);
    if (!is_varint(word, bytes)) return false;
    value = varint_of(word);
    if (form.keys[i].type == ArgumentType::boolean) value = value != 0;
    if (form.keys[i].type != ArgumentType::text) continue;
    const StringId* const text = interned.annotation_strings.find(value);
    if (text == nullptr) return false;
    value = std::uint32_t(*text);
  }
  into.keys.assign(form.keys.begin(), form.keys.end());
  into.shape = &form.shape;
  return true;
}

// None where it is not the number of a name, of one byte, and a value of one type.
std::optional<AnnotationDecoder::Begin> AnnotationDecoder::begin_of(std::string_view annotation,
                                                                    const InternedState& interned,
                                                                    const ArgumentKey& key) {
  if (annotation.size() < sizeof(Begin::bytes)) return std::nullopt;
  const std::uint32_t bytes = first_bytes(annotation);
  const std::uint32_t name = bytes >> 8 & 0xFF, field = bytes >> 16 & 0xFF;
  if ((bytes & 0xFF) != varint_field(annotation_field::name_iid) || name >= 0x80) {
    return std::nullopt;
  }
  const StringId* const known = interned.annotation_names.find(name);
  if (known == nullptr || *known != key.name) return std::nullopt;
  constexpr std::uint32_t text_iid = varint_field(annotation_field::text_iid);
  constexpr std::uint32_t text_tag = (text_iid & 0x7F) | 0x80 | text_iid >> 7 << 8;
  if (bytes >> 16 == text_tag && key.type == ArgumentType::text) return Begin{bytes, ~0u, 4};
  if (!may_be_in_form(field, key.type)) return std::nullopt;
  return Begin{bytes & 0xFF'FFFF, 0xFF'FFFF, 3};
}

void AnnotationDecoder::learn_form(const std::vector<std::string_view>& annotations, Form& form,
                                   const InternedState& interned, const ArgumentList& made) {
  form.of = 0;
  if (made.keys.size() != annotations.size()) return;
  form.begins.clear();
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const auto begin = begin_of(annotations[i], interned, made.keys[i]);
    if (!begin) return;
    form.begins.push_back(*begin);
  }
  form.keys = made.keys;
  form.shape = 0;
  form.of = interned.annotation_forms;
}

void AnnotationDecoder::decode(std::string_view annotation, const InternedState* interned,
                               std::uint64_t offset, ArgumentList& into) {
  StringId name{};
  FieldReader reader(annotation);
  // Writers put the name first; only its last value counts.
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(annotation_field::name_iid): {
        const std::uint64_t iid = reader.get_uint64();
        const StringId* const known =
            interned == nullptr ? nullptr : interned->annotation_names.find(iid);
        if (!known) defects_->add(Defect::missing_interned_value, offset);
        if (!known) return;
        name = *known;
        break;
      }
      case bytes_field(annotation_field::name): name = strings_->intern(bytes_of(reader)); break;
      default: reader.skip();
    }
  }
  decode_value(annotation, {interned, offset}, name, into);
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

std::uint32_t ArgumentTable::shape_of(const ArgumentShape& keys) {
  if (table_->shapes[last_shape_] == keys) return last_shape_;
  std::uint64_t hash = keys.size();
  for (const ArgumentKey& key : keys) {
    hash = (hash ^ (std::uint64_t(key.name) << 8 | std::uint64_t(key.type))) *
           0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: spreads what differs little
    hash ^= hash >> 32;
  }
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate) {
    if (table_->shapes[candidate->second] == keys) return last_shape_ = candidate->second;
  }
  table_->shapes.push_back(keys);
  last_shape_ = std::uint32_t(table_->shapes.size() - 1);
  by_hash_.emplace(hash, last_shape_);
  return last_shape_;
}

std::uint32_t ArgumentTable::shape_of(const ArgumentList& list) {
  const bool is_known = list.shape != nullptr && *list.shape != 0;
  const std::uint32_t shape = is_known ? *list.shape : shape_of(list.keys);
  if (list.shape != nullptr) *list.shape = shape;
  return shape;
}

void ArgumentTable::add(std::size_t row, const ArgumentList& list) {
  if (!list.empty()) table_->add(row, shape_of(list), list.values);
}

std::uint32_t ArgumentTable::keep(const ArgumentList& more) {
  kept_.push_back({no_row, shape_of(more), kept_values_.size()});
  kept_values_.insert(kept_values_.end(), more.values.begin(), more.values.end());
  return std::uint32_t(kept_.size() - 1);
}

void ArgumentTable::give(std::uint32_t kept, std::size_t row) {
  kept_[kept].row = std::uint32_t(row);
  any_given_ = true;
}

void ArgumentTable::finish(std::size_t rows) {
  if (any_given_) append_kept(rows);
  table_->resize(rows);
}

void ArgumentTable::append_kept(std::size_t rows) {
  std::erase_if(kept_, [](const Kept& kept) { return kept.row == no_row; });
  std::ranges::stable_sort(kept_, {}, &Kept::row);
  const Arguments before = std::move(*table_);
  *table_ = {};
  table_->shapes = before.shapes;
  ArgumentList list;
  auto next = kept_.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    list.clear();
    if (row < before.size()) {
      list.keys = before.shapes[before.shape(row)];
      before.read(row, list.values);
    }
    for (; next != kept_.end() && next->row == row; ++next) {
      const ArgumentShape& keys = table_->shapes[next->shape];
      for (std::size_t i = 0; i < keys.size(); ++i) {
        list.add(keys[i].name, keys[i].type, kept_values_[next->first + i]);
      }
    }
    add(row, list);
  }
  kept_.clear();
  kept_values_.clear();
}

}  // namespace npuscope::perfetto
