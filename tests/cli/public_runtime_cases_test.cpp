// Profiles of runtimes as public reports have them, and what the commands must conclude: cases 04,
// 24 and 32 of ../shared/data/public_cases, whose expected.md say why.
#include <gmock/gmock.h>

#include <cmath>

#include "cli/public_cases.hpp"

namespace npuscope::cli::public_runtime_cases_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using PublicRuntimeCases = test_support::PublicCases;

const json* row_of(const json& rows, const char* key, std::string_view name) {
  for (const json& row : rows) {
    if (row[key] == name) return &row;
  }
  ADD_FAILURE() << "no row " << name << " in " << rows.dump(1);
  return nullptr;
}

double tenths_of_per_cent(const json& share) { return std::round(share.get<double>() * 1000) / 10; }

constexpr const char* x_elite = "04-ort-qnn-csv-x-elite/";

// Q and DQ cost more than three times the matmul that they enclose.
TEST_F(PublicRuntimeCases, ConversionsOfFloatInputsCostMoreThanTheMatmul) {
  const json page = ask("show", std::string(x_elite) + "float_io.csv");
  const json parts = page["model_parts"]["rows"];
  const json* conversions = row_of(parts, "part", "layout and types");
  const json* matmul = row_of(parts, "part", "matmul");
  const json* output = row_of(parts, "part", "input/output");
  ASSERT_TRUE(conversions != nullptr && matmul != nullptr && output != nullptr);
  EXPECT_EQ((*conversions)["value"], 36'960'526);
  EXPECT_EQ((*matmul)["value"], 10'958'875);
  EXPECT_EQ(tenths_of_per_cent((*conversions)["share"]), 72.3);
  EXPECT_EQ(tenths_of_per_cent((*matmul)["share"]), 21.4);
  EXPECT_EQ(tenths_of_per_cent((*output)["share"]), 6.3);
  EXPECT_EQ(ask("ops", std::string(x_elite) + "float_io.csv")["ops"]["node_cycles_total"],
            51'117'377);
  EXPECT_EQ(page["about"]["inferences"], 1);
  EXPECT_EQ(page["about"]["temperature"], "cold");
  EXPECT_EQ(page["latency"]["cold_seconds"], 0.099);
  EXPECT_TRUE(page["latency"]["warm_median_seconds"].is_null());
}

TEST_F(PublicRuntimeCases, MacsOfTheModelByTheCyclesOfItsNode) {
  const auto rate = [&](const char* file) {
    const json page =
        ask("ops", x_elite + std::string(file), {"--model", folder + x_elite + "matmul.onnx"});
    const json* matmul = row_of(page["ops"]["rows"], "op", "matmul_node");
    EXPECT_NE(matmul, nullptr) << page;
    if (matmul == nullptr) return 0.0;
    EXPECT_EQ((*matmul)["macs"], 3'456'000'000);
    return std::round((*matmul)["macs_per_cycle"].get<double>());
  };
  EXPECT_EQ(rate("float_io.csv"), 315);
  EXPECT_EQ(rate("quant_io.csv"), 323);
}

// Cycles of the ops are a sum over threads: by 25,815 us they make 1,980 MHz, which no clock ran
// at.
TEST_F(PublicRuntimeCases, CyclesOfSeveralThreadsAreNoClock) {
  const std::string page = show(std::string(x_elite) + "float_io.csv");
  EXPECT_THAT(page, HasSubstr("51,117,377 cycles"));
  EXPECT_THAT(page, Not(HasSubstr("Hz")));
  EXPECT_THAT(page, Not(HasSubstr("1,980")));
  EXPECT_THAT(page, Not(HasSubstr("1.98")));
}

TEST_F(PublicRuntimeCases, QuantisedInputsTakeAThirdOffTheCallAndNothingOffTheMatmul) {
  const json page = diff(x_elite, "float_io.csv", "quant_io.csv");
  const json* matmul = row_of(page["ops"]["rows"], "name", "matmul_node");
  const json* call = row_of(page["call"][0]["rows"], "name", "latency");
  ASSERT_TRUE(matmul != nullptr && call != nullptr);
  EXPECT_EQ((*matmul)["a"], 10'958'875);
  EXPECT_EQ((*matmul)["b"], 10'697'422);
  EXPECT_EQ(tenths_of_per_cent((*matmul)["change"]), -2.4);
  EXPECT_DOUBLE_EQ((*call)["a"], 0.099);
  EXPECT_DOUBLE_EQ((*call)["b"], 0.0671);
  // One cold sample a side decides nothing.
  EXPECT_THAT(page["sides"]["verdict"].get<std::string>(), HasSubstr("inconclusive"));
}

constexpr const char* penalty = "32-fixed-penalty-per-call/";

// 1.5 s more in each call, and the NPU does what it did.
TEST_F(PublicRuntimeCases, APenaltyOfEachCallLiesOutsideTheNpu) {
  const json page = diff(penalty, "healthy.csv", "degraded.csv");
  const json rows = page["call"][0]["rows"];
  const json* call = row_of(rows, "name", "latency");
  const json* npu = row_of(rows, "name", "device_latency");
  const json* accelerator = row_of(rows, "name", "Accelerator (execute) time");
  ASSERT_TRUE(call != nullptr && npu != nullptr && accelerator != nullptr);
  // Calls of 52,300 to 52,305 us, each the longer for its number; the first is cold.
  EXPECT_DOUBLE_EQ((*call)["a"], 0.052303);
  EXPECT_DOUBLE_EQ((*call)["b"], 1.552303);
  EXPECT_DOUBLE_EQ((*call)["delta"], 1.5);
  EXPECT_NEAR((*call)["b"].get<double>() / (*call)["a"].get<double>(), 29.7, 0.05);
  EXPECT_EQ((*call)["verdict"], "more");
  EXPECT_NEAR((*npu)["a"].get<double>(), 0.048002, 1.5e-6);
  EXPECT_EQ((*npu)["a"], (*npu)["b"]);
  EXPECT_EQ((*npu)["verdict"], "same");
  EXPECT_EQ((*accelerator)["verdict"], "same");
  EXPECT_EQ(page["ops"]["rows_by_change"], "2 same");
}

TEST_F(PublicRuntimeCases, ADegradedCallIsSaidToBeOutsideTheNpu) {
  const std::string file = std::string(penalty) + "degraded.csv";
  const json latency = ask("show", file)["latency"];
  EXPECT_EQ(tenths_of_per_cent(latency["share_outside_npu"]), 96.9);
  EXPECT_THAT(show(file), HasSubstr("96.9 % outside the NPU"));
  const json findings = ask("diagnose", file)["findings"];
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0]["rule"], "host-overhead");
  EXPECT_TRUE(ask("diagnose", std::string(penalty) + "healthy.csv")["findings"].empty());
}

