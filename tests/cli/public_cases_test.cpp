// What public reports of other tools showed: the numbers that are right, of small inputs of our own
// and of ../shared/data/public_cases where it is there.
#include <gmock/gmock.h>

#include "cli/public_cases.hpp"

namespace npuscope::cli::public_cases_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using PublicCases = test_support::PublicCases;

TEST_F(PublicCases, ChildEndsAfterParent) {
  const std::string file = "22-child-ends-after-parent/off_by_one.json";
  const json work = ops(file);
  EXPECT_EQ(work.value("aten::linear", -1), 10'000);
  EXPECT_EQ(work.value("aten::addmm", -1), 491'000);
  double sum = 0;
  for (const auto& [name, of_op] : work.items()) sum += of_op.get<double>();
  EXPECT_EQ(sum, 602'000);
  EXPECT_EQ(wall(file), 1'000'000);
}

TEST_F(PublicCases, StepOverPythonSlice) {
  const std::string file = "42-step-over-python-slice/mini_step.json";
  // Three steps, which are inferences: medians of one.
  EXPECT_EQ(ops(file).value("work", -1), 880'000);
  EXPECT_EQ(wall(file), 900'000);
}

TEST_F(PublicCases, OverflowingDurations) {
  const std::string one = "13-overflowing-durations/one_overflow.json";
  const std::string three = "13-overflowing-durations/three_overflow.json";
  const auto total = [&](const std::string& file) {
    return ask("ops", file, {"--by", "name"})["ops"]["work_total"];
  };
  EXPECT_EQ(total(one), 110'000);
  EXPECT_EQ(total(three), 130'000);
  EXPECT_EQ(wall(one), 190'000);
  EXPECT_THAT(run_npuscope({"diagnose", folder + three}).output,
              HasSubstr("Recorded durations of 3 executions of fmha_bwd ran over"));
}

TEST_F(PublicCases, ZeroTimestamps) {
  for (const char* name : {"ts0", "ts_minus1", "negative_dur"}) {
    const std::string file = std::string("19-zero-timestamps/") + name + ".json";
    EXPECT_EQ(wall(file), 560'000) << name;
    EXPECT_THAT(run_npuscope({"show", "--full", folder + file}).output, HasSubstr("warning"));
  }
  EXPECT_EQ(wall("19-zero-timestamps/async_negative_ts.json"), 300'000);
}

TEST_F(PublicCases, OpenvinoDmaAllZero) {
  const std::string file = "25-openvino-dma-all-zero/profiling.json";
  EXPECT_EQ(wall(file), 290'500);
  EXPECT_EQ(ask("ops", file)["ops"]["work_total"], 243'000);
  EXPECT_THAT(run_npuscope({"diagnose", folder + file}).output,
              HasSubstr("Not measured: 6 DMA executions, every one of 0 ticks"));
}

// Right values: ../shared/data/made_by/README_2.md.
TEST_F(PublicCases, OfJaxTheProfilerIsNoPartOfTheWallAndOpsAreThoseOfXla) {
  const std::string file = "../xla/vm.trace.json.gz";
  EXPECT_THAT(query(file,
                    "SELECT count(DISTINCT op), count(*), sum(duration) FROM spans "
                    "WHERE kind = 'kernel'"),
              "10,50,70274591\n");
  const json work = ops(file);
  double host = 0;
  for (const auto& [name, of_op] : work.items()) host += of_op.is_null() ? 0 : of_op.get<double>();
  EXPECT_LT(host, 70'274'591 + 147'600'000);
  EXPECT_LT(wall(file), 148'000'000);
}

TEST_F(PublicCases, OfIreeTheConvolutionOnASiblingTrackGainedNothing) {
  const Outcome outcome = run_npuscope({"path", "--json", folder + "../iree/net.pftrace"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const json page = json::parse(outcome.output)["profiles"][0];
  bool found = false;
  for (const json& row : page["ops"]["rows"]) {
    if (row["op"] != "net$async_dispatch_2_conv_64x64x64x32x3x3_f32") continue;
    found = true;
    EXPECT_GE(row["gain_if_free"].get<double>(), 427'000'000);
  }
  EXPECT_TRUE(found) << page.dump(1).substr(0, 2000);
}

TEST_F(PublicCases, OfKinetoMemoryInstantsAreACounterWithAPeak) {
  const std::string file = "../kineto_cpu/kineto.json.gz";
  EXPECT_EQ(query(file, "SELECT count(*), max(value) FROM counter_samples"), "150,1384448\n");
  EXPECT_THAT(run_npuscope({"show", "--full", folder + file}).output, HasSubstr("Total Allocated"));
}

TEST_F(PublicCases, AscendStringTimesAndBigIds) {
  for (const char* name : {"trace_view", "numeric_ids", "numeric_ts"}) {
    const std::string file = std::string("14-ascend-string-ts-big-ids/") + name + ".json";
    EXPECT_EQ(query(file,
                    "SELECT count(*), sum(duration), count(DISTINCT start) FROM spans "
                    "WHERE kind = 'kernel'"),
              "6,5400,6\n");
    const std::string flows =
        query(file,
              "SELECT row_number() OVER (ORDER BY a.start) - 1, b.op FROM flows f "
              "JOIN named_spans a ON a.id = f.from_span JOIN named_spans b ON b.id = f.to_span "
              "ORDER BY a.start");
    EXPECT_EQ(flows, "0,MatMul0\n1,MatMul1\n2,MatMul2\n3,MatMul3\n4,MatMul4\n5,MatMul5\n");
  }
}

TEST_F(PublicCases, SubMicrosecond) {
  EXPECT_EQ(query("23-sub-microsecond/ns.json",
                  "SELECT count(*), sum(duration), avg(duration), min(duration), max(duration) "
                  "FROM spans WHERE kind = 'kernel'"),
            "4,551,137.75,1,300\n");
}

TEST_F(PublicCases, PrivateUse1Accelerator) {
  const std::string file = "26-privateuse1-accelerator/trace.json";
  const json work = ops(file);
  EXPECT_EQ(work.value("cmpt_matmul", -1), 500'000);
  EXPECT_EQ(work.value("Memcpy H2D", -1), 140'000);
  EXPECT_EQ(work.value("Memcpy D2H", -1), 100'000);
  EXPECT_EQ(work.value("Memset", -1), 10'000);
  EXPECT_EQ(query(file, "SELECT sum(ddr_write_bytes), sum(ddr_read_bytes) FROM spans"),
            "1048576,262144\n");
}

TEST_F(PublicCases, PerfettoOverlapOnATrack) {
  const json encode = ops("31-perfetto-overlap-on-track/encode.pftrace", "active");
  EXPECT_EQ(encode.value("encode 0", -1), 50'000);
  EXPECT_EQ(encode.value("encode 1", -1), 10'314);
  EXPECT_EQ(encode.value("encode 2", -1), 10'000);
  const json never = ops("31-perfetto-overlap-on-track/never_ended.pftrace", "active");
  EXPECT_EQ(never.value("encode 0", -1), 10'314);
  EXPECT_EQ(never.value("encode 1", -1), 10'314);
  EXPECT_EQ(never.value("encode 2", -1), 10'000);
}

TEST_F(PublicCases, WrongUnit) {
  const std::string file = "21-wrong-unit/ns_as_us.json";
  EXPECT_EQ(wall(file), 1e13);
  EXPECT_THAT(run_npuscope({"show", "--full", folder + file}).output, HasSubstr("--time-unit ns"));
  const Outcome ns = run_npuscope({"show", folder + file, "--time-unit", "ns"});
  EXPECT_THAT(ns.output, HasSubstr("wall 10.00 s")) << ns.errors;
}

}  // namespace
}  // namespace npuscope::cli::public_cases_test
