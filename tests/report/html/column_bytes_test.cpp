// Columns of a page, read back by the definition of LEB128 and zigzag.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "report/html/columns.hpp"

namespace npuscope::report::column_bytes_test {
namespace {

using Values = std::vector<std::int64_t>;

Values read(const ColumnBytes::Head& head, const std::string& bytes, std::size_t first) {
  std::size_t at = head.offset - first;
  const std::size_t end = at + head.bytes;
  Values values;
  std::int64_t before = 0;
  while (at < end) {
    std::uint64_t bits = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = std::uint8_t(bytes.at(at++));
      bits |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    std::int64_t value = (bits & 1) != 0 ? -std::int64_t(bits >> 1) - 1 : std::int64_t(bits >> 1);
    if (head.delta) value = std::int64_t(std::uint64_t(value) + std::uint64_t(before));
    values.push_back(before = value);
  }
  EXPECT_EQ(values.size(), head.count);
  return values;
}

TEST(ColumnBytes, EveryWholeNumberComesBack) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Values values{0, 1, -1, 63, 64, -64, -65, 1 << 20, Limits::max(), Limits::min(), 0, 5};
  ColumnBytes columns(1000);
  columns.add("plain", values);
  columns.add("differences", values, ColumnBytes::Delta::yes);
  columns.add("none", {});
  EXPECT_EQ(read(columns.heads()[0], columns.bytes(), 1000), values);
  EXPECT_EQ(read(columns.heads()[1], columns.bytes(), 1000), values);
  EXPECT_EQ(read(columns.heads()[2], columns.bytes(), 1000), Values());
  EXPECT_EQ(columns.heads()[1].name, "differences");
}

TEST(ColumnBytes, NumbersAreTheirEightBytes) {
  const std::vector<double> values{0.5, -3e300, 7};
  ColumnBytes columns(0);
  columns.add("before", Values{1});
  columns.add_numbers("value", values);
  const auto& head = columns.heads()[1];
  EXPECT_STREQ(head.encoding, "f64");
  ASSERT_EQ(head.bytes, 24u);
  std::vector<double> back(3);
  std::memcpy(back.data(), columns.bytes().data() + head.offset, 24);
  EXPECT_EQ(back, values);
}

TEST(ColumnBytes, SmallDifferencesTakeAByteEach) {
  Values starts;
  for (std::int64_t i = 0; i < 100; ++i) starts.push_back(1'000'000'000'000 + 60 * i);
  ColumnBytes columns(0);
  columns.add("span.start", starts, ColumnBytes::Delta::yes);
  EXPECT_LE(columns.bytes().size(), 106u);
}

}  // namespace
}  // namespace npuscope::report::column_bytes_test
