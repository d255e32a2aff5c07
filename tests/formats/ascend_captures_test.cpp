// Captures of Ascend's profiler in all their forms: each opens as one profile with the same
// kernels, whichever of the forms lie together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include "formats/ascend/capture_files.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::ascend::captures_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AscendCaptures : public testing::Test {
 protected:
  AscendCaptures() : folder_(fs::path(testing::TempDir()) / fmt::format("ascend_{}", ::getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~AscendCaptures() override { fs::remove_all(folder_); }

  Opened open(const fs::path& path) {
    auto opened = open_profiles(std::array{path});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : Opened{};
  }
  Profile open_one(const fs::path& path) {
    Opened opened = open(path);
    EXPECT_EQ(opened.profiles.size(), 1u);
    return opened.profiles.empty() ? Profile{} : std::move(opened.profiles[0]);
  }

  fs::path folder_;
};

using Work = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;  // count, ns

Work work_of(const Profile& profile, SpanKind kind) {
  Work work;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != kind) continue;
    const Op& op = profile.ops[index_of(profile.spans.op[row])];
    auto& [count, ns] = work[std::string(profile.text(op.name))];
    count += 1;
    ns += profile.spans.duration[row];
  }
  return work;
}

Work kernels_of(const TrueCapture& capture) {
  Work work;
  for (const TrueKernel& kernel : capture.kernels) {
    auto& [count, ns] = work[kernel.name];
    count += 1;
    ns += kernel.duration;
  }
  return work;
}

std::string failed_checks(const Profile& profile) {
  std::string failed;
  for (const Check& check : profile.checks) {
    if (check.outcome != Check::Outcome::passed) failed += check.name + ": " + check.detail + "\n";
  }
  return failed;
}

std::string type_of(const Profile& profile, std::string_view name) {
  for (const Op& op : profile.ops) {
    if (profile.text(op.name) == name) return std::string(profile.text(op.kind));
  }
  return "not an op";
}

std::int64_t sum_of(const Profile& profile, std::string_view number) {
  std::int64_t sum = 0;
  for (const MeasureColumn& column : profile.spans.measures) {
    if (profile.text(column.what) != number) continue;
    for (const std::int64_t value : column.values) {
      sum += value == MeasureColumn::missing ? 0 : value;
    }
  }
  return sum;
}

TEST_F(AscendCaptures, KernelsOfEveryLevel) {
  const TrueCapture capture = generate({.steps = 2});
  for (const Level level : {Level::level0, Level::level1, Level::newer, Level::op_summary}) {
    const fs::path file = folder_ / "kernel_details.csv";
    write_kernels(capture, level, file);
    const Profile profile = open_one(file);
    EXPECT_EQ(work_of(profile, SpanKind::kernel), kernels_of(capture)) << int(level);
    EXPECT_EQ(work_of(profile, SpanKind::communication).size(), capture.collectives.size());
    EXPECT_EQ(type_of(profile, "Conv2D1"), level == Level::level0 ? "" : "Conv2D");
    const bool has_steps = level != Level::op_summary;
    EXPECT_EQ(profile.provenance.inferences, has_steps ? 2u : 0u);
    EXPECT_EQ(profile.provenance.temperature,
              has_steps ? Provenance::Temperature::warm : Provenance::Temperature::unknown);
  }
}

TEST_F(AscendCaptures, KindsOfCoresAreUnitsOfATableAlone) {
  const TrueCapture capture = generate({.kernels = 60});
  write_kernels(capture, Level::level1, folder_ / "kernel_details.csv");
  const Profile profile = open_one(folder_);
  std::map<std::string, std::int64_t> busy, truth;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != SpanKind::kernel) continue;
    const Unit& unit = profile.units[index_of(profile.spans.unit[row])];
    EXPECT_EQ(unit.engine, Engine::compute);
    const std::string_view name = profile.text(unit.name);
    busy[std::string(name.substr(0, name.find(", Stream")))] += profile.spans.duration[row];
  }
  for (const TrueKernel& kernel : capture.kernels) {
    truth[kernel.core == "AI_CORE"          ? "AI Core"
          : kernel.core == "AI_VECTOR_CORE" ? "AI Vector Core"
                                            : "AI Vector Core with AI Core (MIX_AIV)"] +=
        kernel.duration;
  }
  EXPECT_EQ(busy, truth);
  std::int64_t cycles = 0;
  for (const TrueKernel& kernel : capture.kernels) {
    if (kernel.core == "AI_CORE") cycles += kernel.cycles;
  }
  EXPECT_EQ(sum_of(profile, "AI Core cycles, over blocks"), cycles);
  for (const Measure& measure : profile.measures) {
    if (profile.text(measure.what) != "AI Core clock (Hz)") continue;
    EXPECT_NEAR(measure.value, 1.8e9, 1e7);
  }
}

