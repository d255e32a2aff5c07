#include "formats/torq/overview.hpp"

#include <gmock/gmock.h>

#include <random>

#include "formats/perfetto/read/read.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/trace.hpp"
#include "formats/torq/whole_trace.hpp"

namespace npuscope::torq::overview_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Metric = OverviewMetric;

Overview of_run(const std::string& log_path, const std::string& debug_path) {
  const auto source = open_byte_source(fs::path(log_path));
  const auto debug = load_debug_info(fs::path(debug_path));
  EXPECT_TRUE(source && debug);
  const auto log = read_log(**source);
  EXPECT_TRUE(log);
  const auto annotation = annotate(*log, *debug);
  EXPECT_TRUE(annotation);
  Overview overview = make_overview(run_intervals(*annotation));
  overview.model = model_name(log_path);
  return overview;
}

std::string print(const Overview& overview, OverviewStyle style = OverviewStyle::documented) {
  return print_overview(std::span(&overview, 1), style);
}

TEST(Overview, OfALogWithDebugInformation) {
  EXPECT_EQ(print(of_run(data("runtime.csv"), data("debug_info"))), contents(data("overview.txt")));
}

// A run like the one of the vendor's documentation: 46 us of DMA alone, 407 us of everything at
// once, 6 us of nothing, 12,386 us of copying.
constexpr std::string_view documented_run =
    "action_id;job_id;operation;slice_used_0_in_program;slice_used_1_in_program;"
    "dma_in_used_in_program;dma_out_used_in_program;cdma_used_in_program;css_used_in_program;"
    "timestamp_start;timestamp_end;location\n"
    "0;;torq_hl.host_copy;;;;;;;1459.0;13845.0;loc(unknown)\n"
    "1;0.0;torq_hl.start_program;False;False;True;False;False;False;1000.0;1001.0;x\n"
    "2;0.0;torq_hl.wait_program;False;False;True;False;False;False;1001.0;1046.0;x\n"
    "3;1.0;torq_hl.start_program;True;True;True;True;False;False;1046.0;1047.0;x\n"
    "4;1.0;torq_hl.wait_program;True;True;True;True;False;False;1047.0;1453.0;x\n";

