// What the args of an operator trace mean, and their values. Rows of one kind share a shape, so
// keys are looked up once for each shape.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::qaic {

enum class ArgumentRole : std::uint8_t {
  other,  // stays with the span
  number,
  inference,
  core,
  op_name,
  op_kind,
  // of the op, the same in every span
  memory,
  output_size,
  attributes,
  op_shape,
  operand,
  // of the span
  pcycles,
  ucycles,
  wait_microseconds,
  port_description,
  transaction,
  // ratios of the others
  frequency,
  pcycles_per_kilobyte,
  ucycles_per_kilobyte,
};
inline constexpr std::size_t argument_roles = std::size_t(ArgumentRole::ucycles_per_kilobyte) + 1;

ArgumentRole argument_role(std::string_view key);

constexpr bool is_of_op(ArgumentRole role) {
  return role >= ArgumentRole::memory && role <= ArgumentRole::operand;
}

struct ArgumentPlan {
  static constexpr std::uint32_t nowhere = 0xffffffff;

  std::vector<ArgumentRole> roles;                  // of each place
  std::array<std::uint32_t, argument_roles> place;  // of each role; the first of the operands
  bool has_op_details = false;                      // memory, operands …
  bool has_others = false;

  bool has(ArgumentRole role) const { return place[std::size_t(role)] != nowhere; }
};
std::vector<ArgumentPlan> plan_arguments(const Arguments& arguments, const StringPool& strings);

// Those of one row. Numbers may be quoted, as vendors write them.
class ArgumentValues {
 public:
  ArgumentValues(const Arguments& arguments, std::size_t row, const StringPool& strings)
      : strings_(&strings) {
    if (arguments.empty()) return;
    row_ = arguments.row(row);
    keys_ = arguments.shapes[row_.shape()].data();
  }

  const ArgumentRow& row() const { return row_; }
  std::uint32_t shape() const { return row_.shape(); }
  Argument at(std::uint32_t place) const { return {keys_[place], row_.bits(place)}; }
  std::optional<std::int64_t> integer(std::uint32_t place) const;
  std::optional<double> number(std::uint32_t place) const;
  // The interned text; none when the value is not one.
  std::optional<StringId> text_id(std::uint32_t place) const {
    if (place == ArgumentPlan::nowhere || keys_[place].type != ArgumentType::text) {
      return std::nullopt;
    }
    return at(place).text();
  }
  // Whether it is a text, or a whole number that can be read as one.
  bool has_text(std::uint32_t place) const {
    const auto id = text_id(place);
    return id ? *id != StringId::empty : integer(place).has_value();
  }

 private:
  const StringPool* strings_;
  ArgumentRow row_;
  const ArgumentKey* keys_ = nullptr;
};

}  // namespace npuscope::qaic
