#include "formats/tables/table_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace npuscope::tables::read_table_test {
namespace {

using test::numbers_of;
using test::open;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* scalesim =
    "LayerID, Total Cycles (incl. prefetch), Total Cycles, Stall Cycles, Overall Util %, Mapping "
    "Efficiency %, Compute Util %,\n"
    "0, 7650, 1891, 0, 80.5, 84.375, 79.0,\n"
    "1, 29140, 22943, 8004, 61.5, 100.0, 92.8,\n";

TEST(Tables, LayersOfScaleSim) {
  const auto profiles = open(scalesim);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = profiles->front();
  EXPECT_EQ(profile.provenance.format, "SCALE-Sim compute report");
  EXPECT_EQ(profile.provenance.times, Origin::simulated);
  EXPECT_EQ(numbers_of(profile),
            "layer 0: total cycles=1891 of it stalls=0 with prefetch=7650 MACs of the array's "
            "peak, percent=80.5\n"
            "layer 1: total cycles=22943 of it stalls=8004 with prefetch=29140 MACs of the array's "
            "peak, percent=61.5\n");
  const auto sum =
      std::ranges::find(profile.measures, Measure::Subject::profile, &Measure::subject);
  ASSERT_NE(sum, profile.measures.end());
  EXPECT_EQ(sum->value, 24'834);
  EXPECT_EQ(sum->meaning.role, NumberRole::graph_wall);
}

constexpr const char* openvino =
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n";

TEST(Tables, OfOpenVinoAreTriedAgainstTheirTotal) {
  const std::string rows =
      "input;Status.NOT_RUN;Parameter;unknown;0.000;0.000\n"
      "conv;Status.EXECUTED;Convolution;DPU;0.116;0.464\n"
      "pool;EXECUTED;MaxPool;Shave;0.015;0.062\n";
  const auto right = open(std::string(openvino) + rows + "Total;;;;0.131;0.526\n");
  ASSERT_TRUE(right) << right.error().message;
  const Profile& profile = right->front();
  EXPECT_EQ(numbers_of(profile),
            "conv: real time=116000 time summed over engines=464000\n"
            "pool: real time=15000 time summed over engines=62000\n");
  EXPECT_EQ(profile.ops[0].engine, Engine::compute);
  EXPECT_EQ(profile.text(profile.ops[0].node_kind), "Convolution");
  ASSERT_EQ(profile.checks.size(), 1u);
  EXPECT_EQ(profile.checks[0].outcome, Check::Outcome::passed);
  const auto wrong = open(std::string(openvino) + rows + "Total;;;;0.140;0.526\n");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->front().checks[0].outcome, Check::Outcome::failed);
}

TEST(Tables, ThatRepeatAnotherAreOne) {
  const std::string a = std::string(openvino) + "conv;EXECUTED;Convolution;DPU;0.116;0.464\n\n";
  const std::string b = std::string(openvino) + "conv;EXECUTED;Convolution;DPU;0.117;0.464\n";
  const auto profiles = open(a + b + "\n" + a);
  ASSERT_TRUE(profiles) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ(profiles->at(0).provenance.graph, "request 1");
  EXPECT_EQ(profiles->at(1).provenance.graph, "request 2");
  const auto& notes = profiles->front().notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const Note& note) {
    return note.message == "tables that repeat another row by row; left out";
  }));
}

TEST(Tables, ATimeBelowZeroWasShown) {
  const auto profiles =
      open(std::string(openvino) + "a;EXECUTED;x;DPU;-5;1e308\nb;EXECUTED;x;DPU;0.1;0.4\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(numbers_of(profiles->front()),
            "a:\nb: real time=100000 time summed over engines=400000\n");
  EXPECT_EQ(std::ranges::count(profiles->front().notes, Severity::warning, &Note::severity), 2);
}

TEST(Tables, OfAForgedFileAreNotAProfileForEachHeader) {
  std::string text;
  for (int i = 0; i < 3'000; ++i) {
    text += std::string(openvino) + fmt::format("conv{};EXECUTED;Convolution;DPU;0.1;0.4\n", i);
  }
  const auto profiles = open(text);
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->size(), 64u);
  EXPECT_TRUE(std::ranges::any_of(profiles->front().notes, [](const Note& note) {
    return note.message == "tables after the first 64; left out" && note.count == 2'936;
  }));
}

TEST(Tables, TheSortedDialectOfOpenVino) {
  const auto profiles = open(
      "layerName,execStatus,layerType,execType,realTime (ms),cpuTime (ms),\"proportion (%)\n\"\r\n"
      "fc,Status.EXECUTED,FullyConnected,gemm,0.275,0.275,12.16%\r\n"
      "\r\nTotal time: 0.275 seconds\r\nTotal CPU time: 0.275 seconds\r\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(numbers_of(profiles->front()),
            "fc: real time=275000 time summed over engines=275000\n");
}

constexpr const char* vela =
    "Original Operator,NNG Operator,Target,Staging Usage,Peak% (Staging),Op Cycles,Network% "
    "(cycles),NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network% (MAC),Util% "
    "(MAC),Name\n"
    "Conv2D,Conv2D,NPU,29440,73.9,14283,21.3,14283,10684,0,0,3168,442368,11.0,24.1,conv1\n"
    "Conv2D,Relu,NPU,0,0.0,0,0.0,0,0,0,0,0,0,0.0,100,conv1\n";

