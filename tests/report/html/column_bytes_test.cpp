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

Values read_planes(const ColumnBytes::Head& head, const std::string& bytes) {
  Values values(head.count);
  for (std::size_t i = 0; i < head.count; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t plane = 0; plane * head.count < head.bytes; ++plane) {
      bits |= std::uint64_t(std::uint8_t(bytes.at(head.offset + plane * head.count + i)))
              << (8 * plane);
    }
    values[i] = (bits & 1) != 0 ? -std::int64_t(bits >> 1) - 1 : std::int64_t(bits >> 1);
  }
  return values;
}

TEST(ColumnBytes, TimesComeBackAndSpansInARowTakeAByteForTheirStart) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const Values& durations : {Values{}, Values{0, 0}, Values{5, 300, 7, 70'000},
                                  Values{1, Limits::max(), Limits::min(), -1}}) {
    Values starts;
    std::uint64_t time = 1'000'000'000'000;
    for (const std::int64_t duration : durations) {
      starts.push_back(std::int64_t(time));
      time += std::uint64_t(duration);
    }
    ColumnBytes columns(0);
    columns.add_times("span", starts, durations);
    const auto &duration = columns.heads()[0], &start = columns.heads()[1];
    EXPECT_EQ(duration.name, "span.duration");
    EXPECT_STREQ(duration.encoding, "planes");
    EXPECT_EQ(read_planes(duration, columns.bytes()), durations);
    EXPECT_EQ(start.after, "span.duration");
    // Without the durations between them they are differences of which all but the first are 0.
    EXPECT_EQ(start.bytes, starts.empty() ? 0 : 6 + starts.size() - 1);
  }
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