TEST(Overview, HasTheIdentitiesOfTheDocumentedOne) {
  const auto source = source_of(documented_run);
  const auto overview = read_annotated_overview(*source);
  ASSERT_TRUE(overview) << overview.error().message;
  EXPECT_EQ(overview->of(Metric::overall), 12'845'000);
  EXPECT_EQ(fmt::format("{:.2f}", percent_of_overall(*overview, Metric::dma_union)), "3.53");
  // Idle is OVERALL less the union of DMA, compute and host copies.
  EXPECT_EQ(*overview->of(Metric::idle), 12'845'000 - 453'000 - 12'386'000);
  EXPECT_EQ(*overview->of(Metric::dma_only) + *overview->of(Metric::overlap),
            *overview->of(Metric::dma_union));
}

TEST(Overview, PrintsTheDocumentedTextByteForByte) {
  if (!have_samples()) GTEST_SKIP();
  const auto source = source_of(documented_run);
  auto overview = read_annotated_overview(*source);
  ASSERT_TRUE(overview);
  overview->model = "conv2d_f4_s4_64x64x16_i16";
  overview->wall_time = "0.207";
  EXPECT_EQ(print(*overview), contents(sample("doc_sample_host_profile_overview.txt")));
}

// The blocks of the file, without the lines that say which they are.
std::string upstream_block(int number) {
  const std::string text = contents(sample("host_profile_overview_new.txt"));
  std::size_t at = 0;
  for (int i = 0; i <= number; ++i) at = text.find("  Model:", at + (i > 0));
  const std::size_t end = text.find("\n\n", at);
  return text.substr(at, end == text.npos ? end : end + 2 - at);
}

TEST(Overview, PrintsWhatTheVendorsToolsPrint) {
  if (!have_samples()) GTEST_SKIP();
  Overview run = of_run(sample("runtime_new.csv"), sample("debug_info"));
  run.model = "add-sim-default";
  run.wall_time = "0.207";
  EXPECT_EQ(print(run, OverviewStyle::metrics), upstream_block(0));

  const auto source = open_byte_source(fs::path(sample("annotated_new.pb")));
  ASSERT_TRUE(source);
  const auto trace = perfetto::read_profile(**source);
  ASSERT_TRUE(trace);
  auto scraped = read_trace_overview(*trace);
  ASSERT_TRUE(scraped) << scraped.error().message;
  scraped->model = "add-sim-default";
  scraped->wall_time = "1.234";
  std::string expected = upstream_block(1);
  while (!expected.ends_with("\n\n")) expected += '\n';
  EXPECT_EQ(print(*scraped, OverviewStyle::scrape), expected);
}

// Log, table and trace of one run say the same.
TEST(Overview, IsTheSameFromEveryFormOfARun) {
  const Overview run = of_run(data("runtime.csv"), data("debug_info"));
  const std::string text = contents(data("annotated.csv"));
  const auto table = source_of(text);
  auto from_table = read_annotated_overview(*table);
  ASSERT_TRUE(from_table);
  EXPECT_EQ(from_table->nanoseconds, run.nanoseconds);

  const auto source = open_byte_source(fs::path(data("runtime.csv")));
  const auto log = read_log(**source);
  const auto debug = load_debug_info(fs::path(data("debug_info")));
  const auto annotation = annotate(*log, *debug);
  ASSERT_TRUE(annotation);
  const auto from_trace = read_trace_overview(test::whole_trace(*annotation, compile_clock_mhz));
  ASSERT_TRUE(from_trace) << from_trace.error().message;
  for (const OverviewRow& row : rows_of(run, OverviewStyle::documented)) {
    EXPECT_EQ(from_trace->of(row.metric), run.of(row.metric)) << row.label;
  }
}

TEST(Overview, WithoutDebugInformationSaysWhatIsKnown) {
  const auto source = open_byte_source(fs::path(data("runtime.csv")));
  const auto log = read_log(**source);
  ASSERT_TRUE(log);
  const Overview overview = make_overview(run_intervals(make_profile(*log)));
  std::string labels;
  for (const OverviewRow& row : rows_of(overview, OverviewStyle::documented)) {
    labels += fmt::format("{} {}, ", row.label, *overview.of(row.metric));
  }
  EXPECT_EQ(labels, "Nss Programs 79000, Idle 900000, Hal 162000, Host 23000, Host Copy 30000, ");
}

// Every metric again, counted nanosecond by nanosecond.
TEST(Overview, AgreesWithCounting) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    RunIntervals run;
    const auto interval = [&] {
      const std::int64_t begin = random() % 60;
      return Interval{begin, begin + std::int64_t(random() % 12)};
    };
    for (unsigned i = 0; i < random() % 6; ++i) {
      run.add(interval(), doing(Doing::program) | (random() & (doing(Doing::program) - 1)));
    }
    for (const Doing what : {Doing::hal, Doing::host, Doing::host_copy}) {
      for (unsigned i = 0; i < random() % 3; ++i) run.add(interval(), doing(what));
    }
    const bool is_part = round % 3 == 0;
    if (is_part) run.seen = union_of({interval(), interval()});
    std::array<std::int64_t, overview_metric_count> counted{};
    const auto in_any = [](const std::vector<Interval>& list, std::int64_t t) {
      return std::any_of(list.begin(), list.end(),
                         [&](const Interval& each) { return each.begin <= t && t < each.end; });
    };
    // From the first begin to the last end of parts that do any of it; of a partial run, of what
    // was seen of them.
    const auto extent = [&](std::uint32_t any) {
      std::int64_t first = 1000, last = -1;
      for (const RunPart& each : run.parts) {
        if ((each.doing & any) == 0) continue;
        for (std::int64_t t = each.at.begin; t <= each.at.end; ++t) {
          const bool is_seen = t < each.at.end && is_part && in_any(*run.seen, t);
          if (is_part && !is_seen) continue;
          first = std::min(first, t);
          last = std::max(last, is_part ? t + 1 : t);
        }
      }
      return last < 0 ? 0 : last - first;
    };
    constexpr std::uint32_t work =
        doing(Doing::program) | doing(Doing::host) | doing(Doing::host_copy);
    std::int64_t bare = 0, busy = 0, seen = 0;
    for (std::int64_t t = 0; t < 80; ++t) {
      if (is_part && !in_any(*run.seen, t)) continue;
      ++seen;
      std::uint32_t now = 0;
      for (const RunPart& each : run.parts) {
        if (each.at.begin <= t && t < each.at.end) now |= each.doing;
      }
      const auto does = [&](auto what) { return (now & doing(what)) != 0; };
      const bool dma = does(NpuUnit::dma_in) || does(NpuUnit::dma_out);
      const bool moves = dma || does(NpuUnit::cdma);
      const bool slice = does(NpuUnit::slice_0) || does(NpuUnit::slice_1);
      const bool computes = slice || does(NpuUnit::css);
      const bool host = does(Doing::host) || does(Doing::host_copy), hal = does(Doing::hal);
      const auto count = [&](Metric metric, bool yes) { counted[std::size_t(metric)] += yes; };
      count(Metric::dma, dma);
      count(Metric::dma_in, does(NpuUnit::dma_in));
      count(Metric::dma_union, moves);
      count(Metric::dma_only, moves && !computes);
      count(Metric::compute, computes);
      count(Metric::compute_only, computes && !moves);
      count(Metric::slice, slice);
      count(Metric::slice_1, does(NpuUnit::slice_1));
      count(Metric::css, does(NpuUnit::css));
      count(Metric::overlap, moves && computes);
      count(Metric::hal, hal);
      count(Metric::host, does(Doing::host));
      count(Metric::host_copy, does(Doing::host_copy));
      bare += host && !moves && !computes && !hal;
      busy += moves || computes || hal || host;
    }
    const Overview overview = make_overview(run);
    for (const Metric metric :
         {Metric::dma, Metric::dma_in, Metric::dma_union, Metric::dma_only, Metric::compute,
          Metric::compute_only, Metric::slice, Metric::slice_1, Metric::css, Metric::overlap,
          Metric::host, Metric::host_copy}) {
      EXPECT_EQ(overview.of(metric), counted[std::size_t(metric)]) << int(metric);
    }
    EXPECT_EQ(overview.of(Metric::hal).value_or(0), counted[std::size_t(Metric::hal)]);
    const std::int64_t overall = is_part ? seen : extent(work | doing(Doing::hal));
    EXPECT_EQ(overview.of(Metric::overall), overall);
    EXPECT_EQ(overview.of(Metric::idle), std::max<std::int64_t>(0, overall - busy));
    EXPECT_EQ(overview.of(Metric::npu_operations), std::max<std::int64_t>(0, extent(work) - bare));
  }
}

