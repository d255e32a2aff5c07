// Arguments of many rows against a twin that keeps the values of each row as they are.
#include "npuscope/profile/argument_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::argument_blocks_test {
namespace {

constexpr std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number); }

struct Row {
  std::uint32_t shape = 0;
  std::vector<std::uint64_t> values;
};

void expect_rows(const Arguments& arguments, const std::vector<Row>& rows) {
  ASSERT_EQ(arguments.size(), rows.size());
  std::vector<std::uint64_t> values;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ASSERT_EQ(arguments.shape(row), rows[row].shape) << row;
    ASSERT_EQ(arguments.count(row), rows[row].values.size()) << row;
    arguments.read(row, values);
    ASSERT_EQ(values, rows[row].values) << row;
    for (std::size_t place = 0; place < values.size(); ++place) {
      ASSERT_EQ(arguments.at(row, place).bits, values[place]) << row;
    }
  }
}

Arguments made_of(const std::vector<ArgumentShape>& shapes, const std::vector<Row>& rows) {
  Arguments arguments;
  arguments.shapes = shapes;
  for (const Row& row : rows) arguments.add(arguments.size(), row.shape, row.values);
  return arguments;
}

ArgumentShape shape_of(std::size_t places) {
  ArgumentShape shape;
  for (std::size_t i = 0; i < places; ++i) {
    shape.push_back({StringId(std::uint32_t(i + 1)), ArgumentType::integer});
  }
  return shape;
}

// What stands at one place of the rows of a shape.
enum class Likeness : std::uint8_t {
  constant,
  counted,
  random,
  small_and_negative,
  multiples,
  decimals,
  whole_doubles,
  floats,
  ends_of_the_range,
  odd_doubles,
  last
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::vector<ArgumentShape> shapes{{}};
  std::vector<Row> rows;

  void make(std::size_t shape_count, std::size_t row_count) {
    for (std::size_t i = 1; i < shape_count; ++i) {
      shapes.push_back(shape_of(1 + below(6)));
      std::vector<Likeness> likeness(shapes.back().size());
      for (Likeness& each : likeness) each = Likeness(below(std::uint64_t(Likeness::last)));
      likeness_.push_back(likeness);
    }
    for (std::size_t i = 0; i < row_count; ++i) {
      Row row{std::uint32_t(below(shapes.size())), {}};
      // In some stretches all rows are alike.
      if (i / 1500 % 2 == 1) row.shape = std::uint32_t(shapes.size() - 1);
      for (std::size_t place = 0; place < shapes[row.shape].size(); ++place) {
        row.values.push_back(value(likeness_[row.shape][place]));
      }
      rows.push_back(row);
    }
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  std::uint64_t value(Likeness likeness) {
    switch (likeness) {
      case Likeness::constant: return 1234567;
      case Likeness::counted: return 7'997'466'066'654 + rows.size();
      case Likeness::random: return random_();
      case Likeness::small_and_negative: return std::uint64_t(std::int64_t(below(300)) - 150);
      case Likeness::multiples: return 4096 * below(70'000);
      case Likeness::decimals: return bits_of(double(below(2'000'000)) / 1000 - 500);
      case Likeness::whole_doubles: return bits_of(double(below(1'000'000)));
      case Likeness::floats: return bits_of(double(float(below(1 << 30)) / 3.0f));
      case Likeness::ends_of_the_range:
        return std::uint64_t(below(2) == 0 ? std::numeric_limits<std::int64_t>::min()
                                           : std::numeric_limits<std::int64_t>::max());
      case Likeness::odd_doubles: {
        const double odd[] = {0.0,
                              -0.0,
                              std::nan(""),
                              -std::nan("7"),
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::max(),
                              9007199254740993.0,
                              0.1};
        return bits_of(odd[below(std::size(odd))]);
      }
      case Likeness::last: break;
    }
    return 0;
  }

  std::mt19937_64 random_;
  std::vector<std::vector<Likeness>> likeness_{{}};
};

TEST(ArgumentBlocks, GiveBackEachValueBitByBit) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Maker maker(seed);
    const std::size_t shapes = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 2 + maker.below(9) : 900;
    maker.make(shapes, 1 + maker.below(5000));
    expect_rows(made_of(maker.shapes, maker.rows), maker.rows);
  }
}

TEST(ArgumentBlocks, AreTheSameInWhateverPiecesRowsCome) {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    Maker maker(seed);
    maker.make(2 + seed % 7, 1 + maker.below(9000));
    Arguments arguments;
    arguments.shapes = maker.shapes;
    for (std::size_t begin = 0; begin < maker.rows.size();) {
      const std::size_t count = std::min(1 + maker.below(3000), maker.rows.size() - begin);
      std::vector<std::uint64_t> values;
      std::vector<ArgumentPlace> places;
      for (std::size_t row = begin; row < begin + count; ++row) {
        const Row& of = maker.rows[row];
        places.push_back({of.shape, std::uint32_t(values.size())});
        values.insert(values.end(), of.values.begin(), of.values.end());
      }
      arguments.add_rows(begin, count, values, [&](std::size_t i) { return places[i]; });
      begin += count;
    }
    expect_rows(arguments, maker.rows);
    EXPECT_EQ(arguments.bytes(), made_of(maker.shapes, maker.rows).bytes());
  }
}

