#include <gtest/gtest.h>

#include "formats/qnn/assemble/sets.hpp"
#include "formats/qnn/generated_run.hpp"

namespace npuscope::qnn::recognise_test {
namespace {

TEST(QnnRecognise, KnowsEachFileByItsContent) {
  const test::GeneratedRun run = test::small_run();
  EXPECT_EQ(recognise(test::op_trace_of(run)), Kind::op_trace);
  EXPECT_EQ(recognise(test::run_trace_of(run)), Kind::run_trace);
  EXPECT_EQ(recognise(test::htp_graph_of(run)), Kind::htp_graph);
  EXPECT_EQ(recognise(test::qhas_of(run)), Kind::qhas);
  EXPECT_EQ(recognise(test::viewer_text_of(run)), Kind::viewer_text);
  EXPECT_EQ(recognise(test::viewer_csv_of(run)), Kind::viewer_csv);
  EXPECT_EQ(recognise(test::viewer_json_of(run)), Kind::viewer_json);
}

TEST(QnnRecognise, KnowsFilesWithoutHeaderByTheirStructure) {
  const auto without_header = [](std::string text) {
    const std::size_t begin = text.find("\"header\"");
    const std::size_t end = text.find(',', text.find("\"artifact_type\""));
    return text.erase(begin, end + 1 - begin);
  };
  const test::GeneratedRun run = test::small_run();
  for (const auto& [text, kind] : {std::pair(test::op_trace_of(run), Kind::op_trace),
                                   std::pair(test::run_trace_of(run), Kind::run_trace),
                                   std::pair(test::htp_graph_of(run), Kind::htp_graph),
                                   std::pair(test::qhas_of(run), Kind::qhas)}) {
    const std::string bare = without_header(text);
    ASSERT_EQ(bare.find("artifact_type"), std::string::npos);
    EXPECT_EQ(recognise(bare), kind) << bare.substr(0, 300);
  }
}

TEST(QnnRecognise, AcceptsAPreambleBeforeTheCsvHeaderAndAByteOrderMark) {
  const std::string csv = test::viewer_csv_of(test::small_run());
  EXPECT_EQ(recognise("Input Log File Location: a.log\nBackend: v2.47\n\n" + csv),
            Kind::viewer_csv);
  EXPECT_EQ(recognise("\xEF\xBB\xBF" + csv), Kind::viewer_csv);
}

TEST(QnnRecognise, KnowsAPieceOfTheText) {
  EXPECT_EQ(recognise("Execute Stats: \n\nExecute Stat 1\n"), Kind::viewer_text);
}

TEST(QnnRecognise, LeavesOtherFilesAlone) {
  EXPECT_EQ(recognise(""), Kind::none);
  EXPECT_EQ(recognise("   \n"), Kind::none);
  EXPECT_EQ(recognise(R"({"traceEvents": [{"ph": "X", "name": "MatMul", "ts": 1}]})"), Kind::none);
  EXPECT_EQ(recognise(R"({"header": {"artifact_type": "SOMETHING"}})"), Kind::none);
  EXPECT_EQ(recognise(R"({"artifact_type")"), Kind::none);
  EXPECT_EQ(recognise("a,b,c\n1,2,3\n"), Kind::none);
}

TEST(QnnRecognise, SaysHowToDecodeTheClosedBinaries) {
  const std::string binary("\x01\x00\xFFQNN", 6);
  EXPECT_EQ(vendor_binary_advice("run/qnn-profiling-data_0.log", binary),
            "run/qnn-profiling-data_0.log: is a QNN profiling log, a closed binary format; decode "
            "it with 'qnn-profile-viewer --config config.json --reader "
            "libQnnHtpOptraceProfilingReader.so --input_log qnn-profiling-data_0.log --schematic "
            "<graph>_schematic.bin --output chrometrace.json' and open what that writes");
  EXPECT_EQ(vendor_binary_advice("net_schematic.bin", binary),
            "net_schematic.bin: is a QNN optrace schematic, a closed binary format that decodes a "
            "profiling log of the same graph; run 'qnn-profile-viewer --config config.json "
            "--reader libQnnHtpOptraceProfilingReader.so --input_log qnn-profiling-data_0.log "
            "--schematic net_schematic.bin --output chrometrace.json' and open what that writes");
  EXPECT_EQ(vendor_binary_advice("qnn-profiling-data_0.log", "MobaXterm session\n"),
            "qnn-profiling-data_0.log: is named like a QNN binary but holds text; copy it from the "
            "device again as a binary file (adb pull or tar)");
  EXPECT_EQ(vendor_binary_advice("qnn-profiling-data_0.log", ""),
            "qnn-profiling-data_0.log: is empty; copy it from the device again");
  EXPECT_EQ(vendor_binary_advice("weights.bin", binary), std::nullopt);
  // The viewer's own output under the log's name is no binary.
  EXPECT_EQ(
      vendor_binary_advice("qnn-profiling-data_0.log", test::viewer_text_of(test::small_run())),
      std::nullopt);
}

}  // namespace
}  // namespace npuscope::qnn::recognise_test