class EveryForm : public AscendCaptures, public testing::WithParamInterface<unsigned> {};

// The sums are those of a table in which every nanosecond was marked.
TEST_P(EveryForm, IsOneProfileWithTheSameKernels) {
  const TrueCapture capture =
      generate({.steps = 3, .kernels = 30, .collectives = 2, .seed = GetParam()});
  const fs::path output = folder_ / "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT";
  write_kernels(capture, Level::level1, output / "kernel_details.csv");
  write_sums(capture, output);
  const Profile table = open_one(folder_);
  EXPECT_EQ(work_of(table, SpanKind::kernel), kernels_of(capture));
  EXPECT_EQ(table.checks.size(), 11u);
  EXPECT_EQ(failed_checks(table), "");

  write_trace(capture, output / "trace_view.json");
  const Profile trace = open_one(folder_);
  EXPECT_EQ(work_of(trace, SpanKind::kernel), kernels_of(capture));
  EXPECT_EQ(trace.provenance.files.size(), 5u);
  EXPECT_EQ(type_of(trace, "Conv2D1"), "Conv2D");
  EXPECT_EQ(sum_of(trace, "AI Core time"), sum_of(table, "AI Core time"));
  EXPECT_EQ(failed_checks(trace), "");

  write_database(capture, output / "ascend_pytorch_profiler_0.db");
  const Profile all = open_one(folder_);
  EXPECT_EQ(work_of(all, SpanKind::kernel), kernels_of(capture));
  EXPECT_TRUE(std::ranges::any_of(all.notes, [](const Note& note) {
    return note.message.find("the same kernels") != std::string::npos;
  }));

  const Profile database = open_one(output / "ascend_pytorch_profiler_0.db");
  EXPECT_EQ(work_of(database, SpanKind::kernel), kernels_of(capture));
  EXPECT_EQ(sum_of(database, "AI Core time"), sum_of(table, "AI Core time"));
  EXPECT_EQ(database.provenance.device, "Ascend910B");
  EXPECT_EQ(database.provenance.inferences, 3u);
  EXPECT_EQ(database.flows.size(), capture.kernels.size() + capture.collectives.size());
  std::int64_t waiting = 0;
  for (const TrueCollective& each : capture.collectives) waiting += each.duration - each.transit;
  EXPECT_EQ(sum_of(database, "waiting for ranks"), waiting);
  EXPECT_EQ(database.counters.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EveryForm, testing::Range(1u, 9u));

TEST_F(AscendCaptures, OfTwoRunsAreTwoProfiles) {
  write_kernels(generate({.seed = 1}), Level::level1, folder_ / "a/kernel_details.csv");
  write_kernels(generate({.kernels = 40, .seed = 2}), Level::newer,
                folder_ / "b/kernel_details.csv");
  EXPECT_EQ(open(folder_).profiles.size(), 2u);
}

TEST_F(AscendCaptures, SumsThatDifferAreFailedChecks) {
  TrueCapture capture = generate({});
  write_kernels(capture, Level::level1, folder_ / "kernel_details.csv");
  capture.kernels.front().duration += 40'000;
  capture.computing_ns.front() += 40'000;
  write_sums(capture, folder_);
  EXPECT_THAT(failed_checks(open_one(folder_)),
              testing::AllOf(HasSubstr("kernels by type"), HasSubstr("computing")));
}

TEST_F(AscendCaptures, SumsAloneAreRefusedWithAdvice) {
  write_sums(generate({}), folder_);
  const auto opened = open_profiles(std::array{folder_ / "op_statistic.csv"});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("kernel_details.csv"));
}

