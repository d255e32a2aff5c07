// npuscope tables, --tables, and the sums of tables that vendors' tools wrote.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::tables_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Tables = TraceFolder;

constexpr const char* layers =
    "Layer Name;Op Type;Core;Start (us);Duration (us);Bytes\n"
    "conv1;Conv2D;0;0.0;12.5;4096\n"
    "relu1;Relu;1;12.5;3.25;2048\n";

TEST_F(Tables, AnUnknownOneOpensByADraftOfItsDescription) {
  write("layers.csv", layers);
  const Outcome unknown = run_npuscope({"show", path("layers.csv")});
  EXPECT_EQ(unknown.status, 3);
  EXPECT_THAT(unknown.errors, HasSubstr("npuscope tables draft makes a description of it"));
  const Outcome drafted =
      run_npuscope({"tables", "draft", path("layers.csv"), "-o", path("mine.toml")});
  EXPECT_EQ(drafted.status, 0) << drafted.errors;
  EXPECT_EQ(run_npuscope({"tables", "draft", path("layers.csv")}).output, read("mine.toml"));
  for (const std::string& tables : {path("mine.toml"), path("")}) {
    const Outcome units = run_npuscope({"units", path("layers.csv"), "--tables", tables, "--csv"});
    EXPECT_EQ(units.status, 0) << units.errors;
    EXPECT_THAT(units.output, HasSubstr("\ncore 1,1,3250,"));
  }
  write("other.csv", "Layer Name;Core;Duration (us)\nconv1;0;3\n");
  EXPECT_THAT(run_npuscope({"show", path("other.csv"), "--tables", path("mine.toml")}).errors,
              HasSubstr("mine.toml does not fit it: no line has the heads 'Op Type', 'Start (us)', "
                        "'Bytes'"));
  const json twin =
      json::parse(run_npuscope({"tables", "draft", path("layers.csv"), "--json"}).output);
  EXPECT_EQ(twin["table"]["toml"], read("mine.toml"));
  EXPECT_EQ(twin["columns"]["rows"][3]["is"], "start");
}

TEST_F(Tables, LayersOfOneNameWereOneWithoutAWord) {
  write("layers.csv",
        "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
        "MatMul;EXECUTED;MatMul;DPU;0.100;0.100\nMatMul;EXECUTED;MatMul;DPU;0.100;0.100\n"
        "relu;EXECUTED;Relu;DPU;0.050;0.050\n");
  EXPECT_THAT(run_npuscope({"ops", path("layers.csv")}).output,
              HasSubstr("\n  MatMul  DPU     2   200.0 us"));
  EXPECT_THAT(run_npuscope({"show", path("layers.csv"), "--width", "80"}).output,
              HasSubstr("\n  MatMul    2  "));
}

TEST_F(Tables, ADescriptionIsChecked) {
  write("good.toml",
        "name = \"x\"\norigin = \"measured\"\n[[column]]\nhead = \"a\"\nis = \"op\"\n[[column]]\n"
        "head = \"b\"\nis = \"time\"\nunit = \"us\"\n");
  write("wrong.toml", "name = \"x\"\norigin = \"guessed\"\n");
  const Outcome good = run_npuscope({"tables", "check", path("good.toml"), "--csv"});
  EXPECT_EQ(good.status, 0) << good.errors;
  EXPECT_EQ(good.output, "file,valid,name,columns,problem\n" + path("good.toml") + ",true,x,2,\n");
  const Outcome both = run_npuscope({"tables", "check", path(""), "--csv"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.output, HasSubstr("wrong.toml:2: 'origin' must be one of: measured"));
  write("layers.csv", layers);
  const Outcome used = run_npuscope({"show", path("layers.csv"), "--tables", path("wrong.toml")});
  EXPECT_EQ(used.status, 2);
  EXPECT_THAT(used.errors, HasSubstr("wrong.toml:2: 'origin' must be"));
}

TEST_F(Tables, AreListed) {
  const Outcome list = run_npuscope({"tables", "list"});
  EXPECT_EQ(list.status, 0) << list.errors;
  EXPECT_THAT(list.output, HasSubstr("scalesim_compute.toml"));
  EXPECT_EQ(run_npuscope({"tables"}).output, list.output);
}

// Of files that vendors' tools wrote: sums that another program made of them.
struct VendorTables : testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  }
  std::string sum(const std::string& file, const std::string& number) const {
    const Outcome outcome =
        run_npuscope({"query", folder + file, "--csv",
                      "SELECT count(*), round(sum(value), 3) FROM measures WHERE "
                      "subject = 'op' AND name = '" +
                          number + "'"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const auto line = outcome.output.find('\n');
    return line == outcome.output.npos ? "" : outcome.output.substr(line + 1);
  }
  const std::string folder = NPUSCOPE_SHARED_DIR "/data/";
};

TEST_F(VendorTables, HaveTheSumsOfTheirFiles) {
  EXPECT_EQ(sum("vela/convnet-ethos-u55-128/convnet_int8_per-layer.csv", "op cycles"),
            "34,67056\n");
  EXPECT_EQ(sum("vela/convnet-ethos-u85-256/convnet_int8_per-layer.csv", "op cycles"),
            "20,60670\n");
  EXPECT_EQ(sum("vela/convnet-ethos-u85-256/convnet_int8_per-layer.csv", "MACs"), "20,3989844\n");
  EXPECT_EQ(sum("vela/mbnet-ethos-u55-128-depthwise-on-cpu/mbnet_int8_per-layer.csv", "op cycles"),
            "50,263616\n");
  EXPECT_EQ(sum("vela/v4.5.0-convnet-ethos-u85-256/convnet_int8_per-layer.csv", "op cycles"),
            "33,62640\n");
  EXPECT_EQ(sum("openvino/convnet_average_counters.csv", "real time"), "9,8886000\n");
  EXPECT_EQ(sum("openvino/convnet_detailed_counters.json", "real time"), "9,1203000\n");
  EXPECT_EQ(sum("openvino/convnet_sorted.json", "real time"), "9,1464000\n");
  EXPECT_EQ(sum("openvino/benchmark_average_counters_report.csv", "real time"), "74,2060000\n");
  EXPECT_EQ(sum("litert/profile_convnet_int8.txt", "time in an inference"), "9,294000\n");
  EXPECT_EQ(sum("scalesim/COMPUTE_REPORT.csv", "total cycles"), "3,30097\n");
}

TEST_F(VendorTables, OpsOfTenstorrentHaveTheSumsOfTheirFiles) {
  const auto spans = [&](const std::string& file) {
    const Outcome outcome = run_npuscope(
        {"query", folder + "tenstorrent/" + file, "--csv",
         "SELECT count(*), sum(duration), (SELECT count(*) FROM units) FROM spans WHERE "
         "kind <> 'wait'"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output.substr(outcome.output.find('\n') + 1);
  };
  EXPECT_EQ(spans("bh_p100_dlv3.csv"), "387,9273793,1\n");
  EXPECT_EQ(spans("bh_8xp150_deepseek_v3_d_p.csv"), "208,79775158,8\n");
  EXPECT_EQ(spans("bh20_oft_integral_image_trace.csv"), "21,11414430,1\n");
}

}  // namespace
}  // namespace npuscope::cli::tables_test