// ONNX Runtime's own trace. Names are matched by what they begin with: a fence is none of its node.
class OrtTraces : public test_support::PublicCases {
 protected:
  const std::string in = "24-ort-fences-and-fallback/";

  // Executions of a node's kernel in ns: "min,max,number".
  std::string executions(const char* file, const std::string& name) const {
    return query(in + file,
                 "SELECT min(duration), max(duration), count(*) FROM named_spans WHERE op LIKE '" +
                     name + "%' AND op NOT LIKE '%fence%'");
  }
};

TEST_F(OrtTraces, TheFirstConvolutionIsCold) {
  EXPECT_EQ(executions("fences.json", "Conv_0"), "129000,3870000,3\n");
  EXPECT_EQ(executions("fences.json", "BN_1"), "93000,93000,3\n");
  EXPECT_EQ(executions("fences.json", "Relu_2"), "40000,40000,3\n");
  // The second run: kernels alone.
  EXPECT_EQ(
      query(in + "fences.json",
            "SELECT sum(duration) FROM named_spans WHERE start BETWEEN 104144000 AND 104546000 "
            "AND op NOT LIKE '%fence%' AND (op LIKE 'Conv_0%' OR op LIKE 'BN_1%' OR op LIKE "
            "'Relu_2%')"),
      "262000\n");
}

// Nodes without names differ by their durations alone here.
TEST_F(OrtTraces, FencesLastAMicrosecondEach) {
  for (const char* file : {"fences.json", "fences_no_names.json"}) {
    EXPECT_EQ(query(in + file,
                    "SELECT duration / 1000, count(*) FROM spans WHERE duration < 4000000 AND "
                    "duration NOT IN (303000, 313000) GROUP BY 1 ORDER BY 1"),
              "1,18\n40,3\n93,3\n129,2\n3870,1\n")
        << file;
  }
}

// Sixty milliseconds of initialisation were most of the work, and no run was an inference.
TEST_F(OrtTraces, RunsAreInferencesAndNodesHaveTheirNames) {
  const std::string page = show(in + "fences.json");
  EXPECT_NE(page.find("ONNX Runtime profile"), page.npos) << page;
  EXPECT_NE(page.find("LATENCY"), page.npos) << page;
  EXPECT_EQ(query(in + "fences.json",
                  "SELECT DISTINCT op FROM named_spans WHERE kind = 'host' ORDER BY 1"),
            "BN_1\nConv_0\nRelu_2\n");
}

TEST_F(OrtTraces, WhatFellBackIsAFinding) {
  const auto out = run_npuscope({"diagnose", folder + in + "cpu_fallback.json"}).output;
  EXPECT_NE(out.find("Operators on the CPU take 61.3 % of the time of all operators"), out.npos)
      << out;
  EXPECT_LT(out.find("nms"), out.find("Resize_12"));
}

TEST_F(OrtTraces, NodesThatFellBackToTheCpuTakeMostOfARun) {
  const char* file = "cpu_fallback.json";
  EXPECT_EQ(executions(file, "QNNExecutionProvider_QNN_4317293_0_0"), "900000,900000,4\n");
  EXPECT_EQ(executions(file, "QNNExecutionProvider_QNN_4317293_1_1"), "310000,310000,4\n");
  EXPECT_EQ(executions(file, "Resize_12"), "420000,420000,4\n");
  EXPECT_EQ(executions(file, "nms"), "1500000,1500000,4\n");
  EXPECT_EQ(query(in + file,
                  "SELECT round(100.0 * sum(CASE WHEN op LIKE 'QNN%' THEN 0 ELSE duration END) / "
                  "sum(duration), 1) FROM named_spans WHERE op LIKE 'QNNExecutionProvider_%' OR op "
                  "LIKE 'Resize_12%' OR op LIKE 'nms%'"),
            "61.3\n");
}

}  // namespace
}  // namespace npuscope::cli::public_runtime_cases_test
