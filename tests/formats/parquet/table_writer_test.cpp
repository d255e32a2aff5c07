#include "formats/parquet/table_writer.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "formats/parquet/column_values.hpp"
#include "formats/parquet/parquet_reader.hpp"

namespace npuscope::parquet {
namespace {

namespace table_writer_test {

using testing::Cell;
using Row = std::vector<Value>;

std::string file_of(const std::vector<Column>& columns, const std::vector<Row>& rows,
                    const Properties& properties = {}) {
  std::string file;
  TableWriter writer(columns, properties, [&](std::string_view bytes) { file += bytes; });
  for (const Row& row : rows) {
    const Status written = writer.row(row);
    EXPECT_TRUE(written) << written.error().message;
  }
  EXPECT_TRUE(writer.finish());
  return file;
}

template <class Number>
std::string bytes_of(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

Cell cell_of(const Value& value, Type type) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return type == Type::real ? bytes_of(double(*integer)) : bytes_of(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) return bytes_of(*real);
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  return std::nullopt;
}

void expect_read_back(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  const std::string file = file_of(columns, rows);
  testing::Read read = testing::FileReader(file).read();
  EXPECT_EQ(read.footer[3].number, std::int64_t(rows.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::vector<Cell> expected;
    for (const Row& row : rows) expected.push_back(cell_of(row[i], columns[i].type));
    EXPECT_TRUE(read.columns[columns[i].name] == expected) << columns[i].name;
  }
}

TEST(ParquetRunLengths, RandomNumbersAreReadBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    const int bits = 1 + int(random() % 32);
    std::vector<std::uint32_t> values;
    const std::size_t size = random() % 100;
    while (values.size() < size) {
      const auto value = std::uint32_t(random()) >> (32 - bits);
      values.insert(values.end(), random() % 3 == 0 ? random() % 40 : 1, value);
    }
    std::string bytes;
    append_run_lengths(bytes, values, bits);
    ASSERT_EQ(testing::read_run_lengths(bytes, bits, values.size()), values) << "round " << round;
  }
}

TEST(ParquetRunLengths, EqualNumbersTakeTwoBytes) {
  std::string bytes;
  append_run_lengths(bytes, std::vector<std::uint32_t>(50, 1), 1);
  EXPECT_EQ(bytes, std::string("\x64\x01", 2));  // 50 times, in the lowest bit: a run
}

TEST(ParquetTableWriter, ValuesAtTheEndsOfTheirTypesAreReadBack) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const double infinity = std::numeric_limits<double>::infinity();
  using namespace std::string_view_literals;
  expect_read_back({{"i", Type::integer, true}, {"r", Type::real, true}, {"t", Type::text, true}},
                   {{least, -infinity, ""sv},
                    {most, infinity, "\0ü"sv},
                    {{}, {}, {}},
                    {std::int64_t{0}, -0.0, "x"sv},
                    {std::int64_t{-1}, std::nan(""), "x"sv},
                    {std::int64_t{-1}, std::int64_t{3}, "x"sv}});
}

TEST(ParquetTableWriter, ATableWithoutRowsIsAFile) {
  const std::string file = file_of({{"a", Type::integer}}, {}, {{"key", "value"}});
  const testing::Read read = testing::FileReader(file).read();
  EXPECT_EQ(read.footer[3].number, 0);
  EXPECT_TRUE(read.footer[4].list.empty());
  EXPECT_EQ(read.footer[5].list.at(0)[1].text, "key");
  EXPECT_EQ(read.footer[5].list.at(0)[2].text, "value");
}

// Columns of every type, of few and of many different values, with and without NULL, over several
// pages and groups.
TEST(ParquetTableWriter, RandomTablesAreReadBack) {
  std::mt19937_64 random(11);
  for (const std::size_t size : {1, 7, 300, 20'001, 260'000}) {
    std::vector<Column> columns;
    for (const Type type : {Type::integer, Type::real, Type::text}) {
      for (const bool is_nullable : {false, true}) {
        for (const char* few : {"few", "many"}) {
          columns.push_back(
              {std::to_string(int(type)) + few + (is_nullable ? "n" : ""), type, is_nullable});
        }
      }
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 1'000'000; i += 7) texts.push_back("text " + std::to_string(i * i));
    std::vector<Row> rows(size);
    for (Row& row : rows) {
      for (const Column& column : columns) {
        const bool is_few = column.name.find("few") != std::string::npos;
        const std::uint64_t number = random() % (is_few ? 5 : 100'000);
        if (column.is_nullable && random() % 4 == 0)
          row.emplace_back();
        else if (column.type == Type::integer)
          row.emplace_back(std::int64_t(number) - 3);
        else if (column.type == Type::real)
          row.emplace_back(double(number) / 3);
        else
          row.emplace_back(std::string_view(texts[number]));
      }
    }
    expect_read_back(columns, rows);
  }
}

TEST(ParquetTableWriter, FewDifferentValuesStandInADictionary) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 100'000; ++i) rows.push_back({i % 3, i * 7'919});
  const std::string file = file_of({{"few", Type::integer}, {"many", Type::integer}}, rows);
  const testing::Read read = testing::FileReader(file).read();
  EXPECT_TRUE(read.has_dictionary.at("few"));
  EXPECT_FALSE(read.has_dictionary.at("many"));
}

TEST(ParquetTableWriter, ChunksSayTheirBounds) {
  using namespace std::string_view_literals;
  const std::string file = file_of(
      {{"i", Type::integer, true}, {"r", Type::real}, {"t", Type::text}, {"nan", Type::real}},
      {{std::int64_t{5}, 0.0, "b"sv, 1.0},
       {std::int64_t{-2}, -3.5, "a"sv, std::nan("")},
       {{}, -1.0, "ä"sv, 2.0}});
  const testing::Read read = testing::FileReader(file).read();
  const auto& chunks = read.footer[4].list.at(0)[1].list;
  const auto statistics = [&](std::size_t column) { return chunks.at(column)[3][12]; };
  EXPECT_EQ(statistics(0)[3].number, 1);
  EXPECT_EQ(statistics(0)[6].text, bytes_of(std::int64_t{-2}));
  EXPECT_EQ(statistics(0)[5].text, bytes_of(std::int64_t{5}));
  EXPECT_EQ(statistics(1)[6].text, bytes_of(-3.5));
  EXPECT_EQ(statistics(1)[5].text, bytes_of(0.0));
  EXPECT_EQ(statistics(2)[6].text, "a");
  EXPECT_EQ(statistics(2)[5].text, "ä");  // by bytes, not by a language
  EXPECT_FALSE(statistics(3).has(5));
  EXPECT_FALSE(statistics(3).has(6));
}

TEST(ParquetTableWriter, AValueThatAColumnCannotHoldIsAnError) {
  using namespace std::string_view_literals;
  const auto error = [](Type type, const Value& value) {
    TableWriter writer({{"work", type}}, {}, [](std::string_view) {});
    const Status written = writer.row({{value}});
    return written ? "" : written.error().message;
  };
  EXPECT_EQ(error(Type::integer, {}), "column work: NULL, which it cannot hold");
  EXPECT_EQ(error(Type::integer, 1.5), "column work: a real number, which it cannot hold");
  EXPECT_EQ(error(Type::real, "x"sv), "column work: a text, which it cannot hold");
  EXPECT_EQ(error(Type::text, std::int64_t{1}), "column work: a number, which it cannot hold");
  EXPECT_EQ(error(Type::real, std::int64_t{1}), "");
}

}  // namespace table_writer_test
}  // namespace
}  // namespace npuscope::parquet
