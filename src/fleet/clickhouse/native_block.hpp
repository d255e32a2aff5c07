// Rows of a table as ClickHouse's native format has them: column by column, in compressed frames.
//
//   insert_body(op_runs(), rows, {"take", takes})    // the body of INSERT … FORMAT Native
//
// A body is one block, which a server takes as a whole or not at all.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fleet/schema.hpp"

namespace npuscope::fleet {

template <class T>
struct ClickHouseType {
  static constexpr const char* name = std::is_same_v<T, bool>       ? "UInt8"
                                      : std::is_floating_point_v<T> ? "Float64"
                                      : std::is_integral_v<T>       ? "Int64"
                                                                    : "String";
  static std::string full() { return name; }
};
template <class T>
struct ClickHouseType<std::optional<T>> {
  static std::string full() { return fmt::format("Nullable({})", ClickHouseType<T>::name); }
};

// Bytes that are not compressed yet.
class NativeBlock {
 public:
  NativeBlock(std::size_t columns, std::size_t rows) : rows_(rows) {
    length(columns);
    length(rows);
  }

  void column(std::string_view name, std::string_view type) {
    text(name);
    text(type);
  }
  // The values of a column, in the order of the rows.
  template <class Of>
  void values(const Of& of) {
    using T = std::remove_cvref_t<decltype(of(0))>;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
      for (std::size_t i = 0; i < rows_; ++i) text(of(i));
    } else if constexpr (requires { of(0).has_value(); }) {
      using Inner = typename T::value_type;
      fixed<std::uint8_t>([&](std::size_t i) { return !of(i).has_value(); });
      if constexpr (std::is_same_v<Inner, std::string>) {
        for (std::size_t i = 0; i < rows_; ++i) {
          const auto& value = of(i);
          text(value ? std::string_view(*value) : std::string_view());
        }
      } else {
        fixed<Inner>([&](std::size_t i) { return of(i).value_or(Inner{}); });
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      fixed<std::uint8_t>([&](std::size_t i) { return std::uint8_t(of(i)); });
    } else {
      fixed<T>(of);
    }
  }

  std::string_view bytes() const { return bytes_; }

 private:
  void length(std::size_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
    bytes_ += char(value);
  }
  void text(std::string_view value) {
    length(value.size());
    bytes_ += value;
  }
  template <class T, class Of>
  void fixed(const Of& of) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + rows_ * sizeof(T));
    char* place = bytes_.data() + begin;
    for (std::size_t i = 0; i < rows_; ++i, place += sizeof(T)) {
      const T value = of(i);
      std::memcpy(place, &value, sizeof(T));
    }
  }

  std::size_t rows_;
  std::string bytes_;
};

// In frames of zstd, each of at most a mebibyte before.
std::string compressed_frames(std::string_view bytes);

// A column of whole numbers that is not of the schema.
struct HiddenColumn {
  const char* name;
  std::span<const Id> values;  // one a row
};

template <class AnyTable, class Row>
std::string insert_body(const AnyTable& table, std::span<const Row* const> rows,
                        std::span<const HiddenColumn> hidden) {
  std::size_t columns = hidden.size();
  each_column(table, [&](const auto&) { ++columns; });
  NativeBlock block(columns, rows.size());
  each_column(table, [&]<class T>(const Column<Row, T>& column) {
    block.column(column.name, ClickHouseType<T>::full());
    block.values([&](std::size_t i) -> const T& { return rows[i]->*column.member; });
  });
  for (const HiddenColumn& column : hidden) {
    block.column(column.name, "Int64");
    block.values([&](std::size_t i) { return column.values[i]; });
  }
  return compressed_frames(block.bytes());
}

}  // namespace npuscope::fleet
