// Values of an event as simdjson hands them out, read into the chunk's own terms.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/chrome/json_checker.hpp"
#include "formats/chrome/raw_strings.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// A value that is not looked into yet.
struct RawValue {
  enum class Kind : std::uint8_t { missing, text, scalar, container };
  Kind kind = Kind::missing;
  std::string_view raw;  // of a text: without its quotes

  bool is_null() const { return kind == Kind::scalar && raw == "null"; }
};

struct TypedValue {
  ArgumentType type = ArgumentType::null;
  std::uint64_t bits = 0;
};

class EventValues {
 public:
  explicit EventValues(RawStrings& strings) : strings_(strings) {}

  // Nothing when the value is broken.
  std::optional<RawValue> read_raw(simdjson::ondemand::value& value);
  std::optional<TypedValue> read_typed(simdjson::ondemand::value& value);
  std::optional<TypedValue> type(const RawValue& value);
  // Anything as text: a number as it stands, null and nothing as the empty text.
  std::optional<StringId> text(const RawValue& value);

 private:
  std::optional<TypedValue> type_scalar(std::string_view raw);
  std::optional<StringId> intern_json(std::string_view raw);

  RawStrings& strings_;
  JsonChecker checker_;
};

// The key without its quotes. `key` stands in quotes.
std::string_view key_text(const char* key);

}  // namespace npuscope::chrome
