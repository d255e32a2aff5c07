#include "formats/qaic/qpc/program.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <set>

#include "formats/qaic/damage.hpp"
#include "formats/qaic/qpc/sample_program.hpp"

namespace npuscope::qaic::program_test {
namespace {

using test::random_program;
using test::sample_program;
using testing::HasSubstr;

// Reads back what was written; the error's message, or "" when the program is sound.
std::string verdict(const Program& program) {
  const auto read = read_program(write_program(program), "p.bin");
  return read ? "" : read.error().message;
}

std::string verdict_after(const std::function<void(Program&)>& change) {
  Program program = sample_program();
  change(program);
  return verdict(program);
}

TEST(Program, IsReadBackAsWritten) {
  const Program program = sample_program();
  const auto bytes = write_program(program);
  const auto read = read_program(bytes, "p.bin");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->network_name, "QAicGraph");
  EXPECT_EQ(read->kernels, program.kernels);
  EXPECT_EQ(read->pmu_events, program.pmu_events);
  EXPECT_EQ(read->queue_begin, program.queue_begin);
  EXPECT_EQ(read->input_bytes, 1000u);
  EXPECT_TRUE(read->ddr_stats);
  EXPECT_EQ(read->tasks[3].ddr_read, 512u);
  EXPECT_EQ(read->dependencies[1].kind, 1u);
  EXPECT_EQ(write_program(*read), bytes);
  EXPECT_EQ(fingerprint(*read), fingerprint(program));
}

TEST(Program, FingerprintIsTheSameInEveryRelease) {
  // A statistics buffer recorded with one release is decoded with the next.
  EXPECT_EQ(fingerprint(sample_program()), 1542343252667578328u);
}

TEST(Program, FingerprintDependsOnEveryField) {
  const std::vector<std::function<void(Program&)>> changes{
      [](Program& p) { p.network_name = "Other"; },
      [](Program& p) { p.cores = 2; },
      [](Program& p) { p.hvx_threads = 3; },
      [](Program& p) { p.batch_size = 2; },
      [](Program& p) { p.input_bytes = 1; },
      [](Program& p) { p.output_bytes = 1; },
      [](Program& p) { p.retained_bytes = 1; },
      [](Program& p) { p.hoisted_bytes = {1}; },
      [](Program& p) { p.hoisted_bytes = {2}; },
      [](Program& p) { p.stats_level = 100; },
      [](Program& p) { p.stats_batch_size = 2; },
      [](Program& p) { p.ddr_stats = false; },
      [](Program& p) { p.pmu_events = {0x3F}; },
      [](Program& p) { p.kernels[0] += "x"; },
      [](Program& p) { p.queue_begin[1] = 1; },
      [](Program& p) { p.tasks[0].cycles = 1; },
      [](Program& p) { p.tasks[0].macs = 1; },
      [](Program& p) { p.waits[0].count = 0; },
      [](Program& p) { p.dependencies[0].kind = 1; },
      // The same characters, cut elsewhere.
      [](Program& p) {
        p.kernels = {"aic", "converttod32", "aicsoftmax",
                     "aicconvolutiond32"
                     "aiccopytovtcm"};
      },
  };
  std::set<std::uint64_t> seen{fingerprint(sample_program())};
  for (const auto& change : changes) {
    Program program = sample_program();
    change(program);
    EXPECT_TRUE(seen.insert(fingerprint(program)).second) << "change " << seen.size();
  }
}

TEST(Program, WithSenselessIdentityIsRefused) {
  EXPECT_EQ(verdict_after([](Program& p) { p.cores = 65; }),
            "p.bin: program for 65 cores; 1 to 64 are possible");
  EXPECT_THAT(verdict_after([](Program& p) { p.cores = 0; }), HasSubstr("for 0 cores"));
  EXPECT_THAT(verdict_after([](Program& p) { p.hvx_threads = 17; }), HasSubstr("17 HVX threads"));
  EXPECT_THAT(verdict_after([](Program& p) { p.batch_size = 0; }), HasSubstr("batch size 0"));
  EXPECT_THAT(verdict_after([](Program& p) { p.pmu_events.resize(9); }), HasSubstr("9 PMU events"));
  EXPECT_THAT(verdict_after([](Program& p) { p.input_bytes = ~std::uint64_t{0}; }),
              HasSubstr("host link"));
}

TEST(Program, KeepsConstantsOfEveryCoreOrNone) {
  Program program = sample_program();
  program.hoisted_bytes.assign(program.cores, 1000);
  const auto read = read_program(write_program(program), "p.bin");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->hoisted_bytes, program.hoisted_bytes);
  EXPECT_THAT(verdict_after([](Program& p) { p.hoisted_bytes.assign(p.cores + 1, 1); }),
              HasSubstr("what they keep in VTCM"));
  EXPECT_THAT(verdict_after([](Program& p) { p.hoisted_bytes.assign(p.cores, ~0ull); }),
              HasSubstr("more than any has"));
}

