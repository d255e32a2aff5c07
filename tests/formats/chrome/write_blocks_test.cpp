// Long traces are printed in blocks by several cores: each span stands once, in its order, and the
// text is that which one core prints.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/formats/chrome/write.hpp"

namespace npuscope::chrome::write_blocks_test {
namespace {

using npuscope::test_support::ProfileBuilder;

struct Written {
  std::string text;
  Losses losses;
};

Written write_on(int threads, const Profile& profile) {
  Written written;
  tbb::task_arena(threads).execute([&] {
    written.losses = write_trace(profile, [&](std::string_view piece) { written.text += piece; });
  });
  return written;
}

constexpr std::uint32_t spans = 30'000;
constexpr std::uint32_t numbers_not_finite = 300;

// Each span says its row; some are moments or asynchronous, some have flows or say a number that is
// not finite, and those of one stretch a long text, so that few of them are more than a block.
Profile made_profile() {
  ProfileBuilder made("trace time", ClockKind::wall, 1e9);
  Profile& profile = made.profile;
  std::vector<UnitId> units;
  for (int i = 0; i < 5; ++i) {
    units.push_back(made.unit("thread " + std::to_string(i), Engine::thread));
  }
  auto& arguments = profile.spans.arguments;
  const ArgumentKey row_key{made.text("row"), ArgumentType::integer};
  const ArgumentKey number_key{made.text("number"), ArgumentType::number};
  const ArgumentKey text_key{made.text("text"), ArgumentType::text};
  arguments.shapes.push_back({row_key});
  arguments.shapes.push_back({row_key, number_key});
  arguments.shapes.push_back({text_key, row_key});
  const StringId long_text = made.text(std::string(100'000, 'x') + "\n\"");
  std::mt19937 random(7);
  for (std::uint32_t row = 0; row < spans; ++row) {
    const auto kind = row % 11 == 5   ? SpanKind::instant
                      : row % 13 == 7 ? SpanKind::async
                                      : SpanKind::slice;
    const std::int64_t start = 10 * std::int64_t(row);
    made.span(units[random() % units.size()], "op " + std::to_string(random() % 200), start,
              start + 5, kind, "kernel");
    if (row % (spans / numbers_not_finite) == 3) {
      arguments.add(row, 2,
                    std::array{std::uint64_t(row), std::bit_cast<std::uint64_t>(
                                                       std::numeric_limits<double>::infinity())});
    } else if (row >= 20'000 && row < 20'200) {
      arguments.add(row, 3,
                    std::array{std::uint64_t(std::uint32_t(long_text)), std::uint64_t(row)});
    } else {
      arguments.add(row, 1, std::array{std::uint64_t(row)});
    }
    if (row > 0 && row % 17 == 0) {
      profile.flows.push_back(
          {SpanId(row - 1), SpanId(row), EdgeKind::flow, made.text("flow"), made.text("ac2g")});
    }
  }
  return std::move(made.profile);
}

TEST(WriteChromeBlocks, EachSpanStandsOnceInItsOrder) {
  const auto trace = nlohmann::json::parse(write_on(2, made_profile()).text);
  std::uint32_t row = 0;
  std::size_t flow_ends = 0;
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    flow_ends += phase == "s" || phase == "f";
    if (phase != "X" && phase != "i" && phase != "b") continue;
    ASSERT_EQ(event["args"]["row"], row) << event;
    row += 1;
  }
  EXPECT_EQ(row, spans);
  EXPECT_GT(flow_ends, 0u);
}

TEST(WriteChromeBlocks, TheTextIsTheSameHoweverManyPrintIt) {
  const Profile profile = made_profile();
  const Written alone = write_on(1, profile);
  const Written together = write_on(2, profile);
  EXPECT_TRUE(alone.text == together.text);
  const auto not_finite = [](const Written& written) {
    for (const Loss& loss : written.losses.entries) {
      if (loss.what == "numbers that are not finite") return loss.count;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(not_finite(alone), numbers_not_finite);
  EXPECT_EQ(not_finite(together), numbers_not_finite);
}

TEST(WriteChromeBlocks, ProgressEndsWithTheLastSpan) {
  std::vector<std::uint64_t> done;
  WriteOptions options;
  options.progress = [&](std::uint64_t of, std::uint64_t all) {
    EXPECT_EQ(all, spans);
    done.push_back(of);
  };
  write_trace(
      made_profile(), [](std::string_view) {}, options);
  ASSERT_FALSE(done.empty());
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), spans);
}

TEST(WriteChromeBlocks, WhatTheSinkThrowsReachesTheCaller) {
  std::size_t pieces = 0;
  const auto sink = [&](std::string_view) {
    if (++pieces == 3) throw std::runtime_error("full");
  };
  const Profile profile = made_profile();
  EXPECT_THROW(write_trace(profile, sink), std::runtime_error);
}

}  // namespace
}  // namespace npuscope::chrome::write_blocks_test