TEST(Tables, RowsOfVelaOnTheCpuHaveNoNumbersAndNoSum) {
  const auto whole = open(vela);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->front().provenance.times, Origin::estimated);
  EXPECT_TRUE(std::ranges::any_of(whole->front().measures, [](const Measure& measure) {
    return measure.meaning.role == NumberRole::graph_wall && measure.value == 14'283;
  }));
  const auto part = open(std::string(vela) +
                         "DepthwiseConv2D,DepthwiseConv2D,CPU,0,0,0,0,0,0,0,0,0,0,0,100,dw\n");
  ASSERT_TRUE(part);
  const Profile& profile = part->front();
  EXPECT_THAT(numbers_of(profile), HasSubstr("\ndw:\n"));
  EXPECT_EQ(profile.ops.back().engine, Engine::host);
  for (const Measure& measure : profile.measures) {
    EXPECT_NE(measure.meaning.role, NumberRole::graph_wall);
  }
  EXPECT_TRUE(std::ranges::any_of(profile.notes, [](const Note& note) {
    return note.severity == Severity::warning &&
           note.message.starts_with("operators that run on the CPU");
  }));
}

// A row each, of networks compiled by one script.
TEST(Tables, RowsOfNetworksAreProfilesOfTheirOwn) {
  const auto description = parse_description(
      "name = \"totals\"\norigin = \"estimated\"\nrows = \"networks\"\n"
      "[[column]]\nhead = \"net\"\nis = \"network\"\n"
      "[[column]]\nhead = \"chip\"\nis = \"device\"\n"
      "[[column]]\nhead = \"ms\"\nis = \"time\"\nunit = \"ms\"\n",
      "mine.toml");
  ASSERT_TRUE(description) << description.error().message;
  const std::string text = "net,chip,ms\na,X1,1.5\nb,X2,\nc,X1,0.25\n";
  auto source = open_byte_source(text, "t.csv");
  const auto profiles = read_table(**source, *description);
  ASSERT_TRUE(profiles) << profiles.error().message;
  std::string said;
  for (const Profile& profile : *profiles) {
    said += profile.provenance.graph + " on " + profile.provenance.device;
    for (const Measure& measure : profile.measures) said += fmt::format(" {}", measure.value);
    said += '\n';
  }
  EXPECT_EQ(said, "a on X1 1500000\nc on X1 250000\n");
  EXPECT_TRUE(std::ranges::any_of(profiles->front().notes, [](const Note& note) {
    return note.message == "networks without a number; left out";
  }));
}

TEST(Tables, WithoutARowAreRefused) {
  const auto profiles = open(openvino);
  ASSERT_FALSE(profiles);
  EXPECT_EQ(profiles.error().message,
            "table.csv: is a table of OpenVINO performance counters, but has no row below its "
            "header; write it again");
  EXPECT_FALSE(recognise_table("layerName;execStatus\nconv;EXECUTED\n"));
  EXPECT_FALSE(recognise_table(""));
}

TEST(Tables, CellsThatAreNoNumbersAreCounted) {
  const auto profiles =
      open(std::string(openvino) + "conv;EXECUTED;Convolution;DPU;N/A;0.4\n" +
           "fc;EXECUTED;MatMul;DPU;1e999;0.4\n;EXECUTED;x;DPU;1;1\nshort;EXECUTED\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(numbers_of(profiles->front()),
            "conv: time summed over engines=400000\nfc: time summed over engines=400000\nshort:\n");
  std::vector<std::string> said;
  for (const Note& note : profiles->front().notes) {
    if (note.severity == Severity::warning) said.push_back(note.message);
  }
  EXPECT_THAT(said, ElementsAre("'realTime (ms)' is not a number in some rows; left out",
                                "rows without the name of an op; left out"));
}

// The length of the graph was the sum of the other rows, and ops were ranked by another number.
TEST(Tables, ARowWithoutATimeLeavesTheGraphWithoutALength) {
  const std::string header(vela, std::string_view(vela).find('\n') + 1);
  const std::string row = "Conv2D,Conv2D,NPU,29440,73.9,{},21.3,14283,10684,0,0,3168,1,1,1,{}\n";
  for (const char* unknown : {"N/A", "nan", "-5", "", "1,5", "1e300"}) {
    const std::string cell = std::string("\"") + unknown + "\"";
    const auto profiles = open(header + fmt::format(fmt::runtime(row), cell, "a") +
                               fmt::format(fmt::runtime(row), 7, "b"));
    ASSERT_TRUE(profiles) << profiles.error().message;
    const Profile& profile = profiles->front();
    EXPECT_EQ(profile.measures.front().subject_id, 1u) << unknown;
    EXPECT_EQ(profile.text(profile.measures.front().what), "op cycles");
    EXPECT_FALSE(std::ranges::any_of(profile.measures, [](const Measure& measure) {
      return measure.meaning.role == NumberRole::graph_wall;
    })) << unknown;
  }
}

TEST(Tables, WithDecimalCommasWasAPageWithoutNumbers) {
  const auto profiles = open(std::string(openvino) + "conv;EXECUTED;Convolution;DPU;0,116;0,464\n" +
                             "pool;EXECUTED;MaxPool;Shave;0,015;0,062\n");
  ASSERT_FALSE(profiles);
  EXPECT_EQ(profiles.error().message,
            "table.csv: is a table of OpenVINO performance counters, but 'realTime (ms)' is "
            "'0,116', and no other cell is a number; write them as 1234.5");
}

}  // namespace
}  // namespace npuscope::tables::read_table_test