TEST(Program, NameCannotLeadOutOfTheOutputFolder) {
  EXPECT_THAT(verdict_after([](Program& p) { p.network_name = "../../etc/x"; }),
              HasSubstr("cannot be part of a file name"));
  EXPECT_THAT(verdict_after([](Program& p) { p.network_name = "a\n"; }),
              HasSubstr("cannot be part of a file name"));
  EXPECT_THAT(verdict_after([](Program& p) { p.network_name.assign(1000, 'x'); }),
              HasSubstr("cannot be part of a file name"));
}

TEST(Program, WithQueuesThatDoNotDivideTheTasksIsRefused) {
  const std::string expected = "p.bin: queue bounds do not divide the program's 4 tasks in order";
  EXPECT_EQ(verdict_after([](Program& p) { p.queue_begin = {0, 2, 3, 3}; }), expected);
  EXPECT_EQ(verdict_after([](Program& p) { p.queue_begin = {1, 2, 3, 4}; }), expected);
  EXPECT_EQ(verdict_after([](Program& p) { p.queue_begin = {0, 3, 2, 4}; }), expected);
  EXPECT_EQ(verdict_after([](Program& p) { p.queue_begin.pop_back(); }),
            "p.bin: program of 1 cores lists 3 queue bounds, expected 4");
}

TEST(Program, WithIndicesOutsideItsTablesIsRefused) {
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[2].kernel = 4; }),
            "p.bin: task 2 runs kernel 4 of 4");
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[2].wait_begin = 2; }),
            "p.bin: task 2 has waits 2 to 4 of 3");
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[1].wait_begin = 0xFFFFFFFF; }),
            "p.bin: task 1 has waits 4294967295 to 4294967296 of 3");
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[2].dependency_count = 9; }),
            "p.bin: task 2 has dependencies 1 to 10 of 3");
  EXPECT_EQ(verdict_after([](Program& p) { p.waits[0].queue = 3; }),
            "p.bin: wait 0 is for queue 3 of 3");
  EXPECT_EQ(verdict_after([](Program& p) { p.waits[0].count = 2; }),
            "p.bin: wait 0 is for 2 tasks of queue 1, which has 1");
  EXPECT_EQ(verdict_after([](Program& p) { p.dependencies[2].task = 4; }),
            "p.bin: dependency 2 is on task 4 of 4 with kind 0");
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[0].flags = 8; }),
            "p.bin: task 0 has flags 8, imbalance 0 %, 0 threads and port 0, which mean nothing");
  EXPECT_EQ(verdict_after([](Program& p) { p.tasks[2].flags = 16; }),
            "p.bin: task 2 has flags 16, imbalance 0 %, 0 threads and port 0, which mean nothing");
  EXPECT_NE(verdict_after([](Program& p) { p.tasks[0].threads = 99; }).find(", 99 threads and "),
            std::string::npos);
}

TEST(Program, HasProductsOfIntegersOnTheHmxAlone) {
  const auto verdict_with = [](std::size_t task) {
    return verdict_after([&](Program& p) { p.tasks[task].flags |= task_hmx_int8; });
  };
  EXPECT_NE(verdict_with(1), "");  // HVX
  EXPECT_EQ(verdict_with(2), "");
  EXPECT_NE(verdict_with(3), "");  // DMAIssue
}

