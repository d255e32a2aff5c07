// Values of an event as simdjson hands them out, read into the chunk's own terms.
#pragma once

#include <simdjson.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/chrome/parse/decimal.hpp"
#include "formats/chrome/parse/raw_strings.hpp"
#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/text/json_checker.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// A value that is not looked into yet. It stands in a TextBuffer, so that bytes after it can be
// read.
struct RawValue {
  enum class Kind : std::uint8_t { missing, text, scalar, container };
  Kind kind = Kind::missing;
  std::string_view raw;  // of a text: without its quotes
  Decimal decimal = {};  // of a scalar: none where it has not been read, or is none

  bool is_null() const { return kind == Kind::scalar && raw == "null"; }
  // Of a text too.
  Decimal as_decimal() const { return decimal.any() ? decimal : decimal_in_place(raw); }
};

struct TypedValue {
  ArgumentType type = ArgumentType::null;
  std::uint64_t bits = 0;
  bool operator==(const TypedValue&) const = default;
};

class EventValues {
 public:
  explicit EventValues(RawStrings& strings) : strings_(strings) {}

  // False when the value is broken.
  static bool read_raw(simdjson::ondemand::value& value, RawValue& raw);
  bool type(const RawValue& value, TypedValue& typed);
  // Whether a text is a plain decimal number of at most 15 digits, such as "2606" or "1450.248350";
  // then it is typed as that.
  static bool quoted_number(const RawValue& value, TypedValue& typed);
  // Anything as text: a number as it stands, null and nothing as the empty text.
  std::optional<StringId> text(const RawValue& value);

 private:
  static bool read_container(simdjson::ondemand::value& value, RawValue& raw);
  bool type_scalar(const RawValue& value, TypedValue& typed);
  bool type_unusual(std::string_view raw, TypedValue& typed);
  std::optional<StringId> intern_json(std::string_view raw);

  RawStrings& strings_;
  JsonChecker checker_;
};

// The key without its quotes. `key` stands in quotes.
std::string_view key_text(const char* key);

// What every value of every event goes through.
inline bool EventValues::read_raw(simdjson::ondemand::value& value, RawValue& raw) {
  const std::string_view token = value.raw_json_token();
  const char first = token[0];
  if (first == '{' || first == '[') return read_container(value, raw);
  const char* const begin = token.data();
  const char* end = begin + token.size();
  while (end != begin && is_json_space(end[-1])) --end;
  if (first != '"') {
    raw = {RawValue::Kind::scalar, {begin, std::size_t(end - begin)}};
    return end != begin;
  }
  simdjson::ondemand::raw_json_string ignored;
  if (value.get_raw_json_string().get(ignored)) return false;
  if (end - begin < 2 || end[-1] != '"') return false;
  raw = {RawValue::Kind::text, {begin + 1, std::size_t(end - begin) - 2}};
  return true;
}

// An integer, or a double of few enough digits; false where it is neither.
inline bool type_decimal(const Decimal& decimal, TypedValue& typed) {
  if (!decimal.any() || decimal.is_padded) return false;
  if (decimal.after == 0) {
    typed = {ArgumentType::integer, std::uint64_t(decimal.integer())};
    return true;
  }
  if (decimal.before + decimal.after > Decimal::max_exact_digits) return false;
  const double size = double(decimal.digits) / double(powers_of_ten[decimal.after]);
  typed = {ArgumentType::number, std::bit_cast<std::uint64_t>(decimal.is_negative ? -size : size)};
  return true;
}

inline bool EventValues::type_scalar(const RawValue& value, TypedValue& typed) {
  return type_decimal(value.as_decimal(), typed) || type_unusual(value.raw, typed);
}

inline bool EventValues::type(const RawValue& value, TypedValue& typed) {
  if (value.kind == RawValue::Kind::text) {
    typed.type = ArgumentType::text;
    typed.bits = std::uint64_t(strings_.intern(value.raw, RawStrings::Kind::text).id);
    return true;
  }
  if (value.kind == RawValue::Kind::scalar) return type_scalar(value, typed);
  typed = {};
  if (value.kind == RawValue::Kind::missing) return true;
  const auto id = intern_json(value.raw);
  if (id) typed = {ArgumentType::json, std::uint64_t(*id)};
  return id.has_value();
}

}  // namespace npuscope::chrome
