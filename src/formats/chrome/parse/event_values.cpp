#include "formats/chrome/parse/event_values.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {
namespace {

using simdjson::ondemand::value;

std::string_view without_trailing_space(std::string_view token) {
  while (!token.empty() && is_json_space(token.back())) token.remove_suffix(1);
  return token;
}

TypedValue number(double value) {
  return {ArgumentType::number, std::bit_cast<std::uint64_t>(value)};
}

// `raw` is a sound number of JSON. Beyond the range of a double it is infinite or zero, as Python
// reads it.
double floating(std::string_view raw) {
  if (const auto value = parse_number<double>(raw)) return *value;
  const std::size_t exponent = raw.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos && raw[exponent + 1] == '-';
  return std::copysign(tiny ? 0 : std::numeric_limits<double>::infinity(),
                       raw[0] == '-' ? -1.0 : 1.0);
}

// NaN, Infinity and numbers, which may stand for a value where one begins; empty: another does.
std::string_view number_at(std::string_view text) {
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
    if (text.starts_with(word)) return text.substr(0, word.size());
  }
  if (text[0] != '-' && !is_digit(text[0])) return {};
  return text.substr(0, text.find_first_not_of("+-.0123456789eE"));
}

// JSON has no NaN or Infinity; Python writes them. A text with a number beyond a double is refused
// by many readers.
std::string with_null_for_not_finite(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size();) {
    const std::string_view number = in_string ? std::string_view() : number_at(json.substr(i));
    if (!number.empty()) {
      out += is_digit(number.back()) && std::isfinite(floating(number)) ? number : "null";
      i += number.size();
      continue;
    }
    const bool escape = in_string && json[i] == '\\';
    if (json[i] == '"') in_string = !in_string;
    out.append(json, i, escape ? 2 : 1);
    i += escape ? 2 : 1;
  }
  return out;
}

// Of a scalar that is sound.
TypedValue complete_scalar(std::string_view raw) {
  switch (raw[0]) {
    case 't': return {ArgumentType::boolean, 1};
    case 'f': return {ArgumentType::boolean, 0};
    case 'n': return {ArgumentType::null, 0};
    case 'N': return number(std::numeric_limits<double>::quiet_NaN());
    case 'I': return number(std::numeric_limits<double>::infinity());
    default: break;
  }
  if (raw == "-Infinity") return number(-std::numeric_limits<double>::infinity());
  if (raw.find_first_of(".eE") != std::string_view::npos) return number(floating(raw));
  if (const auto integer = parse_number<std::int64_t>(raw)) {
    return {ArgumentType::integer, std::uint64_t(*integer)};
  }
  if (const auto integer = parse_number<std::uint64_t>(raw)) {
    return {ArgumentType::unsigned_integer, *integer};
  }
  return number(floating(raw));
}

}  // namespace

std::string_view key_text(const char* key) {
  const char* end = key;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {key, std::size_t(end - key)};
}

bool EventValues::quoted_number(const RawValue& value, TypedValue& typed) {
  const bool may_be = value.kind == RawValue::Kind::text && !value.raw.empty() &&
                      value.raw[0] >= '0' && value.raw[0] <= '9';
  if (!may_be) return false;
  const Decimal decimal = value.as_decimal();
  return decimal.before + decimal.after <= Decimal::max_exact_digits && !decimal.is_negative &&
         type_decimal(decimal, typed);
}

bool EventValues::read_container(value& value, RawValue& raw) {
  raw.kind = RawValue::Kind::container;
  if (value.raw_json_token()[0] == '{') {
    simdjson::ondemand::object object;
    return !value.get_object().get(object) && !object.raw_json().get(raw.raw);
  }
  simdjson::ondemand::array array;
  return !value.get_array().get(array) && !array.raw_json().get(raw.raw);
}

// Of a scalar that is no decimal, or one of too many digits.
bool EventValues::type_unusual(std::string_view raw, TypedValue& typed) {
  checker_.restart();
  const bool whole = checker_.take(raw) == raw.size();
  checker_.finish();
  if (!whole || checker_.state() != JsonChecker::State::complete) return false;
  typed = complete_scalar(raw);
  return true;
}

std::optional<StringId> EventValues::text(const RawValue& value) {
  switch (value.kind) {
    case RawValue::Kind::missing: return StringId::empty;
    case RawValue::Kind::text: return strings_.intern(value.raw, RawStrings::Kind::text).id;
    case RawValue::Kind::scalar:
      if (TypedValue ignored; !type_scalar(value, ignored)) return std::nullopt;
      if (value.is_null()) return StringId::empty;
      return strings_.intern(value.raw, RawStrings::Kind::text).id;
    case RawValue::Kind::container: return intern_json(value.raw);
  }
  return std::nullopt;
}

// simdjson has only counted its brackets so far.
std::optional<StringId> EventValues::intern_json(std::string_view raw) {
  raw = without_trailing_space(raw);
  const auto interned = strings_.intern(raw, RawStrings::Kind::json);
  if (!interned.is_new) return interned.id;
  checker_.restart();
  if (checker_.take(raw) != raw.size() || checker_.state() != JsonChecker::State::complete) {
    return std::nullopt;
  }
  if (checker_.met_unusual_number()) {
    strings_.replace(interned.id, with_null_for_not_finite(raw));
  }
  return interned.id;
}

}  // namespace npuscope::chrome