TEST(Program, WithSumsThatOverflowIsRefused) {
  const std::uint64_t huge = std::uint64_t{1} << 63;
  const std::string expected =
      "p.bin: cycles, bytes, waits or dependencies of the tasks up to 3 add up to more than a "
      "program can have; it is damaged";
  EXPECT_EQ(verdict_after([&](Program& p) { p.tasks[3].ddr_read = huge; }), expected);
  EXPECT_EQ(verdict_after([&](Program& p) { p.tasks[3].multicast = huge; }), expected);
  EXPECT_EQ(verdict_after([&](Program& p) { p.tasks[3].macs = huge; }), expected);
  // Tasks that share waits: a small file could ask for quadratic work.
  EXPECT_EQ(verdict_after([&](Program& p) { p.tasks[3].wait_count = 1; }), expected);
}

TEST(Program, ThatDeadlocksIsRefused) {
  EXPECT_EQ(verdict_after([](Program& p) {
              p.waits[1] = {0, 2};
            }),
            "p.bin: task 1 (core 0, HVX) waits for 1 tasks of queue 1, of which only 0 can ever "
            "complete: the program deadlocks");
}

TEST(Program, WithDependenciesThatNoWaitEnforcesIsRefused) {
  EXPECT_EQ(verdict_after([](Program& p) { p.waits[2].count = 0; }),
            "p.bin: task 2 depends on task 3 but no wait makes it come later");
}

// The obvious way: look at every queue again until nothing moves.
bool can_complete(const Program& program) {
  std::vector<std::uint32_t> completed(program.queues());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      const std::uint32_t index = program.queue_begin[queue] + completed[queue];
      if (index == program.queue_begin[queue + 1]) continue;
      const Task& task = program.tasks[index];
      bool holds = true;
      for (std::uint32_t i = 0; i < task.wait_count; ++i) {
        const Wait& wait = program.waits[task.wait_begin + i];
        holds = holds && completed[wait.queue] >= wait.count;
      }
      if (holds) ++completed[queue];
      moved = moved || holds;
    }
  }
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    if (program.queue_begin[queue] + completed[queue] < program.queue_begin[queue + 1])
      return false;
  }
  return true;
}

TEST(Program, RandomProgramsAreJudgedLikeTheObviousWay) {
  std::mt19937 random(1);
  int sound = 0;
  const int programs = 2000;
  for (int i = 0; i < programs; ++i) {
    const Program program = random_program(random);
    const std::string message = verdict(program);
    EXPECT_EQ(message.empty(), can_complete(program)) << "program " << i << ": " << message;
    EXPECT_THAT(message, testing::AnyOf("", HasSubstr("deadlock"))) << "program " << i;
    sound += message.empty();
  }
  EXPECT_GT(sound, programs / 10);
  EXPECT_LT(sound, programs * 9 / 10);
}

// A hostile writer's checksums are right; only the numbers are wild.
template <class Record>
void disturb(std::vector<Record>& records, std::mt19937& random) {
  if (records.empty()) return;
  Record& record = records[random() % records.size()];
  std::uint32_t words[sizeof(Record) / 4];
  std::memcpy(words, &record, sizeof record);
  const std::uint32_t values[] = {0,          1,          2,          5,
                                  0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, std::uint32_t(random())};
  words[random() % std::size(words)] = values[random() % std::size(values)];
  std::memcpy(&record, words, sizeof record);
}

TEST(Program, WithWildNumbersIsRefusedOrCanComplete) {
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    Program program = i % 2 == 0 ? sample_program() : random_program(random);
    disturb(program.queue_begin, random);
    disturb(program.tasks, random);
    disturb(program.waits, random);
    disturb(program.dependencies, random);
    const auto read = read_program(write_program(program), "p.bin");
    refused += !read;
    EXPECT_TRUE(!read || can_complete(*read)) << "program " << i;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 5000);
}

TEST(Program, TruncatedAnywhereIsRefused) {
  test::for_each_truncation(write_program(sample_program()),
                            [](const auto& bytes, std::size_t size) {
                              EXPECT_FALSE(read_program(bytes, "p.bin")) << size << " bytes";
                            });
}

TEST(Program, DamagedAnywhereIsRefusedOrUnchanged) {
  const auto whole = write_program(sample_program());
  test::for_each_damaged_byte(whole, [&](const auto& bytes, std::size_t at) {
    // Only padding and the minor version may change.
    if (const auto read = read_program(bytes, "p.bin")) {
      EXPECT_EQ(write_program(*read), whole) << "byte " << at;
    }
  });
}

}  // namespace
}  // namespace npuscope::qaic::program_test
