#include "formats/perfetto/read/annotation_forms.hpp"

#include <algorithm>
#include <cstring>

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {

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
      const ArgumentRow values = before.row(row);
      for (std::size_t i = 0; const ArgumentKey& key : before.shapes[values.shape()]) {
        list.add(key.name, key.type, values.bits(i++));
      }
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

namespace {

constexpr std::uint32_t tag_of_annotation = bytes_field(event_field::debug_annotations);
// Of an annotation: its tag, its length, the tag and the number of its name, the tag of the value.
constexpr std::size_t bytes_before_value = 5;
constexpr std::size_t fewest_bytes = bytes_before_value + 1;
constexpr std::uint64_t mask_before_value = 0xFF'FFFF'80FF;  // of a length of one byte the size

std::uint64_t first_bytes(const char* annotation) {
  std::uint32_t bytes = 0;
  std::uint16_t more = 0;
  std::memcpy(&bytes, annotation, sizeof bytes);
  std::memcpy(&more, annotation + sizeof bytes, sizeof more);
  return bytes | std::uint64_t{more} << 32;
}
static_assert(fewest_bytes == sizeof(std::uint32_t) + sizeof(std::uint16_t));

}  // namespace

void AnnotationForms::number_forms_of(const InternedState& interned) {
  if (forms_.empty()) forms_.resize(sequences_with_forms * forms_of_sequence);
  interned.annotation_forms = ++last_forms_;
}

bool AnnotationForms::decode(std::string_view annotations, std::uint64_t name_iid,
                             const InternedState& interned, ArgumentList& into) {
  Form& form = form_for(interned, name_iid);
  if (form.of != interned.annotation_forms) return false;
  const char* at = annotations.data();
  const char* const end = at + annotations.size();
  if (into.values.size() != form.begins.size()) into.values.resize(form.begins.size());
  std::uint64_t* value = into.values.data();
  for (const Begin& begin : form.begins) {
    if (std::size_t(end - at) < fewest_bytes) return false;
    const std::uint64_t head = first_bytes(at);
    if ((head & begin.mask) != begin.bytes) return false;
    const char* const value_begin = at + begin.size;
    at += 2 + (head >> 8 & 0x7F);
    const auto bytes = std::size_t(at - value_begin);
    if (at > end || bytes - 1 >= sizeof(std::uint64_t)) return false;
    std::uint64_t word = std::uint8_t(at[-1]);
    if (bytes > 1) {
      std::memcpy(&word, at - sizeof word, sizeof word);
      if (begin.value != Value::number) {
        word >>= 8 * (sizeof word - bytes);
        if (!is_varint(word, bytes)) return false;
        word = varint_of(word);
      }
    } else if (word >= 0x80) {
      return false;
    }
    switch (begin.value) {
      case Value::integer: break;
      case Value::boolean: word = word != 0; break;
      case Value::number:
        if (bytes != sizeof word) return false;
        break;
      case Value::text: {
        const StringId* const text = interned.annotation_strings.find(word);
        if (text == nullptr) return false;
        word = std::uint32_t(*text);
      }
    }
    *value++ = word;
  }
  if (at != end) return false;
  into.borrow(form.keys, form.shape);
  form.learnt_in_vain = 0;
  return true;
}

// None where it is not the number of a name, of one byte, and a value of one type, in up to eight
// bytes.
std::optional<AnnotationForms::Begin> AnnotationForms::begin_of(std::string_view annotation,
                                                                const InternedState& interned,
                                                                const ArgumentKey& key) {
  if (annotation.size() < fewest_bytes) return std::nullopt;
  const std::uint64_t bytes = first_bytes(annotation.data());
  const auto tag_of_name = std::uint32_t(bytes >> 16 & 0xFF);
  const std::uint64_t name = bytes >> 24 & 0xFF;
  const auto field = std::uint32_t(bytes >> 32 & 0xFF);
  if ((bytes & 0x80FF) != tag_of_annotation) return std::nullopt;
  if (tag_of_name != varint_field(annotation_field::name_iid) || name >= 0x80) return std::nullopt;
  const StringId* const known = interned.annotation_names.find(name);
  if (known == nullptr || *known != key.name) return std::nullopt;
  constexpr std::uint32_t text_iid = varint_field(annotation_field::text_iid);
  constexpr std::uint64_t text_tag = (text_iid & 0x7F) | 0x80 | text_iid >> 7 << 8;
  Begin begin{bytes & mask_before_value, mask_before_value, bytes_before_value, Value::integer};
  switch (key.type) {
    case ArgumentType::number:
      begin.value = Value::number;
      if (field != fixed64_field(annotation_field::number)) return std::nullopt;
      return begin;
    case ArgumentType::boolean:
      begin.value = Value::boolean;
      if (field != varint_field(annotation_field::boolean)) return std::nullopt;
      return begin;
    case ArgumentType::integer:
      if (field != varint_field(annotation_field::unsigned_integer) &&
          field != varint_field(annotation_field::pointer) &&
          field != varint_field(annotation_field::integer)) {
        return std::nullopt;
      }
      return begin;
    case ArgumentType::text:
      if (bytes >> 32 != text_tag) return std::nullopt;
      begin.mask |= std::uint64_t{0xFF} << 8 * bytes_before_value;
      begin.bytes = bytes & begin.mask;
      begin.size = bytes_before_value + 1;
      begin.value = Value::text;
      return begin;
    default: return std::nullopt;
  }
}

void AnnotationForms::learn(std::string_view annotations, std::uint64_t name_iid,
                            const InternedState& interned, const ArgumentList& made) {
  Form& form = form_for(interned, name_iid);
  if (form.tried_for != interned.annotation_forms) form.learnt_in_vain = 0;
  form.tried_for = interned.annotation_forms;
  if (form.learnt_in_vain++ >= most_in_vain) return;
  form.of = 0;
  form.begins.clear();
  FieldReader reader(annotations);
  for (const ArgumentKey& key : made.keys()) {
    const std::string_view rest = annotations.substr(annotations.size() - reader.bytes_left());
    const auto begin = begin_of(rest, interned, key);
    if (!begin) return;
    form.begins.push_back(*begin);
    reader.next();
    reader.skip();
  }
  if (!reader.at_end()) return;
  form.keys = made.keys();
  form.shape = 0;
  form.of = interned.annotation_forms;
}

}  // namespace npuscope::perfetto
