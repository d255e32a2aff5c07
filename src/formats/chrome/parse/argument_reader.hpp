// Reads the "args" of events. Events of one name mostly have the same keys in the same order and
// of the same types, so each is compared with the last of its name, key by key, without looking
// anything up.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "formats/chrome/numbering.hpp"
#include "formats/chrome/parse/event_values.hpp"

namespace npuscope::chrome {

class ArgumentReader {
 public:
  explicit ArgumentReader(RawStrings& strings) : strings_(strings), values_(strings) {}

  void clear();  // for another chunk
  void take_quoted_numbers(bool take) { quoted_numbers_ = take; }
  bool takes_quoted_numbers() const { return quoted_numbers_; }
  void restart_event();  // without arguments
  // False when the value is broken. What was read before is replaced.
  bool read(simdjson::ondemand::value& arguments, StringId event_name);
  // The same of an event whose keys and, if they are as the last time, shape are known; then its
  // values in their order.
  void begin_formed(const std::optional<std::uint32_t>& shape);
  void add_formed(TypedValue value, ArgumentKey& key, std::optional<std::uint32_t>& shape);
  // False when the value is broken.
  bool type(const RawValue& raw, TypedValue& value) {
    return (quoted_numbers_ && EventValues::quoted_number(raw, value)) || values_.type(raw, value);
  }
  // Of what was read; none once something was appended.
  std::optional<std::uint32_t> shape_of_read();
  // One more, behind those.
  void append(StringId key, TypedValue value);
  void remember_for(StringId event_name);

  std::uint32_t shape();
  const std::vector<std::uint64_t>& bits() const { return bits_; }
  const std::vector<ArgumentShape>& shapes() const { return shapes_.shapes(); }
  std::vector<ArgumentShape> take_shapes() { return shapes_.take_shapes(); }
  std::span<const ArgumentKey> keys();
  bool had_duplicates() const { return had_duplicates_; }

 private:
  bool read_object(simdjson::ondemand::object object);
  StringId expected_key(const char* key, std::size_t place) const;
  void leave_expected(std::size_t place);
  void remove_duplicates();
  std::size_t place_of(StringId name, std::size_t count);
  std::uint32_t expected_shape(StringId event_name) const;

  RawStrings& strings_;
  EventValues values_;
  ShapeTable shapes_;
  std::vector<std::uint32_t> shape_of_name_;  // the last one; by name id
  std::uint32_t last_shape_ = 0;
  std::uint32_t expected_ = 0;     // a shape
  bool as_expected_ = true;        // so far the keys and types are the first of that shape
  std::vector<ArgumentKey> keys_;  // those read, once not as expected
  std::vector<std::uint64_t> bits_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  // of the keys, where they are many
  bool appended_ = false;
  bool had_duplicates_ = false;
  bool quoted_numbers_ = false;
};

// What nearly every argument of every event goes through.
inline void ArgumentReader::add_formed(TypedValue value, ArgumentKey& key,
                                       std::optional<std::uint32_t>& shape) {
  if (value.type != key.type) [[unlikely]] {
    if (as_expected_) leave_expected(bits_.size());
    key.type = value.type;
    shape.reset();
  }
  if (!as_expected_) [[unlikely]]
    keys_.push_back(key);
  bits_.push_back(value.bits);
}

}  // namespace npuscope::chrome
