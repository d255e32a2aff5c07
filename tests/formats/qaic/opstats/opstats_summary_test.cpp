#include "formats/qaic/opstats/opstats_summary.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic::opstats_summary_test {
namespace {

using test_support::make_random_case;
using test_support::RandomCase;
using ::testing::HasSubstr;

std::string real_summary() {
  std::ifstream in(NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.opstats.summary.txt");
  return {std::istreambuf_iterator<char>(in), {}};
}

OpstatsSummary parsed(const std::string& text) {
  auto summary = parse_summary(text, "summary.txt");
  EXPECT_TRUE(summary) << summary.error().message;
  return summary ? std::move(*summary) : OpstatsSummary{};
}

OpstatsSummary summary_of(const RandomCase& random) {
  const auto network = StatsNetwork::create(random.descriptor, &random.program);
  const auto profile = decode_stats_buffer(random.bytes(), "buffer.bin", *network);
  EXPECT_TRUE(profile) << profile.error().message;
  return summarise(*profile);
}

std::string printf_text(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The words of a line; the operator details are cut off before.
std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(OpstatsSummary, TheVendorsFileComesBackByteForByte) {
  const std::string text = real_summary();
  ASSERT_GT(text.size(), 10000u);
  const OpstatsSummary summary = parsed(text);
  EXPECT_THAT(summary.unread, ::testing::IsEmpty());
  EXPECT_EQ(print_summary(summary), text);
}

TEST(OpstatsSummary, TheVendorsFileIsReadWhole) {
  const OpstatsSummary summary = parsed(real_summary());
  ASSERT_EQ(summary.cores.size(), 2u);
  EXPECT_EQ(summary.cores[0].rows.size() + summary.cores[1].rows.size(), 64u);
  EXPECT_EQ(summary.network, "QAicGraph");
  EXPECT_EQ(summary.batch_size, 8u);
  for (const OpstatsCore& core : summary.cores) {
    EXPECT_EQ(core.threads.size(), 6u);
    EXPECT_EQ(core.batches.size(), 6u);
    EXPECT_EQ(core.ports.size(), 12u);
    EXPECT_EQ(core.activations.size(), 6u);
  }
  const OpstatsRow& erf = summary.cores[0].rows[6];
  EXPECT_EQ(erf.kind, "elementerf");
  EXPECT_EQ(erf.group, "HVX");
  EXPECT_EQ(erf.memory, "TCM");
  EXPECT_EQ(erf.types, "float16");
  EXPECT_EQ(erf.count, 72u);
}

// Every derived column of every row of the real file, recomputed from the counted columns here and
// compared with the file's own text: a second opinion beside the printer.
TEST(OpstatsSummary, DerivedColumnsOfTheRealRowsFollowFromTheCountedOnes) {
  std::istringstream lines(real_summary());
  std::map<std::string, std::pair<double, double>> total{{"c0", {444672, 28559104}},
                                                         {"c1", {444413, 28793610}}};
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("c0 ") && !line.starts_with("c1 ")) continue;
    const auto word = words(line);
    if (word.size() < 12 || word[2].back() != '%') continue;
    const auto [ucycles, pcycles] = total[word[0]];
    const double u = std::stod(word[1]);
    EXPECT_EQ(word[2], printf_text("%.2f%%", 100 * u / ucycles));
    rows += 1;
    if (word[3] == "N/A") continue;
    const double p = std::stod(word[3]);
    const double kilobytes = std::stod(word[6]);
    EXPECT_EQ(word[4], printf_text("%.2f%%", 100 * p / pcycles));
    EXPECT_EQ(word[7], printf_text("%.2f", u / kilobytes));
    EXPECT_EQ(word[8], printf_text("%.2f", p / kilobytes));
    if (word[5] == "1") {
      EXPECT_EQ(word[9], "0.00") << "one op has no spread";
    }
    if (word[5] == "2" && kilobytes == 2) {
      // Two ops of 1 KB each: sigma is half their difference, so both must be whole numbers.
      const double difference = 2 * std::stod(word[9]);
      EXPECT_EQ(std::fmod(p + difference, 2), 0) << line;
    }
  }
  EXPECT_EQ(rows, 64);
}

TEST(OpstatsSummary, UtilisationOfSingleThreadGroupsIsTheSumOfTheirRows) {
  for (const OpstatsCore& core : parsed(real_summary()).cores) {
    for (const OpstatsThread& thread : core.threads) {
      double sum = 0;
      for (const OpstatsRow& row : core.rows) {
        if (row.type == OpstatsRow::Type::op && row.group == thread.group) {
          sum += double(row.pcycles);
        }
      }
      const double percent = 100 * sum / double(thread.pcycles);
      if (thread.group == "HVX") {
        EXPECT_GE(percent, *thread.utilization) << "rows take the slowest of the four threads";
      } else {
        EXPECT_EQ(printf_text("%.2f", percent), printf_text("%.2f", *thread.utilization));
      }
    }
  }
}

TEST(OpstatsSummary, TotalsOfTheRealFile) {
  const OpstatsSummary summary = parsed(real_summary());
  EXPECT_EQ(summary.cores[0].ucycles(), 444672u);
  EXPECT_EQ(summary.cores[0].pcycles(), 28559104u);
  EXPECT_EQ(printf_text("%.6g", summary.cores[0].effective_megahertz(summary.utimer)), "1233.12");
  EXPECT_EQ(printf_text("%.6g", summary.cores[1].effective_megahertz(summary.utimer)), "1243.97");
  EXPECT_EQ(summary.begin(), 9803252406778u);
  EXPECT_EQ(summary.end(), 9803252851455u);
  EXPECT_EQ(summary.ucycles(), 444677u);
  EXPECT_EQ(printf_text("%.6g", summary.batches_per_second()), "43.1774");
  EXPECT_EQ(printf_text("%.6g", summary.inferences_per_second()), "345.419");
  EXPECT_EQ(summary.longest_wait(100), 30711u);
  EXPECT_EQ(summary.longest_wait(101), 2u);
}

// The slow twin of summarise(): straight from the records, a row at a time.
OpstatsRow row_by_hand(const RandomCase& random, std::uint32_t core, const OpstatsRow& like) {
  OpstatsRow row;
  std::vector<double> per_kilobyte;
  for (std::uint32_t group = 0; group < 3; ++group) {
    if (random.descriptor.thread_group_names[group] != like.group) continue;
    const StringPool& texts = random.descriptor.stats.texts;
    const auto& listed = random.descriptor.stats.ops[core][group];
    for (std::size_t position = 0; position < listed.size(); ++position) {
      const OpNameKind& op = listed[position];
      std::uint64_t u = 0, p = 0, sync = 0, barrier = 0;
      bool synced = false, barriered = false;
      for (std::uint32_t thread = 0; thread < 6; ++thread) {
        if (random.descriptor.thread_groups[thread] != group) continue;
        const StatsOp& record = random.buffer.ops[core * 6 + thread][position];
        u = std::max<std::uint64_t>({u, record.kernel_ticks, record.transfer_ticks});
        p = std::max<std::uint64_t>(p, record.cycles);
        sync = std::max<std::uint64_t>(sync, record.sync_ticks);
        barrier = std::max<std::uint64_t>(barrier, record.barrier_ticks);
        synced |= (record.position_and_flags & StatsOp::synced) != 0;
        barriered |= (record.position_and_flags & StatsOp::barriered) != 0;
      }
      if (like.type == OpstatsRow::Type::sync && synced) row.count += 1, row.ucycles += sync;
      if (like.type == OpstatsRow::Type::barrier && barriered) {
        row.count += 1, row.ucycles += barrier;
      }
      if (like.type != OpstatsRow::Type::op || texts[op.kind] != like.kind ||
          texts[op.memory] != like.memory || texts[op.type] != like.types) {
        continue;
      }
      row.count += 1;
      row.ucycles += u;
      row.pcycles += p;
      const double kilobytes = double(op.output_size) / 1024;
      row.output_kilobytes += kilobytes;
      if (kilobytes > 0) per_kilobyte.push_back(double(p) / kilobytes);
    }
  }
  double mean = 0, squares = 0;
  for (const double value : per_kilobyte) mean += value / double(per_kilobyte.size());
  for (const double value : per_kilobyte) squares += (value - mean) * (value - mean);
  if (!per_kilobyte.empty()) {
    row.stddev_per_kilobyte = std::sqrt(squares / double(per_kilobyte.size()));
  }
  return row;
}

TEST(OpstatsSummary, RowsAgreeWithTheRecords) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto random = make_random_case({.seed = seed, .cores = 3, .ops_per_group = 40});
    const OpstatsSummary summary = summary_of(random);
    std::map<std::uint32_t, std::uint64_t> ops_of_core;
    for (const OpstatsCore& core : summary.cores) {
      for (const OpstatsRow& row : core.rows) {
        const OpstatsRow expected = row_by_hand(random, core.core, row);
        EXPECT_EQ(row.count, expected.count) << row.details();
        EXPECT_EQ(row.ucycles, expected.ucycles) << row.details();
        EXPECT_EQ(row.pcycles, expected.pcycles) << row.details();
        EXPECT_EQ(row.output_kilobytes, expected.output_kilobytes) << row.details();
        EXPECT_NEAR(row.stddev_per_kilobyte, expected.stddev_per_kilobyte,
                    1e-9 * (1 + expected.stddev_per_kilobyte))
            << row.details();
        if (row.type == OpstatsRow::Type::op) ops_of_core[core.core] += row.count;
      }
      EXPECT_EQ(ops_of_core[core.core], 3u * 40) << "no op is counted twice or lost";
      EXPECT_TRUE(std::is_sorted(core.rows.begin(), core.rows.end(),
                                 [](auto& a, auto& b) { return a.ucycles > b.ucycles; }));
    }
  }
}