TEST(Overview, OfNothingIsZero) {
  const Overview overview = make_overview({});
  EXPECT_EQ(overview.of(Metric::overall), 0);
  EXPECT_EQ(percent_of_overall(overview, Metric::dma), 0);
  EXPECT_THAT(print(overview), HasSubstr("OVERALL                               0ns\n"));
}

TEST(Overview, NamesDurationsAndWallTimes) {
  EXPECT_EQ(duration_text(999'999'999), "1000.000ms");
  EXPECT_EQ(duration_text(1'500'000'000), "1.500s");
  EXPECT_EQ(duration_text(999), "999ns");
  EXPECT_EQ(model_name("dir/test_model[example-matmul].pb"), "example-matmul");
  EXPECT_EQ(model_name("x/resnet.csv.gz"), "resnet");
  Overview overview = make_overview({});
  for (const auto& [text, shown] :
       {std::pair{"1.5", "1.500s"}, {"0.0015\n", "1.500ms"}, {"real 0m1s", "real 0m1s"}}) {
    overview.wall_time = text;
    EXPECT_THAT(print(overview), HasSubstr(fmt::format("WALL_TIME {:>31}\n", shown)));
  }
}

TEST(Overview, OddTablesAreCountedOrRefused) {
  const auto read = [](std::string_view text) {
    const auto source = source_of(text);
    const auto overview = read_annotated_overview(*source);
    return overview ? lines_of(overview->notes) : overview.error().message;
  };
  const std::string header = "job_id;operation;timestamp_start;timestamp_end\n";
  EXPECT_THAT(read("operation;job_id\n"), HasSubstr("no column timestamp_start"));
  EXPECT_THAT(read(""), HasSubstr("is empty"));
  EXPECT_EQ(read(header + "1;torq_hl.host_copy\n;torq_hl.host_copy;9;5\n;x;y;z\n"),
            "rows with too few columns; left out\nrows that end before they begin; left out\n");
}

}  // namespace
}  // namespace npuscope::torq::overview_test
