// A session of ONNX Runtime in the folder of what QNN wrote of its graphs.
#include "formats/open_session.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace npuscope::open_session_test {
namespace {

namespace fs = std::filesystem;

class OpenSession : public ::testing::Test {
 protected:
  OpenSession()
      : folder_(fs::path(::testing::TempDir()) / ("session_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OpenSession() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  static std::string execute(const std::string& node, int microseconds) {
    return fmt::format(
        "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
        "0,BACKEND,9,US,BACKEND,ROOT,RPC (execute) time\n"
        "0,BACKEND,30,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)\n"
        "0,BACKEND,30,CYCLES,BACKEND,SUB-EVENT,{}:OpId_1 (cycles)\n"
        "0,EXECUTE,{},US,BACKEND,ROOT,QNN (execute) time\n",
        node, microseconds);
  }

  // Two graphs, each `runs` times in turn.
  void put_csv(int runs) {
    std::ofstream csv(folder_ / "prof.csv");
    csv << "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event "
           "Identifier\n";
    for (int run = 0; run < runs; ++run) csv << execute("conv0", 500 - run) << execute("conv1", 50);
  }

  // One run takes 1000 us, its first graph 600 and then 10 fewer a run, its second 70.
  void put_session(int runs) {
    std::ofstream json(folder_ / "ort_1.json");
    const auto event = [&](const char* category, const std::string& name, int start, int duration,
                           const char* args) {
      json << fmt::format(
          R"({{"cat": "{}", "pid": 1, "tid": 1, "dur": {}, "ts": {}, "ph": "X", "name": "{}", "args": {{{}}}}})",
          category, duration, start, name, args);
    };
    const char* qnn = R"("op_name": "QNN_1", "provider": "QNNExecutionProvider")";
    json << '[';
    event("Session", "session_initialization", 0, 50, "");
    for (int run = 0; run < runs; ++run) {
      const int begin = 100 + run * 2000;
      json << ",\n";
      event("Node", "QNN_graph_b_kernel_time", begin + 5, 600 - 10 * run, qnn);
      json << ",\n";
      event("Node", "hardmax_kernel_time", begin + 650, 20,
            R"("op_name": "Hardmax", "provider": "CPUExecutionProvider")");
      json << ",\n";
      event("Node", "QNN_graph_a_kernel_time", begin + 700, 70, qnn);
      json << ",\n";
      event("Session", "model_run", begin, 1000, "");
    }
    json << "]\n";
  }

  std::vector<Profile> open() {
    auto opened = open_profiles({&folder_, 1});
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(opened->profiles) : std::vector<Profile>{};
  }

  static std::vector<double> values(const Profile& profile, NumberRole role) {
    std::vector<double> found;
    for (const Measure& measure : profile.measures) {
      if (measure.meaning.role == role) found.push_back(measure.value);
    }
    return found;
  }

  fs::path folder_;
};

TEST_F(OpenSession, NamesTheGraphsThatACsvNumbersAndSaysWhatTheyTookInIt) {
  put_csv(2);
  put_session(2);
  const std::vector<Profile> profiles = open();
  ASSERT_EQ(profiles.size(), 3u);
  const Profile &first = profiles[1], &second = profiles[2];
  EXPECT_EQ(first.provenance.graph, "QNN_graph_b");
  EXPECT_EQ(second.provenance.graph, "QNN_graph_a");
  EXPECT_FALSE(first.provenance.graph_is_numbered);
  EXPECT_EQ(values(first, NumberRole::session_run), (std::vector<double>{1000, 1000}));
  EXPECT_EQ(values(first, NumberRole::session_node), (std::vector<double>{600, 590}));
  EXPECT_EQ(values(second, NumberRole::session_run), (std::vector<double>{1000, 1000}));
  EXPECT_EQ(values(second, NumberRole::session_node), (std::vector<double>{70, 70}));
  for (const Measure& measure : first.measures) {
    if (measure.meaning.role != NumberRole::session_node) continue;
    EXPECT_EQ(first.clocks[index_of(measure.clock)].rate.value, 1e6);
  }
}

TEST_F(OpenSession, OfAnotherNumberOfRunsIsOfAnotherRun) {
  put_csv(3);
  put_session(2);
  const std::vector<Profile> profiles = open();
  ASSERT_EQ(profiles.size(), 3u);
  EXPECT_EQ(profiles[1].provenance.graph, "graph 1");
  EXPECT_TRUE(profiles[1].provenance.graph_is_numbered);
  EXPECT_TRUE(values(profiles[1], NumberRole::session_node).empty());
}

}  // namespace
}  // namespace npuscope::open_session_test