TEST(OpstatsSummary, UtilisationIsTheThreadsOwnOps) {
  const auto random = make_random_case({.seed = 9});
  const OpstatsSummary summary = summary_of(random);
  for (const OpstatsCore& core : summary.cores) {
    for (const OpstatsThread& thread : core.threads) {
      double cycles = 0;
      for (const StatsOp& op : random.buffer.ops[core.core * 6 + thread.thread]) {
        cycles += op.cycles;
      }
      const StatsThread& whole = random.buffer.threads[core.core * 6 + thread.thread];
      EXPECT_DOUBLE_EQ(*thread.utilization,
                       100 * cycles / double(whole.end_cycles - whole.begin_cycles));
    }
  }
}

TEST(OpstatsSummary, WhatIsPrintedReadsBackTheSame) {
  for (const std::uint32_t level : {40u, 50u, 70u, 100u}) {
    const auto random = make_random_case(
        {.seed = level, .cores = 12, .stats_level = level, .pmu_counters = 2, .ddr_stats = true});
    const std::string text = print_summary(summary_of(random));
    const OpstatsSummary again = parsed(text);
    EXPECT_THAT(again.unread, ::testing::IsEmpty());
    EXPECT_EQ(print_summary(again), text) << "level " << level;
  }
}

TEST(OpstatsSummary, BelowLevel70UtilisationIsUnknownNotZero) {
  const std::string text = print_summary(summary_of(make_random_case({.stats_level = 40})));
  EXPECT_THAT(text, HasSubstr("     N/A utilization\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("Host_IO_Port")));
}

TEST(OpstatsSummary, NegativeMeasuresWereCastToUnsignedCounts) {
  const RandomCase random = make_random_case({.seed = 9});
  const auto network = StatsNetwork::create(random.descriptor, &random.program);
  auto profile = decode_stats_buffer(random.bytes(), "buffer.bin", *network);
  ASSERT_TRUE(profile);
  for (Measure& row : profile->measures) {
    if (row.subject == Measure::Subject::unit) row.value = -5;
  }
  std::size_t ports = 0;
  for (const OpstatsCore& core : summarise(*profile).cores) {
    for (const OpstatsPort& port : core.ports) EXPECT_EQ(port.ucycles, 0u);
    for (const OpstatsPmu& pmu : core.pmu) EXPECT_EQ(pmu.count, 0u);
    ports += core.ports.size();
  }
  EXPECT_GT(ports, 0u);
}

TEST(OpstatsSummary, NamesCannotBreakLines) {
  auto random = make_random_case({.network = "evil\nc0 total: 1\x1b[31m"});
  const std::string text = print_summary(summary_of(random));
  EXPECT_THAT(text, HasSubstr("[evil\\x0ac0 total: 1\\x1b[31m] Device instance"));
}

TEST(OpstatsSummary, BrokenTextIsRefusedWithItsLine) {
  const auto refuse = [](const std::string& text) {
    const auto summary = parse_summary(text, "s.txt");
    return summary ? std::string("accepted") : summary.error().message;
  };
  const std::string head = "\ncore  ucycles  ucycles(%)     pcycles\n";
  EXPECT_EQ(refuse(""), "s.txt: has no table of operators; it is not a statistics summary");
  EXPECT_THAT(refuse(head + "c0  12  x\n"), HasSubstr("s.txt: line 3 is broken: 'c0  12  x'"));
  EXPECT_THAT(refuse(head + "c0: Total inference pcycle is many\n"), HasSubstr("line 3 is broken"));
  EXPECT_THAT(refuse(head + "c00t0p99999999999 Host_IO_Port ucycles: 1\n"),
              HasSubstr("line 3 is broken"));
  EXPECT_THAT(refuse(head + "c0: Total inference pcycle is 7\nc1: Total inference pcycle is 8\n"),
              HasSubstr("line 4 is broken"))
      << "another core's figures would have joined this one's";
  EXPECT_THAT(refuse(head + "c00t0 batch ucycles: 5 [9,4]    pcycles: 1 \n"),
              HasSubstr("line 3 is broken"))
      << "it ends before it begins";
  EXPECT_EQ(parse_summary(head + "PCI DMA Op Kind Summary\n", "s.txt")->unread,
            std::vector<std::string>{"PCI DMA Op Kind Summary"});
}

TEST(OpstatsSummary, AnyPrefixAndAnyDamagedByteOfTheRealFileIsSurvived) {
  const std::string text = real_summary();
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const auto summary = parse_summary(std::string_view(text).substr(0, size), "prefix");
    if (summary) print_summary(*summary);
  }
  for (std::size_t i = 0; i < text.size(); i += 3) {
    auto damaged = text;
    damaged[i] = char(damaged[i] ^ (1 << (i % 7)));
    const auto summary = parse_summary(damaged, "damaged");
    if (summary) print_summary(*summary);
  }
}

}  // namespace
}  // namespace npuscope::qaic::opstats_summary_test
