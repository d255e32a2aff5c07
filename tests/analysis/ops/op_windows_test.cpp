#include "analysis/ops/op_windows.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::op_windows_test {
namespace {

// Windows of ops on a core, and events of the same nodes in them.
struct Windows : test_support::ProfileBuilder {
  UnitId core = unit("HTP0", Engine::core), hmx = unit("HMX queue", Engine::hmx, core);
  UnitId hvx[2] = {unit("HVX thread 0", Engine::hvx, core),
                   unit("HVX thread 1", Engine::hvx, core)};
  UnitId dma = unit("DMA", Engine::dma, core);
  MeasureColumn windows;
  MeasureColumn bytes;

  Windows() : ProfileBuilder("time", ClockKind::wall, 1e9) {
    windows.kind = MeasureKind::dominant_path;
    windows.what = text("op window");
    windows.meaning =
        NamedNumber("op window", MeasureKind::dominant_path, NumberRole::op_window).meaning;
    bytes.what = text("weight bytes");
    bytes.meaning =
        NamedNumber("weight bytes", NumberQuantity::bytes, NumberRole::ddr_read).meaning;
  }

  void add(UnitId unit, std::string_view node, std::string_view kind, std::int64_t begin,
           std::int64_t end, SpanKind span_kind = SpanKind::op, std::int64_t read = -1) {
    span(unit, std::string(node) + std::string(kind), begin, end, span_kind, kind);
    profile.ops[index_of(profile.spans.op[profile.spans.size() - 1])].node = text(node);
    windows.values.push_back(unit == core ? end - begin : MeasureColumn::missing);
    bytes.values.push_back(read >= 0 ? read : MeasureColumn::missing);
  }
  void window(std::string_view node, std::int64_t begin, std::int64_t end, std::int64_t read = -1,
              SpanKind span_kind = SpanKind::annotation) {
    add(core, node, "MUL_MAT", begin, end, span_kind, read);
  }
  OpWindows found() {
    profile.spans.measures = {windows, bytes};
    return find_op_windows(Analysis(profile));
  }
};

TEST(OpWindows, NoneWithoutThem) {
  test_support::ProfileBuilder made;
  made.span(made.unit("HMX", Engine::hmx), "MatMul_0", 10, 25);
  EXPECT_TRUE(find_op_windows(Analysis(made.profile)).rows.empty());
}

TEST(OpWindows, SharesAreThoseOfEveryMoment) {
  std::mt19937 random(5);
  const auto below = [&](int limit) { return int(random() % unsigned(limit)); };
  for (int round = 0; round < 40; ++round) {
    Windows made;
    const int ops = 1 + below(4), executions = 1 + below(5);
    struct Sums {
      double window = 0, hvx_any = 0, hvx_sum = 0, hmx = 0, dma = 0, none = 0;
    };
    std::vector<Sums> sums(std::size_t(ops), Sums{});
    std::int64_t at = 0;
    for (int i = 0; i < ops * executions; ++i) {
      const int op = i % ops;
      const std::string node = "node_" + std::string(1, char('a' + op));
      const std::int64_t length = 20 + below(200);
      made.window(node, at, at + length);
      std::vector<int> hvx(std::size_t(length), 0), hmx = hvx, dma = hvx;
      const auto add = [&](UnitId unit, std::string_view kind, std::vector<int>& marks) {
        const int begin = below(int(length)), end = begin + 1 + below(int(length) - begin);
        made.add(unit, node, kind, at + begin, at + end,
                 unit == made.dma ? SpanKind::transfer : SpanKind::op);
        for (int moment = begin; moment < end; ++moment) marks[std::size_t(moment)] += 1;
      };
      for (const UnitId unit : made.hvx) add(unit, "HVX_COMP", hvx);
      if (below(2) == 0) add(made.hmx, "HMX_COMP", hmx);
      for (int slot = below(4); slot > 0; --slot) add(made.dma, "DMA", dma);
      Sums& of = sums[std::size_t(op)];
      of.window += double(length);
      for (std::size_t moment = 0; moment < std::size_t(length); ++moment) {
        of.hvx_any += hvx[moment] > 0;
        of.hvx_sum += hvx[moment];
        of.hmx += hmx[moment] > 0;
        of.dma += dma[moment] > 0;
        of.none += hvx[moment] + hmx[moment] + dma[moment] == 0;
      }
      at += length + below(30);
    }
    const OpWindows found = made.found();
    ASSERT_EQ(found.rows.size(), std::size_t(ops));
    for (const OpWindow& row : found.rows) {
      const Sums& of = sums[std::size_t(row.label.back() - 'a')];
      EXPECT_EQ(row.runs, std::uint64_t(executions));
      EXPECT_DOUBLE_EQ(row.window, of.window);
      EXPECT_DOUBLE_EQ(row.hvx.any, of.hvx_any / of.window);
      EXPECT_DOUBLE_EQ(row.hvx.mean, of.hvx_sum / of.window / 2);
      EXPECT_DOUBLE_EQ(row.hmx.any, of.hmx / of.window);
      EXPECT_DOUBLE_EQ(row.dma.any, of.dma / of.window);
      EXPECT_NEAR(row.without_event, of.none / of.window, 1e-12);
    }
  }
}

TEST(OpWindows, Bounds) {
  Windows made;
  made.window("on_hmx", 0, 100);
  made.add(made.hmx, "on_hmx", "HMX_COMP", 10, 95);
  made.window("converts", 100, 200);
  made.add(made.hvx[0], "converts", "HVX_W_DEQUANT", 100, 190);
  made.window("reads", 200, 300, 9'000);
  made.add(made.hvx[0], "reads", "HVX_COMP", 200, 299);
  made.add(made.dma, "reads", "DMA", 200, 270, SpanKind::transfer);
  made.window("empty", 300, 400);
  made.add(made.hvx[0], "empty", "HVX_COMP", 300, 310);
  made.window("on_hvx", 400, 500, 900);
  made.add(made.hvx[0], "on_hvx", "HVX_COMP", 400, 485);
  made.window("lost", 500, 600, -1, SpanKind::op);
  made.window("not_in_flight", 600, 700, 9'000);
  made.add(made.hvx[0], "not_in_flight", "HVX_COMP", 600, 679);
  Measure best{};
  best.meaning = NamedNumber("best", NumberQuantity::rate, NumberRole::best_ddr_rate).meaning;
  best.value = 100e9;
  made.profile.measures.push_back(best);
  const OpWindows found = made.found();
  const auto bound_of = [&](std::string_view label) {
    const auto row = std::ranges::find(found.rows, label, &OpWindow::label);
    return row != found.rows.end() ? row->bound : WindowBound::mixed;
  };
  EXPECT_EQ(bound_of("on_hmx"), WindowBound::hmx);
  EXPECT_EQ(bound_of("converts"), WindowBound::conversion);
  EXPECT_EQ(bound_of("reads"), WindowBound::ddr);
  EXPECT_EQ(bound_of("empty"), WindowBound::dispatch);
  EXPECT_EQ(bound_of("on_hvx"), WindowBound::hvx);
  EXPECT_EQ(bound_of("lost"), WindowBound::unknown);
  EXPECT_EQ(bound_of("not_in_flight"), WindowBound::mixed);
  const auto lost = std::ranges::find(found.rows, "lost", &OpWindow::label);
  EXPECT_TRUE(lost->is_partial);
}

// 90 bytes a tick of a log whose fastest read is 100.
TEST(OpWindows, APeakCountsBeforeTheFastestRead) {
  Windows made;
  made.window("reads", 0, 100, 9'000);
  made.add(made.hvx[0], "reads", "HVX_COMP", 0, 50);
  made.add(made.dma, "reads", "DMA", 5, 75, SpanKind::transfer);
  Measure best{};
  best.meaning = NamedNumber("best", NumberQuantity::rate, NumberRole::best_ddr_rate).meaning;
  best.value = 100e9;
  made.profile.measures.push_back(best);
  made.profile.spans.measures = {made.windows, made.bytes};
  const Analysis analysis(made.profile);
  using Rate = std::optional<double>;
  const auto bound_at = [&](Rate of_chip, Rate of_core) {
    Peaks peaks;
    peaks.ddr_bytes_per_s = of_chip;
    peaks.ddr_bytes_per_s_per_core = of_core;
    return find_op_windows(analysis, peaks).rows.at(0).bound;
  };
  EXPECT_EQ(bound_at({}, {}), WindowBound::ddr);
  EXPECT_EQ(bound_at(130e9, {}), WindowBound::ddr);  // 69 %
  EXPECT_EQ(bound_at(200e9, {}), WindowBound::mixed);
  EXPECT_EQ(bound_at(200e9, 110e9), WindowBound::ddr);
}

// A counter of the window's cycles, next to transfers in flight for longer.
TEST(OpWindows, TheDmaEngineIsNotWhatIsInFlight) {
  Windows made;
  made.window("idle_engine", 0, 100);
  made.add(made.dma, "idle_engine", "DMA", 10, 90, SpanKind::transfer);
  made.window("busy_engine", 100, 200);
  made.add(made.hvx[0], "busy_engine", "HVX_COMP", 100, 190);
  MeasureColumn cycles;
  cycles.meaning = NamedNumber("dma", NumberQuantity::count, NumberRole::dma_cycles).meaning;
  constexpr std::int64_t none = MeasureColumn::missing;
  for (const std::int64_t value : {std::int64_t{16}, none, std::int64_t{170}, none}) {
    cycles.values.push_back(value);
    made.profile.spans.processor_cycles.push_back(200);
  }
  made.profile.spans.measures = {made.windows, made.bytes, cycles};
  const OpWindows found = find_op_windows(Analysis(made.profile));
  ASSERT_EQ(found.rows.size(), 2u);
  for (const OpWindow& row : found.rows) {
    const bool is_busy = row.label == "busy_engine";
    EXPECT_DOUBLE_EQ(row.dma_engine.value_or(-1), is_busy ? 0.85 : 0.08);
    EXPECT_DOUBLE_EQ(row.dma.any, is_busy ? 0 : 0.8);
    EXPECT_EQ(row.bound, is_busy ? WindowBound::ddr : WindowBound::mixed);
  }
}

// Of attention bytes are at most, because its cache is padded.
TEST(OpWindows, MoreBytesThanTheLogEverReadsAreNoRate) {
  Windows made;
  made.window("weights", 0, 100, 10'000);
  made.window("attention", 100, 200, 12'400);
  made.window("padded", 200, 300, 12'600);
  Measure best{};
  best.meaning = NamedNumber("best", NumberQuantity::rate, NumberRole::best_ddr_rate).meaning;
  best.value = 100e9;
  made.profile.measures.push_back(best);
  for (const OpWindow& row : made.found().rows) {
    const bool is_possible = row.label != "padded";
    EXPECT_EQ(row.bytes_per_s.has_value(), is_possible) << row.label;
    EXPECT_EQ(row.bound, is_possible ? WindowBound::ddr : WindowBound::unknown) << row.label;
  }
}

}  // namespace
}  // namespace npuscope::analysis::op_windows_test
