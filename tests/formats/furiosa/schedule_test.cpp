#include "formats/furiosa/schedule.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <random>

namespace npuscope::furiosa::schedule_test {
namespace {

using testing::HasSubstr;

Result<Profile> open(const std::string& text) {
  auto source = open_byte_source(text, "plot.json");
  return read_schedule(**source);
}

struct Plotted {
  std::string text;
  std::map<std::string, std::int64_t> busy;  // by context
  std::int64_t sram_peak = 0;
  std::size_t edges = 0;
};

// A chain of transfers and contractions; every cycle of the SRAM is counted by itself.
Plotted plot(unsigned seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](int count) { return int(random() % unsigned(count)); };
  Plotted plotted;
  std::string instructions, tensors;
  std::vector<std::int64_t> in_use(4000, 0);
  std::int64_t now = 0;
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) {
    const bool moves = one_of(3) == 0;
    const std::string context = moves ? "DmaEngine" : "MainContext";
    const std::int64_t length = 1 + one_of(90);
    instructions += fmt::format(
        R"js({}{{"index": "{}", "history": {{"lir": 1}}, "contexts": ["Noop", "{}"], "lifetime": {{"begin": {}, "end": {}}}, "input_tensors": [{}], "output_tensors": ["t{}"], "description": "cycles: {}\nname: {} \"layer{}\"", "util": 0.0}})js",
        i == 0 ? "" : ",\n", i, context, now, now + length,
        i == 0 ? "" : fmt::format("\"t{}\"", i - 1), i, length, moves ? "Load" : "EinsumByDpe", i);
    const std::int64_t size = 64 * (1 + one_of(100)), end = now + length + one_of(60);
    tensors += fmt::format(
        R"js({}{{"name": "t{}", "buffer_type": "Sram", "lifetime": {{"begin": {}, "end": {}}}, "address": 0, "size": {}, "shape": "[4, 8]"}})js",
        i == 0 ? "" : ",\n", i, now, end, size);
    for (std::int64_t at = now; at < end; ++at) in_use[std::size_t(at)] += size;
    plotted.busy[context] += length;
    plotted.edges += i > 0;
    now += length;
  }
  plotted.sram_peak = *std::ranges::max_element(in_use);
  plotted.text = fmt::format(
      R"js({{"title": "kernel", "total_memory": 1048576, "page_size": 4096, "instructions": [{}], "tensors": [{}]}})js",
      instructions, tensors);
  return plotted;
}

class Plots : public testing::TestWithParam<unsigned> {};

TEST_P(Plots, InstructionsOccupyTheirContexts) {
  const Plotted plotted = plot(GetParam());
  ASSERT_TRUE(looks_like_schedule(plotted.text));
  const auto profile = open(plotted.text);
  ASSERT_TRUE(profile) << profile.error().message;
  std::map<std::string, std::int64_t> busy;
  for (std::size_t row = 0; row < profile->spans.size(); ++row) {
    busy[std::string(profile->text(profile->units[index_of(profile->spans.unit[row])].name))] +=
        profile->spans.duration[row];
  }
  EXPECT_EQ(busy, plotted.busy);
  EXPECT_EQ(profile->edges.size(), plotted.edges);
  EXPECT_EQ(profile->measures[0].value, double(plotted.sram_peak));
  EXPECT_EQ(profile->measures[0].meaning.role, NumberRole::vtcm_peak);
  EXPECT_EQ(profile->provenance.times, Origin::estimated);
  ASSERT_EQ(profile->checks.size(), 1u);
  EXPECT_EQ(profile->checks[0].outcome, Check::Outcome::passed);
  EXPECT_EQ(profile->text(profile->ops[1].name), "layer1");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Plots, testing::Range(1u, 9u));

TEST(Schedule, WhatCannotBeTakenIsCounted) {
  const auto profile = open(
      R"js({"total_memory": "9", "instructions": [
        {"contexts": ["MainContext"], "lifetime": {"begin": 5, "end": 9}, "input_tensors": [7, {"name": 3}]},
        {"contexts": ["MainContext"], "lifetime": {"begin": 9, "end": 5}},
        {"contexts": ["MainContext"], "lifetime": {"begin": -1, "end": 9223372036854775807}},
        {"contexts": ["Noop"], "lifetime": {"begin": 0, "end": 1}}, 4, null], "tensors": [1, {"size": -5}]})js");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->spans.size(), 1u);
  ASSERT_GE(profile->notes.size(), 2u);
  EXPECT_EQ(profile->notes[0].count, 4u);
  EXPECT_THAT(open("{\"instructions\": []}").error().message, HasSubstr("without instructions"));
  EXPECT_THAT(open("{\"instructions\": [").error().message, HasSubstr("not JSON"));
}

}  // namespace
}  // namespace npuscope::furiosa::schedule_test
