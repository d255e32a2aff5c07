#include "formats/torq/debug/location.hpp"

#include <gmock/gmock.h>

#include "formats/torq/fields.hpp"
#include "formats/torq/files.hpp"

namespace npuscope::torq::location_test {
namespace {

using ::testing::HasSubstr;

// "brief | file:line:column ...", or the error.
std::string read(Locations& locations, std::string_view text) {
  const auto id = locations.parse(text);
  if (!id) return "error";
  std::string out = locations.brief(*id) + " |";
  for (const FileLocation& place : locations.files(*id)) {
    out += fmt::format(" {}:{}:{}", place.file, place.line, place.column);
  }
  return out;
}
std::string read(std::string_view text) {
  Locations locations;
  return read(locations, text);
}

TEST(Location, OfEachForm) {
  EXPECT_EQ(read("loc(unknown)"), "loc(unknown) |");
  EXPECT_EQ(read("loc(?)"), "loc(unknown) |");
  EXPECT_EQ(read(R"(loc("a.mlir":4:10))"), "@L4C10 | a.mlir:4:10");
  EXPECT_EQ(read(R"(loc(callsite("a":4:10 at "a":2:3)))"), "@L4C10 | a:4:10 a:2:3");
  EXPECT_EQ(read(R"(loc(fused["a":1:2, unknown, "b":3:4]))"),
            "@L1C2+loc(unknown)+@L3C4 | a:1:2 b:3:4");
  EXPECT_EQ(read(R"(loc("conv1"("a":4:10)))"), "@L4C10 |");
  EXPECT_EQ(read("loc(\"conv1\")"), "conv1 |");
  EXPECT_EQ(read("loc(fused[])"), " |");
}

TEST(Location, OfFormsThatTheVendorsToolsRefuse) {
  EXPECT_EQ(read(R"(loc(fused<{x = 1 : i32, y = #a<b -> ">">}>["a":1:2]))"), "@L1C2 | a:1:2");
  EXPECT_EQ(read(R"(loc("a":1:2 to 3:4))"), "@L1C2 | a:1:2");
  EXPECT_EQ(read(R"(loc("a":1:2 to :4))"), "@L1C2 | a:1:2");
  EXPECT_EQ(read(R"(loc("a\"b\\c\0Ad":1:2))"), "@L1C2 | a\"b\\c\nd:1:2");
}

TEST(Location, NamesStandForTheirPlacesWhenAskedTo) {
  Locations locations;
  const auto id = locations.parse(R"(loc(callsite("conv"("a":1:2) at "b":3:4)))");
  ASSERT_TRUE(id);
  EXPECT_EQ(locations.files(*id).size(), 1u);
  EXPECT_EQ(locations.files(*id, true).size(), 2u);
}

TEST(Location, AliasesMayBeDefinedInAnyOrder) {
  Locations locations;
  locations.define("#loc7", "loc(fused[#loc1, #loc2])");
  locations.define("#loc1", R"(loc("a":1:2))");
  locations.define("#loc2", R"(loc(callsite(#loc1 at "b":3:4)))");
  EXPECT_EQ(read(locations, "loc(#loc7)"), "@L1C2+@L1C2 | a:1:2 a:1:2 b:3:4");
  const auto missing = locations.parse("loc(#loc9)");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("#loc9 is not defined"));
}

TEST(Location, CirclesAndTowersEnd) {
  Locations locations;
  locations.define("#a", "loc(fused[#b])");
  locations.define("#b", "loc(fused[#a])");
  EXPECT_EQ(read(locations, "loc(#a)"), "error");
  EXPECT_EQ(read(locations, "loc(#b)"), "error");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "callsite(";
  EXPECT_EQ(read("loc(" + deep + "\"a\":1:2"), "error");
  // Each twice the one before: more parts than there are atoms, if all were printed.
  locations.define("#d0", R"(loc("a":1:2))");
  for (int i = 1; i <= 200; ++i) {
    locations.define(fmt::format("#d{}", i), fmt::format("loc(fused[#d{0}, #d{0}])", i - 1));
    ASSERT_TRUE(locations.parse(fmt::format("loc(#d{})", i)));
  }
  const auto id = locations.parse("loc(#d200)");
  ASSERT_TRUE(id);
  EXPECT_LT(locations.brief(*id).size(), 100'000u);
  EXPECT_LE(locations.files(*id).size(), 4096u);
}

TEST(Location, OfHalfATextIsAnError) {
  const std::string whole = R"(loc(fused<"m">[callsite("a":1:2 at "n"("b":3:4)), #x]))";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(read(whole.substr(0, size)), "error") << size;
  }
  EXPECT_EQ(read(R"("a":1:2)"), "error");
  EXPECT_EQ(read(R"(loc("a":1:2)trailing)"), "@L1C2 | a:1:2");
}

// Row by row what the vendor's parser answers, where it does.
TEST(Location, AgreesWithTheSample) {
  if (!have_samples()) GTEST_SKIP();
  const std::string text = contents(sample("location_parser_cases.tsv"));
  std::string_view rest = text;
  take_first(rest, '\n');
  int rows = 0;
  while (!rest.empty()) {
    std::string_view line = take_first(rest, '\n');
    const std::string_view input = take_first(line, '\t'), brief = take_first(line, '\t');
    if (brief.starts_with("EXC")) continue;
    Locations locations;
    const auto id = locations.parse(input);
    ASSERT_TRUE(id) << input;
    EXPECT_EQ(locations.brief(*id), brief) << input;
    std::string files = "[";
    for (const FileLocation& place : locations.files(*id)) {
      files += fmt::format("{}'\"{}\":{}:{}'", files.size() > 1 ? ", " : "", place.file, place.line,
                           place.column);
    }
    EXPECT_EQ(files + "]", line) << input;
    ++rows;
  }
  EXPECT_EQ(rows, 11);
}

}  // namespace
}  // namespace npuscope::torq::location_test
