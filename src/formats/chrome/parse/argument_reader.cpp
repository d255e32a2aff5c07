#include "formats/chrome/parse/argument_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace npuscope::chrome {

void ArgumentReader::clear() {
  shapes_.clear();
  shape_of_name_.clear();
  last_shape_ = 0;
  restart_event();
}

void ArgumentReader::restart_event() {
  expected_ = 0;
  as_expected_ = true;
  appended_ = false;
  had_duplicates_ = false;
  keys_.clear();
  bits_.clear();
}

bool ArgumentReader::read(simdjson::ondemand::value& arguments, StringId event_name) {
  restart_event();
  simdjson::ondemand::object object;
  if (arguments.get_object().get(object) == simdjson::SUCCESS) {
    expected_ = expected_shape(event_name);
    return read_object(object);
  }
  // Not an object, though it should be ("__stripped__"): kept as one argument.
  RawValue raw;
  TypedValue value;
  if (!EventValues::read_raw(arguments, raw) || !values_.type(raw, value)) return false;
  if (value.type == ArgumentType::null) return true;
  static constexpr std::size_t margin = RawStrings::margin;
  static constexpr auto name = [] {
    std::array<char, margin + 4 + margin> bytes{};
    std::ranges::copy(std::string_view("args"), bytes.begin() + margin);
    return bytes;
  }();
  append(strings_.intern({name.data() + margin, 4}, RawStrings::Kind::text).id, value);
  return true;
}

std::uint32_t ArgumentReader::expected_shape(StringId event_name) const {
  const auto name = std::uint32_t(event_name);
  const bool known = name != 0 && name < shape_of_name_.size() && shape_of_name_[name] != 0;
  return known ? shape_of_name_[name] : last_shape_;
}

void ArgumentReader::remember_for(StringId event_name) {
  last_shape_ = shape();
  const auto name = std::uint32_t(event_name);
  if (name >= shape_of_name_.size())
    shape_of_name_.resize(std::max<std::size_t>(strings_.size(), name + 1));
  shape_of_name_[name] = last_shape_;
}

bool ArgumentReader::read_object(simdjson::ondemand::object object) {
  std::size_t place = 0;
  for (auto each : object) {
    simdjson::ondemand::field field;
    if (std::move(each).get(field)) return false;
    const char* const key = reinterpret_cast<const char*>(field.key().raw());
    StringId name = expected_key(key, place);
    if (name == StringId::empty) name = strings_.intern(key_text(key), RawStrings::Kind::text).id;
    RawValue raw;
    TypedValue value;
    if (!EventValues::read_raw(field.value(), raw)) return false;
    if (!type(raw, value)) return false;
    const ArgumentShape& expected = shapes_[expected_];
    if (as_expected_ &&
        (place >= expected.size() || expected[place] != ArgumentKey{name, value.type})) {
      leave_expected(place);
    }
    if (!as_expected_) keys_.push_back({name, value.type});
    bits_.push_back(value.bits);
    ++place;
  }
  if (as_expected_ && place < shapes_[expected_].size()) leave_expected(place);
  if (!as_expected_) remove_duplicates();
  return true;
}

void ArgumentReader::begin_formed(const std::optional<std::uint32_t>& shape) {
  restart_event();
  expected_ = shape.value_or(0);
  as_expected_ = shape.has_value();
}

std::optional<std::uint32_t> ArgumentReader::shape_of_read() {
  return appended_ ? std::nullopt : std::optional(shape());
}

// The expected key at this place if that is what stands there, else the empty one.
StringId ArgumentReader::expected_key(const char* key, std::size_t place) const {
  const ArgumentShape& expected = shapes_[expected_];
  if (place >= expected.size()) return StringId::empty;
  const std::string_view raw = strings_.raw(expected[place].name);
  return std::strncmp(key, raw.data(), raw.size()) == 0 && key[raw.size()] == '"'
             ? expected[place].name
             : StringId::empty;
}

void ArgumentReader::leave_expected(std::size_t place) {
  const ArgumentShape& expected = shapes_[expected_];
  keys_.assign(expected.begin(), expected.begin() + std::ptrdiff_t(place));
  as_expected_ = false;
}

// The last of each key stays, where the first stood.
void ArgumentReader::remove_duplicates() {
  std::size_t kept = 0;
  places_.clear();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::size_t place = place_of(keys_[i].name, kept);
    had_duplicates_ = had_duplicates_ || place < kept;
    keys_[place] = keys_[i];
    bits_[place] = bits_[i];
    if (place == kept) ++kept;
  }
  keys_.resize(kept);
  bits_.resize(kept);
}

// Where a key stands among the first `count`; `count` when it does not.
std::size_t ArgumentReader::place_of(StringId name, std::size_t count) {
  constexpr std::size_t few = 32;
  if (keys_.size() > few) return places_.try_emplace(std::uint32_t(name), count).first->second;
  std::size_t place = 0;
  while (place < count && keys_[place].name != name) ++place;
  return place;
}

void ArgumentReader::append(StringId key, TypedValue value) {
  if (as_expected_) leave_expected(bits_.size());
  appended_ = true;
  keys_.push_back({key, value.type});
  bits_.push_back(value.bits);
}

std::uint32_t ArgumentReader::shape() {
  if (!as_expected_) {
    expected_ = shapes_.intern(keys_);
    as_expected_ = true;
  }
  return expected_;
}

std::span<const ArgumentKey> ArgumentReader::keys() { return shapes_[shape()]; }

}  // namespace npuscope::chrome
