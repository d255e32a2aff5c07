// What rows keep of their arguments, against a twin that copies row by row.
#include "profile/kept_arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace npuscope::kept_arguments_test {
namespace {

using Places = std::vector<std::uint32_t>;

Arguments random_arguments(std::mt19937& random, std::size_t rows) {
  Arguments arguments;
  for (std::uint32_t count : {4u, 1u, 7u, 0u, 4u}) {
    ArgumentShape& shape = arguments.shapes.emplace_back();
    for (std::uint32_t place = 0; place < count; ++place) {
      shape.push_back({StringId(arguments.shapes.size() * 10 + place), ArgumentType::integer});
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const auto shape = std::uint32_t(random() % arguments.shapes.size());
    std::vector<std::uint64_t> values(arguments.shapes[shape].size());
    for (std::size_t place = 0; place < values.size(); ++place) {
      values[place] = place % 2 == 0 ? row * 3 : std::uint64_t(random());
    }
    arguments.add(row, shape, values);
  }
  return arguments;
}

// What row `row` is made of: a row of the table, and those of its places that stay; none: it is not
// told.
struct Wanted {
  std::vector<std::optional<std::size_t>> from_row;
  std::function<Places(std::size_t row, std::uint32_t shape, std::size_t places)> places;
};

Arguments kept_of(const Arguments& from, const Wanted& wanted) {
  KeptArguments kept(from, wanted.from_row.size());
  parallel_for(kept.parts(), [&](std::size_t number) {
    KeptArguments::Part& part = kept.part(number);
    for (std::size_t row = part.rows().first; row < part.rows().last; ++row) {
      if (!wanted.from_row[row]) continue;
      const std::size_t from_row = *wanted.from_row[row];
      const std::uint32_t shape = from.shape(from_row);
      part.keep(row, {from_row, shape}, wanted.places(row, shape, from.count(from_row)));
    }
  });
  return kept.finish();
}

void expect_kept(const Arguments& from, const Wanted& wanted) {
  const Arguments made = kept_of(from, wanted);
  ASSERT_EQ(made.size(), wanted.from_row.size());
  std::vector<ArgumentShape> shapes{{}};  // in the order of the first rows
  std::vector<KeptArguments::Form> forms;
  for (std::size_t row = 0; row < made.size(); ++row) {
    Places places;
    if (wanted.from_row[row]) {
      const std::size_t from_row = *wanted.from_row[row];
      places = wanted.places(row, from.shape(from_row), from.count(from_row));
    }
    ASSERT_EQ(made.count(row), places.size()) << row;
    if (places.empty()) continue;
    const std::size_t from_row = *wanted.from_row[row];
    ArgumentShape keys;
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(made.at(row, i).bits, from.at(from_row, places[i]).bits) << row;
      keys.push_back(from.at(from_row, places[i]).key);
    }
    const KeptArguments::Form form{from.shape(from_row), places};
    if (std::ranges::find(forms, form) == forms.end()) {
      forms.push_back(form);
      shapes.push_back(keys);
    }
  }
  EXPECT_EQ(made.shapes, shapes);
}

Places every_second(std::size_t, std::uint32_t, std::size_t places) {
  Places stay;
  for (std::uint32_t place = 0; place < places; place += 2) stay.push_back(place);
  return stay;
}

std::vector<std::optional<std::size_t>> rows_from(std::size_t first, std::size_t count) {
  std::vector<std::optional<std::size_t>> rows;
  for (std::size_t row = 0; row < count; ++row) rows.push_back(first + row);
  return rows;
}

// Several parts, whole blocks and some rows after the last.
constexpr std::size_t many = 3 * 16'384 + 700;

TEST(KeptArguments, RowsOfWholeBlocks) {
  std::mt19937 random(1);
  const Arguments from = random_arguments(random, many);
  expect_kept(from, {rows_from(0, many), every_second});
}

TEST(KeptArguments, RowsThatBeginAtABlockOrWithinOne) {
  std::mt19937 random(2);
  const Arguments from = random_arguments(random, many);
  expect_kept(from, {rows_from(1'024, many - 1'024), every_second});
  expect_kept(from, {rows_from(5, many - 5), every_second});
}

// In some blocks all rows of a shape keep the same, in others not.
TEST(KeptArguments, RowsOfAShapeThatKeepThisAndThat) {
  std::mt19937 random(3);
  const Arguments from = random_arguments(random, many);
  const auto places = [](std::size_t row, std::uint32_t shape, std::size_t count) {
    if (row / 1'024 % 3 == 0 && row % 50 == 7) return Places{};
    if (row / 1'024 % 3 == 1 && row % 50 == 7 && count > 1) return Places{1};
    return every_second(row, shape, count);
  };
  expect_kept(from, {rows_from(0, many), places});
}

TEST(KeptArguments, RowsOfAnotherOrderAndRowsThatAreNotTold) {
  std::mt19937 random(4);
  const Arguments from = random_arguments(random, many);
  auto rows = rows_from(0, many);
  std::shuffle(rows.begin(), rows.begin() + many / 2, random);
  for (std::size_t row = 0; row < many; row += 1 + random() % 3'000) rows[row].reset();
  const auto places = [&](std::size_t row, std::uint32_t, std::size_t count) {
    Places stay;
    for (std::uint32_t place = 0; place < count; ++place) {
      if ((row / 9 >> place & 1) != 0) stay.push_back(place);
    }
    return stay;
  };
  expect_kept(from, {rows, places});
}

TEST(KeptArguments, NoneWhereNoRowKeepsAny) {
  std::mt19937 random(5);
  const Arguments from = random_arguments(random, 2'000);
  const auto nothing = [](std::size_t, std::uint32_t, std::size_t) { return Places{}; };
  EXPECT_TRUE(kept_of(from, {rows_from(0, 2'000), nothing}).empty());
  EXPECT_TRUE(kept_of(from, {{}, nothing}).empty());
  const Arguments none;
  EXPECT_TRUE(KeptArguments(none, 10).finish().empty());
}

}  // namespace
}  // namespace npuscope::kept_arguments_test