TEST_F(AscendCaptures, RowsThatAreCutAreCounted) {
  const fs::path file = folder_ / "kernel_details.csv";
  std::ofstream(file) << "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
                         "a,Mul,AI_CORE,10.5,1.25\n"
                         "b,Mul,AI_CORE,-3,1\n"
                         "c,Mul,AI_CORE,99999999999999999999,1\n"
                         "d,Mul,AI_CORE,1e300,1\n"
                         "e,Mul,AI_CO\n";
  const Profile profile = open_one(file);
  EXPECT_EQ(work_of(profile, SpanKind::kernel), (Work{{"a", {1, 1250}}}));
  ASSERT_FALSE(profile.notes.empty());
  EXPECT_EQ(profile.notes[0].count, 4u);
}

// What a database of somebody else may hold instead of tables.
TEST_F(AscendCaptures, ForgedDatabasesDoNothing) {
  const fs::path file = folder_ / "forged.db";
  const std::string tables =
      "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO STRING_IDS VALUES(1,'k');";
  write_sql(tables +
                "CREATE VIEW TASK AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
                "SELECT i AS startNs, i+1 AS endNs FROM n;",
            file);
  EXPECT_FALSE(open_profiles(std::array{file}));
  write_sql(tables +
                "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER GENERATED ALWAYS AS "
                "(length(hex(zeroblob(900000)))) VIRTUAL, deviceId INTEGER);"
                "INSERT INTO TASK(startNs) VALUES(1);",
            file);
  EXPECT_FALSE(open_profiles(std::array{file}));
  write_sql(tables +
                "CREATE TABLE TASK(startNs, endNs, taskType, streamId);"
                "INSERT INTO TASK VALUES(5,9,1,2),(9,5,1,2),(-1,3,1,2),('x',NULL,1,2),"
                "(9223372036854775807,9223372036854775807,1,2),(1e300,2e300,1,2),"
                "('20','30',1,2);",
            file);
  const Profile profile = open_one(file);
  EXPECT_EQ(work_of(profile, SpanKind::kernel)["k"].first, 2);  // and one set apart, far away
  // Connections that relate everything to everything.
  write_sql(tables +
                "CREATE TABLE TASK(startNs, endNs, taskType, streamId, connectionId);"
                "CREATE TABLE PYTORCH_API(startNs, endNs, globalTid, connectionId, name, type);"
                "CREATE TABLE CONNECTION_IDS(id, connectionId);"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                "INSERT INTO TASK SELECT i*10, i*10+5, 1, 2, 1 FROM n;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                "INSERT INTO PYTORCH_API SELECT i*10, i*10+5, 1, 1, 1, 1 FROM n;"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                "INSERT INTO CONNECTION_IDS SELECT 1, 1 FROM n;",
            folder_ / "dense.db");
  EXPECT_LT(open_one(folder_ / "dense.db").flows.size(), 40'000u);
  // Cut anywhere: what is left opens or is refused.
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t size = 100; size < bytes.size(); size += 512) {
    std::ofstream(folder_ / "cut.db", std::ios::binary) << bytes.substr(0, size);
    (void)open_profiles(std::array{folder_ / "cut.db"});
  }
}

// Sums of real captures: kernels without collectives, and what the profiler says of the step.
TEST_F(AscendCaptures, OfSamples) {
  const fs::path all = fs::path(NPUSCOPE_SHARED_DIR) / "data/ascend";
  if (!fs::exists(all)) GTEST_SKIP() << "no shared data";
  const auto sum = [](const Profile& profile) {
    std::pair<std::int64_t, std::int64_t> sums;
    for (const auto& [name, work] : work_of(profile, SpanKind::kernel)) {
      sums.first += work.first;
      sums.second += work.second;
    }
    return sums;
  };
  const Profile text = open_one(all / "text_level1_rank0");
  EXPECT_EQ(sum(text).first, 187);
  EXPECT_NEAR(double(sum(text).second), 8'873'737, 200);  // the trace rounds otherwise
  EXPECT_EQ(text.checks.size(), 5u);
  EXPECT_EQ(failed_checks(text), "");
  EXPECT_EQ(sum(open_one(all / "text_level1_rank0/kernel_details.csv")),
            (std::pair<std::int64_t, std::int64_t>{187, 8'873'737}));
  EXPECT_EQ(sum(open_one(all / "db_level1_rank0")),
            (std::pair<std::int64_t, std::int64_t>{187, 8'903'431}));
}

}  // namespace
}  // namespace npuscope::ascend::captures_test
