// Bytes of every op and every unit against what the program asked for, over programs of many
// shapes, several cores and inferences, as both emitters write them.
#include <gtest/gtest.h>

#include <algorithm>

#include "flow/generated_run.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/imbalance.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::bytes_test {
namespace {

using analysis::OpTraffic;
using analysis::Route;

bool ends_statistics(const qaic::Task& task) { return (task.flags & qaic::task_end_stats) != 0; }

// What ops tell: the statistics themselves are no op's output.
std::int64_t asked_of(const qaic::Task& task, Route route) {
  if (ends_statistics(task)) return 0;
  switch (route) {
    case Route::ddr_read: return std::int64_t(task.ddr_read);
    case Route::ddr_write: return std::int64_t(task.ddr_write);
    case Route::multicast: return std::int64_t(task.multicast);
    default: return 0;
  }
}

std::vector<std::int64_t> bytes_by_task(const GeneratedRun& run, const Profile& profile,
                                        const OpTraffic& traffic, Route route) {
  std::vector<std::int64_t> bytes(run.program.tasks.size(), 0);
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::size_t op = index_of(profile.spans.op[row]);
    const std::int64_t moved = traffic.of_span(route, row);
    if (op < run.task_of.size() && run.task_of[op] != GeneratedRun::no_task) {
      bytes[run.task_of[op]] += moved;
    } else {
      EXPECT_EQ(moved, 0);
    }
  }
  return bytes;
}

// Every table that adds up bytes of spans.
void expect_sums(const Profile& profile, const OpTraffic& traffic, Route route,
                 std::int64_t expected) {
  EXPECT_EQ(traffic.total(route).of_ops.value_or(0), expected);
  std::int64_t of_rows = 0, in_buckets = 0;
  for (const auto& row : analysis::Analysis(profile).memory().rows) {
    of_rows += at(row.bytes, route).value_or(0);
  }
  EXPECT_EQ(of_rows, expected);
  const auto series = analysis::Analysis(profile).bandwidth(33);
  for (const std::int64_t bytes : series.bytes[std::size_t(route)]) in_buckets += bytes;
  EXPECT_EQ(in_buckets, expected);
}

void expect_counters_of_cores(const GeneratedRun& run, const Profile& profile) {
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> asked, told;
  for (std::uint32_t i = 0; i < run.program.tasks.size(); ++i) {
    const qaic::Task& task = run.program.tasks[i];
    asked[{run.core_of(i), "ddr read bytes"}] += std::int64_t(task.ddr_read);
    asked[{run.core_of(i), "ddr write bytes"}] += std::int64_t(task.ddr_write);
  }
  for (const Measure& measure : profile.measures) {
    const std::string what(profile.text(measure.what));
    if (measure.subject != Measure::Subject::unit || !what.starts_with("ddr ")) continue;
    told[{profile.units[measure.subject_id].core, what}] += std::int64_t(measure.value);
  }
  EXPECT_EQ(told, asked);
}

TEST(Bytes, ImbalanceOfCoresIsThatOfTheProgram) {
  const GeneratedRun run =
      device_run({.seed = 5, .cores = 3, .tasks = 200}, npu::nsp::realistic_target());
  std::vector<double> asked(run.program.cores, 0);
  for (std::uint32_t i = 0; i < run.program.tasks.size(); ++i) {
    const qaic::Task& task = run.program.tasks[i];
    asked[run.core_of(i)] += double(task.ddr_read + task.ddr_write);
  }
  const Profile& profile = run.profiles.at(0);
  std::size_t seen = 0;
  const analysis::Analysis analysed(profile);
  for (const auto& row : analysed.imbalance()) {
    if (row.what != "DDR bytes" || row.parts != "cores") continue;
    EXPECT_EQ(row.members, 3u);
    EXPECT_EQ(row.max, *std::max_element(asked.begin(), asked.end()));
    EXPECT_EQ(row.min, *std::min_element(asked.begin(), asked.end()));
    EXPECT_DOUBLE_EQ(row.mean, (asked[0] + asked[1] + asked[2]) / 3);
    seen += 1;
  }
  EXPECT_EQ(seen, 1u);
}

