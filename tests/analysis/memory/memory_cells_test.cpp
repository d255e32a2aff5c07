// Medians over inferences against sorting all of them, and items cell by cell.
#include "analysis/memory/memory_analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/profile_builder.hpp"
#include "choices.hpp"

namespace npuscope::analysis::memory_cells_test {
namespace {

using npuscope::test::Choices;

// A profile whose spans say so many inferences.
Profile profile_of(std::uint32_t inferences) {
  test_support::ProfileBuilder made;
  const UnitId unit = made.unit("DMA", Engine::dma);
  for (std::uint32_t i = 0; i < inferences; ++i) {
    made.span(unit, "a", 10 * i, 10 * i + 5);
    made.profile.spans.instance.push_back(100 + i);
  }
  return std::move(made.profile);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

TEST(MemoryCells, MediansAreThoseOfAllInferences) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Choices choices(seed);
    const std::uint32_t count = 2 + choices.below(9);
    const Analysis analysis(profile_of(count));
    const Inferences inferences(analysis, 0, choices.below(4) == 0 ? 1 : 1000);
    const std::size_t spans = choices.below(3) == 0 ? 0 : 1000;  // with few, cells are in a map
    MemoryCells cells(inferences, spans);
    std::vector<double> ticks(count, 0);
    std::vector<std::int64_t> bytes(count, 0);
    const std::uint32_t all_the_same = choices.below(2) == 0 ? 1 : 50;
    for (std::uint32_t i = choices.below(30); i > 0; --i) {
      const std::uint32_t inference = choices.below(count);
      const bool is_one = inferences.count() < 2;
      const std::uint32_t cell = cells.of(is_one ? 100 + inference : inference);
      if (cell == cells.size()) cells.begin(100 + inference);
      const std::uint32_t value = choices.below(all_the_same);
      cells.add(MemoryFigure::hmx_ticks, cell, value);
      cells.add_bytes(Route::ddr_read, cell, 3 * value);
      ticks[inference] += value;
      bytes[inference] += 3 * std::int64_t(value);
    }
    MemoryCells::Over over = cells.over(count, std::nullopt);
    EXPECT_EQ(cells.median(MemoryFigure::hmx_ticks, over), median_of(ticks)) << seed;
    EXPECT_EQ(cells.median(MemoryFigure::hvx_ticks, over), 0);
    const std::uint32_t left_out = choices.below(count);
    over = cells.over(count - 1, 100 + left_out);
    ticks.erase(ticks.begin() + left_out);
    bytes.erase(bytes.begin() + left_out);
    EXPECT_EQ(cells.median(MemoryFigure::hmx_ticks, over), median_of(ticks)) << seed;
    const double expected = median_of({bytes.begin(), bytes.end()});
    EXPECT_EQ(cells.bytes(Route::ddr_read, over), rounded(expected)) << seed;
  }
}

TEST(MemoryCells, OneIsTakenOnlyWhereThereIsOne) {
  const Analysis analysis(profile_of(2));
  const Inferences inferences(analysis, 0, 1000);
  MemoryCells cells(inferences, 10);
  for (const std::uint32_t inference : {0u, 1u}) {
    const std::uint32_t cell = cells.of(inference);
    ASSERT_EQ(cell, cells.size());
    cells.begin(100 + inference);
    cells.take_one(MemoryFigure::dma_spans, cell);
    cells.add(MemoryFigure::dma_spans, cell, 3);
    cells.take_one(MemoryFigure::dma_spans, cell);
  }
  EXPECT_EQ(cells.median(MemoryFigure::dma_spans, cells.over(2, std::nullopt)), 2);
}

// As what is of no inference has, beside all inferences: those in which it did nothing of a figure
// count, whether they come before or after the others.
TEST(MemoryCells, MoreCellsThanInferencesAllCount) {
  const Analysis analysis(profile_of(4));
  const Inferences inferences(analysis, 0, 1000);
  MemoryCells cells(inferences, 10);
  for (const std::uint32_t inference : {0u, 1u, 2u, 3u}) {
    cells.begin(100 + cells.of(inference));
    if (inference < 2) cells.add(MemoryFigure::hvx_ticks, inference, 5 + 2 * inference);
  }
  EXPECT_EQ(cells.median(MemoryFigure::hvx_ticks, cells.over(3, std::nullopt)), 2.5);  // of 4
  EXPECT_EQ(cells.median(MemoryFigure::hvx_ticks, cells.over(2, 100)), 0);             // of 7, 0, 0
}

TEST(InCells, EachCellHasItsItemsInTheirOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Choices choices(seed);
    const std::uint32_t count = 1 + choices.below(6);
    InCells<int> items;
    std::map<std::uint32_t, std::vector<int>> expected, made;
    for (int i = int(choices.below(20)); i > 0; --i) {
      const std::uint32_t cell = choices.below(count);
      items.add(cell, i);
      expected[cell].push_back(i);
    }
    items.for_cells(count, [&](std::uint32_t cell, std::span<int> of_cell) {
      made[cell].assign(of_cell.begin(), of_cell.end());
    });
    EXPECT_EQ(made, expected) << seed;
  }
}

}  // namespace
}  // namespace npuscope::analysis::memory_cells_test
