// What the JSON artifacts of QNN have in common: their header, the ids of ops, the bytes that ops
// move.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qnn/read/json_text.hpp"
#include "npuscope/profile/arguments.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qnn {

// The header object with which all JSON artifacts of QNN begin.

// "1.1.0", the version of the artifact (not of the header); empty when it does not say.
std::string read_header_version(JsonText& json, ondemand::value& header);
// The same of the header as text; empty when it is none.
std::string header_version_of(std::string_view json);

// The 64-bit ids of HTP ops. They are written as "0x000011ed00000012" and, in QHAS, without the
// leading zeros; the upper half is the HTP op, the lower half the QNN op ("OpId_18" is 0x12).

// Cores of an HTP in names and keys; far beyond any device.
inline constexpr std::uint32_t max_cores = 64;

std::optional<std::uint64_t> parse_id(std::string_view text);

// Bytes that an op moves, as QHAS and HTP_GRAPH name them.

inline constexpr std::int64_t missing = MeasureColumn::missing;

struct Traffic {
  static constexpr std::size_t kinds = 4;
  static constexpr std::array<std::string_view, kinds> qhas_keys{"dram_read", "dram_write",
                                                                 "vtcm_read", "vtcm_write"};
  static constexpr std::array<std::string_view, kinds> graph_keys{
      "mem_dram_read", "mem_dram_write", "mem_vtcm_read", "mem_vtcm_write"};

  std::array<std::int64_t, kinds> bytes{missing, missing, missing, missing};
};

// The arguments of a trace's events by key, found once for each shape of arguments instead of once
// for each event:
//
//   const ArgumentColumn start(events.slices.arguments, events.strings, "Start Cycle");
//   if (const auto cycle = start.integer(row)) …
class ArgumentColumn {
 public:
  ArgumentColumn(const Arguments& arguments, const StringPool& strings, std::string_view key)
      : arguments_(&arguments), any_(!arguments.empty()), place_(arguments.shapes.size(), absent) {
    const auto name = strings.find(key);
    if (!name) return;
    for (std::size_t shape = 0; shape < arguments.shapes.size(); ++shape) {
      const ArgumentShape& keys = arguments.shapes[shape];
      for (std::size_t place = 0; place < keys.size(); ++place) {
        if (keys[place].name == *name) place_[shape] = std::uint32_t(place);
      }
    }
  }

  std::optional<Argument> at(std::size_t row) const {
    if (!any_) return std::nullopt;
    const ArgumentRow of = arguments_->row(row);
    const std::uint32_t place = place_[of.shape()];
    if (place == absent) return std::nullopt;
    return Argument{arguments_->shapes[of.shape()][place], of.bits(place)};
  }

  bool has(std::size_t row) const { return any_ && place_[arguments_->shape(row)] != absent; }

  // Where rows of this shape have the key.
  std::optional<std::uint32_t> place(std::uint32_t shape) const {
    return place_[shape] == absent ? std::nullopt : std::optional(place_[shape]);
  }

  std::optional<std::int64_t> integer(std::size_t row) const {
    const auto value = at(row);
    if (!value) return std::nullopt;
    if (value->key.type == ArgumentType::integer) return value->integer();
    // Whole doubles are exact up to 2^53.
    if (value->key.type == ArgumentType::number &&
        std::abs(value->number()) <= 9007199254740992.0 &&
        value->number() == std::floor(value->number())) {
      return std::int64_t(value->number());
    }
    return std::nullopt;
  }
  std::optional<double> number(std::size_t row) const {
    const auto value = at(row);
    return value ? value->as_number() : std::nullopt;
  }
  // Empty when absent or of another type.
  StringId text(std::size_t row) const { return id(row, ArgumentType::text); }
  StringId json(std::size_t row) const { return id(row, ArgumentType::json); }

 private:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  StringId id(std::size_t row, ArgumentType type) const {
    const auto value = at(row);
    return value && value->key.type == type ? value->text() : StringId::empty;
  }

  const Arguments* arguments_;
  bool any_;
  std::vector<std::uint32_t> place_;  // by shape
};

}  // namespace npuscope::qnn