TEST(Bytes, OfOpsAndCoresAreTheProgramsInStatisticsBuffers) {
  std::int64_t seen[analysis::route_count] = {};
  for (const Shape shape : all_shapes) {
    for (std::uint32_t cores = 1; cores <= 4; ++cores) {
      const GeneratedRun run = device_run({.seed = cores + 100 * std::uint64_t(shape),
                                           .cores = cores,
                                           .tasks = 70 * cores,
                                           .shape = shape,
                                           .inferences = 2},
                                          npu::nsp::realistic_target());
      for (const Profile& profile : run.profiles) {
        SCOPED_TRACE(fmt::format("shape {}, {} cores", int(shape), cores));
        const OpTraffic traffic(profile);
        for (const Route route : {Route::ddr_read, Route::ddr_write, Route::multicast}) {
          const auto bytes = bytes_by_task(run, profile, traffic, route);
          std::int64_t all = 0;
          for (std::uint32_t task = 0; task < bytes.size(); ++task) {
            ASSERT_EQ(bytes[task], asked_of(run.program.tasks[task], route)) << task;
            all += bytes[task];
          }
          expect_sums(profile, traffic, route, all);
          seen[std::size_t(route)] += all;
        }
        expect_counters_of_cores(run, profile);
      }
    }
  }
  for (const Route route : {Route::ddr_read, Route::ddr_write, Route::multicast}) {
    EXPECT_GT(seen[std::size_t(route)], 0) << name_of(route);
  }
}

// An op of the HVX is shared by its threads, the first of which has what is left over.
std::int64_t share_of(std::int64_t bytes, std::uint32_t thread, std::uint32_t threads) {
  return bytes / threads + (thread == 0 ? bytes % threads : 0);
}

std::map<std::uint32_t, analysis::Traffic> asked_of_lanes(const GeneratedRun& run) {
  std::map<std::uint32_t, analysis::Traffic> lanes;
  const std::uint32_t threads = run.program.hvx_threads;
  for (std::uint32_t i = 0; i < run.program.tasks.size(); ++i) {
    const qaic::Task& task = run.program.tasks[i];
    const bool hvx = run.group_of(i) == qaic::ThreadGroup::hvx;
    for (std::uint32_t thread = 0; thread < (hvx ? threads : 1); ++thread) {
      analysis::Traffic& lane = lanes[hvx ? 512 + thread : 256];
      const auto add = [&](Route route, std::uint64_t bytes) {
        auto& sum = lane.of(route);
        sum = sum.value_or(0) + double(share_of(std::int64_t(bytes), thread, hvx ? threads : 1));
      };
      add(Route::ddr_read, task.ddr_read);
      add(Route::ddr_write, task.ddr_write);
    }
  }
  return lanes;
}

TEST(Bytes, OfOpsAndLanesAreTheProgramsInOptraces) {
  std::int64_t seen = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(fmt::format("shape {}, seed {}", int(shape), seed));
      const GeneratedRun run = optrace_run({.seed = seed, .tasks = 90, .shape = shape},
                                           *npu::nsp::builtin_target("htp-v75"));
      const Profile& profile = run.profiles.at(0);
      const OpTraffic traffic(profile);
      for (const Route route : {Route::ddr_read, Route::ddr_write}) {
        const auto bytes = bytes_by_task(run, profile, traffic, route);
        std::int64_t all = 0;
        for (std::uint32_t i = 0; i < bytes.size(); ++i) {
          const qaic::Task& task = run.program.tasks[i];
          ASSERT_EQ(bytes[i],
                    std::int64_t(route == Route::ddr_read ? task.ddr_read : task.ddr_write));
          all += bytes[i];
        }
        expect_sums(profile, traffic, route, all);
        EXPECT_EQ(traffic.total(route).told, all);
        seen += all;
      }
      const auto table = analysis::Analysis(profile).units();
      const auto lanes = asked_of_lanes(run);
      EXPECT_EQ(table.units.size(), lanes.size());
      for (const analysis::UnitRow& row : table.units) {
        const analysis::Traffic& asked = lanes.at(profile.units[index_of(row.unit)].lane);
        for (const Route route : {Route::ddr_read, Route::ddr_write}) {
          EXPECT_EQ(row.traffic.of(route), asked.of(route));
        }
      }
    }
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace npuscope::bytes_test
