// Files of other tools: what they are, not that they are broken.
#include "formats/other_files.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace npuscope::other_files_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class OtherFiles : public ::testing::Test {
 protected:
  OtherFiles() : folder_(fs::path(::testing::TempDir()) / ("other_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OtherFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  // The error of opening it.
  std::string error(const std::string& name, const std::string& text) {
    const fs::path path = put(name, text);
    const auto opened = open_profiles({&path, 1});
    return opened ? "" : opened.error().message;
  }

  fs::path folder_;
};

TEST_F(OtherFiles, AnEmptyListWasAnEmptyPage) {
  EXPECT_THAT(error("x.json", "[\n]\n"), HasSubstr("an empty list"));
  EXPECT_EQ(error("y.json", R"([{"ph": "X", "name": "a", "ts": 0, "dur": 1}])"), "");
}

TEST_F(OtherFiles, ATfliteModelWasSigmaStars) {
  const std::string message = error("net.tflite", "\x1c\0\0\0TFL3"s + std::string(200, '\0'));
  EXPECT_THAT(message, AllOf(HasSubstr("TensorFlow Lite model"), Not(HasSubstr("SigmaStar")),
                             Not(HasSubstr("copy it again"))));
}

TEST_F(OtherFiles, EachSaysWhatItIs) {
  const struct {
    const char* name;
    std::string text;
    const char* says;
  } cases[] = {
      {"bench.json",
       R"({"context": {}, "benchmarks": [{"name": "net", "real_time": 41.1, "time_unit": "ms"}]})",
       "a report of Google Benchmark"},
      {"mlperf_log_accuracy.json", R"([{"seq_id": 0, "qsl_idx": 28, "data": "00"}])",
       "name mlperf_log_summary.txt"},
      {"mlperf_log_detail.txt",
       ":::MLLOG {\"key\": \"loadgen_version\", \"value\": \"6.0.17\", \"time_ms\": 0.007}\n",
       "name mlperf_log_summary.txt"},
      {"inspector.tsv",
       "\tevent_block_name\tevent_name\tavg (ms)\tis_delegated_op\tdelegate_backend_name\n"
       "0\tExecute\tDELEGATE_CALL\t5.146\tFalse\t\n",
       "name the ETDump"},
      {"report.json", R"({"format":"npuscope report data","version":1,"report":{}})",
       "the data of a report's page"},
      {"tensor_location.json", R"x([{"file-line": 19, "tiu_dma_id(before)": [0, 0]}])x",
       "tpu-mlir"},
      {"x.json", R"({"subfunc_0": {"GroupLayer": [{"group_cost": 1}]}})", "tpu-mlir"},
      {"BANDWIDTH_REPORT.csv", "LayerID, Avg IFMAP SRAM BW, Avg FILTER SRAM BW,\n0, 12.85, 0.23,\n",
       "name COMPUTE_REPORT.csv"},
      {"x.profile", "[bmprofile] is_mlir=1\n...Start Profile Log...\n", "tpu-mlir"},
      {"a.etdp", "\x0c\x09\0\0\x08\0\0\0ED00\xf8\xff\xff\xff"s, "ETDump"},
      {"b.etdump", "\x0c\0\0\0ED00\xf8\xff\xff\xff"s, "ETDump"},
      {"m.torq", "PK\x03\x04\x14\0\0\0"s, "compiled Torq model"},
      {"m.onnx", "\x08\x08\x12\x07pytorch\x1a\x05"s, "ONNX model"},
      {"context.bin", "\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\1"s + std::string(1484, 'x'),
       "a QNN context binary of 1,500 bytes"},
      {"vm.xplane.pb", "\x0a\x9f\xe9\x21\x12\x0e/host:metadata"s, "ends in the middle of a plane"},
      {"cfg.cfg", "[general]\nrun_name = net\n[architecture_presets]\n",
       "it begins with '[general]"},
      {"jit_net.hlo_proto.pb",
       "\x0a\xcc\xd1\x02\x0a\x07"
       "jit_net\x12\x06main.6"s,
       "cache of xprof"},
      {"communication.json", R"({"step1": {"collective": {"x": {"Communication Time Info": {}}}}})",
       "communication.json"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(error(each.name, each.text), HasSubstr(each.says)) << each.name;
  }
}

TEST_F(OtherFiles, ATraceThatMentionsThemIsATrace) {
  EXPECT_EQ(error("trace.json",
                  R"({"traceEvents": [{"ph": "X", "name": "\"averageMs\" \"percentage\"",
                      "ts": 0, "dur": 1, "pid": 1, "tid": 1}]})"),
            "");
}

TEST_F(OtherFiles, AFolderQuotesTheReasonsOfItsFiles) {
  put("a.json", R"([{"seq_id": 0, "qsl_idx": 28, "data": "00"}])");
  put("b.etdp", "\x0c\x09\0\0\x08\0\0\0ED00\xf8\xff\xff\xff"s);
  const auto opened = open_profiles({&folder_, 1});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr("none of 2 files"), HasSubstr("a.json: the answers of an MLPerf"),
                    HasSubstr("b.etdp: an ETDump")));
}

}  // namespace
}  // namespace npuscope::other_files_test
