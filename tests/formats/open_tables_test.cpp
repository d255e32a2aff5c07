// Tables of one folder that belong together: a network's row and the table of its layers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "npuscope/formats/open.hpp"

namespace npuscope::open_tables_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As Arm Vela writes both: NET_per-layer.csv and NET_summary_SYSTEM.csv.
class OpenTables : public ::testing::Test {
 protected:
  OpenTables() : folder_(fs::path(testing::TempDir()) / ("tables_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OpenTables() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  // 400 cycles.
  void put_layers(const std::string& network, const std::string& more = "") const {
    put(network + "_per-layer.csv",
        "Original Operator,NNG Operator,Target,Staging Usage,Peak% (Staging),Op Cycles,Network% "
        "(cycles),NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network% (MAC),Util% "
        "(MAC),Name\n"
        "Conv2D,Conv2D,NPU,64,100,300,75,300,20,0,0,5,4096,80,50,conv\n"
        "Softmax,MaxPool,NPU,64,100,100,25,90,100,0,0,0,1024,20,30,prob\n" +
            more);
  }
  void put_summary(const std::string& network, const std::string& system, int cycles,
                   const std::string& clock = "500000000.0") const {
    put(fmt::format("{}_summary_{}.csv", network, system),
        fmt::format(
            "experiment,network,accelerator_configuration,system_config,memory_mode,core_clock,"
            "inference_time,sram_memory_used,dram_memory_used,on_chip_flash_memory_used,"
            "off_chip_flash_memory_used,sram_total_bytes,dram_total_bytes,"
            "on_chip_flash_total_bytes,off_chip_flash_total_bytes,nn_macs,cycles_npu,"
            "cycles_sram_access,cycles_dram_access,cycles_on_chip_flash_access,"
            "cycles_off_chip_flash_access,cycles_total\n"
            "default,{},Ethos_U55_128,{},Shared_Sram,{},8e-07,1.5,0.0,0.0,2.0,2048,0,0,512,5120,"
            "390,120,0,0,5,{}\n",
            network, system, clock, cycles));
  }

  std::vector<Profile> open() const {
    auto opened = open_profiles({&folder_, 1});
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(opened->profiles) : std::vector<Profile>{};
  }

  static std::vector<std::string> numbers_of_run(const Profile& profile) {
    std::vector<std::string> numbers;
    for (const Measure& measure : profile.measures) {
      if (measure.subject != Measure::Subject::profile) continue;
      numbers.push_back(fmt::format("{} {:.10g}", profile.text(measure.what), measure.value));
    }
    return numbers;
  }
  static std::vector<std::string> warnings_of(const Profile& profile) {
    std::vector<std::string> said;
    for (const Note& note : profile.notes) {
      if (note.severity == Severity::warning) said.push_back(note.message);
    }
    return said;
  }
  static double rate_of(const Profile& profile) {
    return profile.clocks[index_of(profile.base_clock)].rate.value;
  }
  static std::vector<std::string> names_of(const std::vector<Profile>& profiles) {
    std::vector<std::string> names;
    for (const Profile& profile : profiles) {
      names.push_back(fmt::format("{} of {}, {} ops", profile.provenance.format,
                                  profile.provenance.device, profile.ops.size()));
    }
    return names;
  }

  fs::path folder_;
};

TEST_F(OpenTables, ANetworksRowNamesTheDeviceOfItsLayersAndGivesTheClock) {
  put_layers("net"), put_summary("net", "High_End", 400);
  const auto profiles = open();
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.provenance.device, "Ethos_U55_128");
  EXPECT_EQ(profile.provenance.graph, "net");
  EXPECT_EQ(profile.provenance.files.size(), 2u);
  EXPECT_EQ(rate_of(profile), 5e8);
  EXPECT_THAT(numbers_of_run(profile),
              ElementsAre("sum of the ops 400", "SRAM bytes used 1536", "DRAM bytes used 0",
                          "on-chip flash bytes used 0", "off-chip flash bytes used 2048",
                          "SRAM bytes moved 2048", "DRAM bytes moved 0",
                          "on-chip flash bytes moved 0", "off-chip flash bytes moved 512"));
  ASSERT_EQ(profile.checks.size(), 1u);
  EXPECT_EQ(profile.checks[0].outcome, Check::Outcome::passed);
  EXPECT_THAT(warnings_of(profile), IsEmpty());
  EXPECT_TRUE(std::ranges::any_of(profile.notes, [](const Note& note) {
    return note.message == "system configuration High_End, memory mode Shared_Sram";
  }));
}

// The model that Vela compiled lies next to its tables.
TEST_F(OpenTables, AModelNextToTablesWasAWarningOnEachPage) {
  put_layers("net"), put_summary("net", "High_End", 400);
  put("net_vela.tflite", std::string("\x1c\0\0\0TFL3", 8) + std::string(200, '\0'));
  const auto opened = open_profiles({&folder_, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->profiles.size(), 1u);
  EXPECT_TRUE(std::ranges::none_of(opened->notes, [](const Note& note) {
    return note.message.find("TensorFlow Lite") != std::string::npos;
  }));
}

// Its total lacks what runs on the CPU, so that it is no length of the graph.
TEST_F(OpenTables, ANetworkInPartOnTheCpuStaysWithoutALength) {
  put_layers("net", "DepthwiseConv2D,DepthwiseConv2D,CPU,0,0,0,0,0,0,0,0,0,0,0,100,dw\n");
  put_summary("net", "High_End", 400);
  const auto profiles = open();
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(rate_of(profiles[0]), 5e8);
  EXPECT_TRUE(std::ranges::none_of(profiles[0].measures, [](const Measure& measure) {
    return measure.meaning.role == NumberRole::graph_wall;
  }));
}

TEST_F(OpenTables, ARowOfAnotherRunIsNotJoined) {
  put_layers("net"), put_summary("net", "High_End", 401);
  const auto profiles = open();
  EXPECT_THAT(names_of(profiles), ElementsAre("Vela performance estimate of Ethos-U, 2 ops",
                                              "Vela summary of Ethos_U55_128, 0 ops"));
  EXPECT_EQ(rate_of(profiles[0]), 0);
  ASSERT_EQ(profiles[0].checks.size(), 1u);
  EXPECT_EQ(profiles[0].checks[0].outcome, Check::Outcome::failed);
  EXPECT_EQ(profiles[0].checks[0].detail, "400 and 401");
  EXPECT_THAT(warnings_of(profiles[0]), ElementsAre(HasSubstr("do not add up to the network's")));
}

// The layers' table is written anew for each configuration.
TEST_F(OpenTables, OfSeveralConfigurationsTheOneThatAddsUpIsOfTheLayers) {
  put_layers("net"), put_summary("net", "A", 900, "1000000000.0");
  put_summary("net", "B", 400);
  const auto profiles = open();
  EXPECT_THAT(names_of(profiles), ElementsAre("Vela performance estimate of Ethos_U55_128, 2 ops",
                                              "Vela summary of Ethos_U55_128, 0 ops"));
  EXPECT_EQ(rate_of(profiles[0]), 5e8);
  EXPECT_EQ(rate_of(profiles[1]), 1e9);
  EXPECT_THAT(warnings_of(profiles[0]), IsEmpty());
  put_summary("net", "C", 400);
  const auto doubtful = open();
  EXPECT_EQ(doubtful.size(), 4u);
  EXPECT_THAT(warnings_of(doubtful[0]), ElementsAre(HasSubstr("those of several files")));
}

TEST_F(OpenTables, NetworksOfOneFolderKeepToTheirOwn) {
  put_layers("net"), put_layers("net_2"), put_summary("net_2", "High_End", 400);
  const auto profiles = open();
  EXPECT_THAT(names_of(profiles), ElementsAre("Vela performance estimate of Ethos_U55_128, 2 ops",
                                              "Vela performance estimate of Ethos-U, 2 ops"));
}

TEST_F(OpenTables, ANetworksRowAloneHasNoLengthOfTheGraph) {
  put_summary("net", "High_End", 400);
  const auto profiles = open();
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.provenance.times, Origin::estimated);
  EXPECT_EQ(profile.provenance.graph, "net");
  EXPECT_EQ(rate_of(profile), 5e8);
  EXPECT_EQ(numbers_of_run(profile).size(), 15u);
  EXPECT_THAT(numbers_of_run(profile), testing::Contains("op cycles 400"));
  for (const Measure& measure : profile.measures) {
    EXPECT_EQ(measure.meaning.role, NumberRole::none);
    EXPECT_EQ(measure.origin, Origin::estimated);
  }
}

}  // namespace
}  // namespace npuscope::open_tables_test