TEST(ArgumentBlocks, KeepTheValuesOfThePlacesThatStay) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Maker maker(seed);
    const std::size_t shapes = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 2 + maker.below(9) : 900;
    maker.make(shapes, 1 + maker.below(5000));
    Arguments arguments = made_of(maker.shapes, maker.rows);
    std::vector<std::vector<std::uint32_t>> staying(maker.shapes.size());
    for (std::size_t shape = 0; shape < maker.shapes.size(); ++shape) {
      for (std::uint32_t place = 0; place < maker.shapes[shape].size(); ++place) {
        if (maker.below(3) > 0) staying[shape].push_back(place);
      }
    }
    arguments.keep_places(staying);
    const std::size_t size = arguments.size();
    bool any = false;
    for (std::size_t row = 0; row < maker.rows.size(); ++row) {
      const Row& before = maker.rows[row];
      const auto& places = staying[before.shape];
      any |= !places.empty();
      if (size == 0) continue;
      const ArgumentShape& keys = arguments.shapes[arguments.shape(row)];
      ASSERT_EQ(keys.size(), places.size()) << row;
      for (std::size_t i = 0; i < places.size(); ++i) {
        ASSERT_EQ(keys[i], maker.shapes[before.shape][places[i]]) << row;
        ASSERT_EQ(arguments.at(row, i).bits, before.values[places[i]]) << row;
      }
    }
    ASSERT_EQ(size, any ? maker.rows.size() : 0);
    for (std::size_t a = 0; a < arguments.shapes.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) ASSERT_NE(arguments.shapes[a], arguments.shapes[b]);
    }
    // Rows are added behind them as before.
    if (size == 0) continue;
    const auto wide = std::ranges::max_element(arguments.shapes, {}, &ArgumentShape::size);
    const std::vector<std::uint64_t> values(wide->size(), 7);
    arguments.add(size, std::uint32_t(wide - arguments.shapes.begin()), values);
    ASSERT_EQ(arguments.at(size, 0).bits, 7u);
  }
}

TEST(ArgumentBlocks, HaveRowsWithoutArgumentsBetweenThoseThatAreAdded) {
  Arguments arguments;
  arguments.shapes = {{}, shape_of(1)};
  arguments.add(5000, 1, std::array<std::uint64_t, 1>{7});
  arguments.add(5002, 1, std::array<std::uint64_t, 1>{8});
  arguments.resize(9000);
  std::vector<Row> rows(9000);
  rows[5000] = {1, {7}};
  rows[5002] = {1, {8}};
  expect_rows(arguments, rows);
}

TEST(ArgumentBlocks, HaveNoRowsWhereNoneHasArguments) {
  Arguments arguments;
  arguments.resize(5000);
  EXPECT_TRUE(arguments.empty());
  EXPECT_EQ(arguments.size(), 0u);
}

TEST(ArgumentBlocks, HoldARowOfAMillionArguments) {
  std::vector<Row> rows(1500);
  std::mt19937_64 random(3);
  rows[700].shape = 1;
  for (std::size_t i = 0; i < 1'000'000; ++i) rows[700].values.push_back(random());
  rows[1400] = rows[700];
  expect_rows(made_of({{}, shape_of(1'000'000)}, rows), rows);
}

TEST(ArgumentBlocks, HoldAHundredThousandShapes) {
  std::vector<ArgumentShape> shapes{{}};
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    shapes.push_back(shape_of(1 + i % 3));
    rows.push_back({i + 1, std::vector<std::uint64_t>(1 + i % 3, i)});
  }
  const Arguments arguments = made_of(shapes, rows);
  expect_rows(arguments, rows);
  // Of each row its shape and where its values are, and the values.
  EXPECT_LE(arguments.bytes(), rows.size() * (20 + 2 * 8 + 1));
}

// Bytes that values of rows of one shape take.
std::size_t bytes_of(const std::function<std::uint64_t(std::uint64_t)>& value) {
  Arguments arguments;
  arguments.shapes = {{}, shape_of(1)};
  const std::size_t before = [&] {
    for (std::size_t row = 0; row < ArgumentBlock::rows; ++row) {
      arguments.add(row, 1, std::array{std::uint64_t{5}});
    }
    return arguments.bytes();
  }();
  for (std::size_t row = 0; row < ArgumentBlock::rows; ++row) {
    arguments.add(ArgumentBlock::rows + row, 1, std::array{value(row)});
  }
  return arguments.bytes() - 2 * before;
}

TEST(ArgumentBlocks, TakeNoBytesForWhatAllRowsHave) {
  EXPECT_EQ(bytes_of([](std::uint64_t) { return std::uint64_t(-9); }), 0u);
}

TEST(ArgumentBlocks, TakeAsManyBytesAsTheDistancesOfTheirValues) {
  constexpr std::size_t rows = ArgumentBlock::rows;
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return 1'000'000'000'000 + row; }), 2 * rows);
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return std::uint64_t(-1) + row % 256; }), rows);
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return row * row * row << 30; }), 4 * rows);
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return row * 0x9E3779B97F4A7C15u; }), 8 * rows);
}

TEST(ArgumentBlocks, TakeTwoBytesForDoublesOfFewDigits) {
  constexpr std::size_t rows = ArgumentBlock::rows;
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return bits_of(double(row) / 7); }), 8 * rows);
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return bits_of(double(1'450'000 + row) / 1000); }),
            2 * rows);
  EXPECT_EQ(bytes_of([](std::uint64_t row) { return bits_of(double(row)); }), 2 * rows);
}

}  // namespace
}  // namespace npuscope::argument_blocks_test
