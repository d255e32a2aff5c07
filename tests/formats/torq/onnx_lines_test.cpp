// Names from an ONNX model where the .mlir that locations name is not there.
#include "formats/torq/debug/onnx_lines.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"

namespace npuscope::torq::onnx_lines_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string field(int number, const std::string& bytes) {
  std::string out(1, char(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size >= 128; size >>= 7) out += char(size % 128 + 128);
  return out + char(size) + bytes;
}

// A model of these operators, with so many initializers.
std::string model_of(const std::vector<std::string>& operators, int initializers) {
  std::string graph;
  for (const std::string& each : operators) {
    graph += field(1, field(1, "input") + field(4, each) + field(5, field(1, "name")));
  }
  for (int i = 0; i < initializers; ++i) graph += field(5, field(8, "weights"));
  return field(7, graph);
}

TEST(OnnxLines, AreThoseOfTheImporter) {
  EXPECT_THAT(lines_of_onnx(model_of({"Conv", "Relu"}, 1)),
              ::testing::ElementsAre("module {", "func.func", "torch.operator \"onnx.Constant\"",
                                     "torch.constant.none", "torch.operator \"onnx.Conv\"",
                                     "torch.operator \"onnx.Relu\""));
}

// A node with graphs takes several lines: where the next one stands is not known.
TEST(OnnxLines, EndBeforeANodeWithGraphs) {
  const std::string loop = field(1, field(4, "If") + field(5, field(6, "")));
  const std::string conv = field(1, field(4, "Conv"));
  EXPECT_EQ(lines_of_onnx(field(7, conv + loop + conv)).size(), 4u);
}

TEST(OnnxLines, OfRubbishAreNone) {
  EXPECT_TRUE(lines_of_onnx("").empty());
  EXPECT_TRUE(lines_of_onnx("rubbish").empty());
  const std::string model = model_of({"Conv", "Relu", "MaxPool"}, 2);
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    std::string broken = model.substr(0, random() % (model.size() + 1));
    if (!broken.empty()) broken[random() % broken.size()] = char(random() % 256);
    EXPECT_LE(lines_of_onnx(broken).size(), model.size() + 3);
  }
}

TEST(OnnxLines, OfAForgedModelDoNotFillTheMemory) {
  std::string graph;
  for (int i = 0; i < 2'000'000; ++i) graph += std::string("\x0a\x00", 2);
  EXPECT_LE(lines_of_onnx(field(7, graph)).size(), 1'000'003u);
}

class OnnxNextToDebugInformation : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(data("one_dispatch/debug"), folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string labels_with(const std::string& name, const std::string& model) {
    std::ofstream(folder_ / name, std::ios::binary) << model;
    const auto debug = load_debug_info(folder_);
    EXPECT_TRUE(debug) << debug.error().message;
    notes_ = lines_of(debug->notes);
    std::string labels;
    const auto profile = make_profile(debug->dispatches.front(), &*debug);
    for (const Op& op : profile->ops) labels += std::string(profile->text(op.label())) + "\n";
    return labels;
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / "npuscope_onnx_lines";
  std::string notes_;
};

// Line 4 is a convolution, 5 a pool, 6 a convolution: as in net.mlir, which is not there.
TEST_F(OnnxNextToDebugInformation, NamesTheOperators) {
  const std::string labels =
      labels_with("net.onnx", model_of({"Conv", "MaxPool", "Conv", "Relu"}, 0));
  EXPECT_THAT(labels, HasSubstr("onnx.Conv@L4\nonnx.MaxPool@L5\nonnx.MaxPool@L5\nonnx.Conv@L6\n"));
  EXPECT_THAT(notes_, HasSubstr("net.mlir is not there: its operators are those of this model"));
}

TEST_F(OnnxNextToDebugInformation, OfAnotherModelNamesNothing) {
  for (const std::string& model :
       {model_of({"Conv", "MaxPool", "Conv"}, 1), model_of({"Relu", "Relu", "Relu", "Conv"}, 0),
        model_of({}, 100)}) {
    const std::string labels = labels_with("other.onnx", model);
    EXPECT_THAT(labels, HasSubstr("conv2d_0 @L4C10\nmaxpool2d_1 @L5C10\n"));
    EXPECT_THAT(notes_, HasSubstr("kernels and operators do not fit; put models/net.mlir there"));
  }
}

}  // namespace
}  // namespace npuscope::torq::onnx_lines_test
