#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/memory/dispatch_memory.hpp"

namespace npuscope::torq::memory_test {
namespace {

using ::testing::HasSubstr;

std::string listed(const Result<Profile>& profile) {
  if (!profile) return profile.error().message;
  std::string out;
  for (std::size_t op = 0; op < profile->ops.size(); ++op) {
    const Op& each = profile->ops[op];
    out += fmt::format("{} [{}]", profile->text(each.name), profile->text(each.node));
    for (const Measure& measure : profile->measures) {
      if (measure.subject_id == op) {
        out += fmt::format(", {} {:.0f}", profile->text(measure.what), measure.value);
      }
    }
    out += "\n";
  }
  for (const Note& note : profile->notes) out += fmt::format("{} x {}\n", note.message, note.count);
  return out;
}

std::string sizes(std::string_view text, std::vector<std::filesystem::path> folders = {}) {
  const auto source = open_byte_source(text, "sizes.txt");
  SourceFiles sources(std::move(folders));
  return listed(read_tensor_sizes(**source, sources));
}

std::string memory(std::string_view text) {
  const auto source = open_byte_source(text, "dispatches.json");
  return listed(read_dispatch_memory(**source));
}

constexpr std::string_view of_add =
    "arith.constant,0,4,loc(unknown)\n"
    "arith.constant,0,4608,loc(\"add.mlir\":2:3)\n"
    "hal.interface.binding.subspan,unknown, unknown,loc(\"add.mlir\":1:3)\n"
    "tensor.empty,0,64,loc(\"add.mlir\":3:10)\n"
    "arith.addf,8,4,loc(callsite(\"add.mlir\":3:10 at \"add.mlir\":1:3))\n"
    "linalg.yield,4,0,loc(unknown)\n"
    "linalg.generic,128,64,loc(callsite(\"add.mlir\":3:10 at \"add.mlir\":1:3))\n"
    "linalg.generic,192,64,loc(callsite(\"add.mlir\":3:10 at \"add.mlir\":1:3))\n";

constexpr std::string_view left_out =
    "operations on scalars: not shown x 3\n"
    "operations whose sizes the compiler does not know x 1\n"
    "tensors before anything is in them: not shown x 1\n";

TEST(TensorSizes, AreThoseOfOperationsOnTensorsAlone) {
  EXPECT_TRUE(looks_like_tensor_sizes(of_add));
  EXPECT_EQ(sizes(of_add),
            "arith.constant @L2C3 [], result bytes 4608\n"
            "linalg.generic @L3C10 [], result bytes 64, operand bytes 128\n"
            "linalg.generic @L3C10 (2) [], result bytes 64, operand bytes 192\n" +
                std::string(left_out));
}

TEST(TensorSizes, HaveTheNamesOfTheSourceWhereItIsThere) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "npuscope_tensor_sizes";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "add.mlir") << "func.func @main(%a: tensor<16xf32>) {\n"
                                        "  %w = tosa.const : tensor<1152xf32>\n"
                                        "  %0 = tosa.add %a, %w : tensor<16xf32>\n}\n";
  EXPECT_THAT(
      sizes(of_add, {folder}),
      HasSubstr("linalg.generic @L3C10 [tosa.add@L3], result bytes 64, operand bytes 128\n"));
}

TEST(TensorSizes, OfABrokenFileAreThoseOfItsWholeLines) {
  EXPECT_EQ(sizes("linalg.fill,4,64,loc(unknown)\nlinalg.fill,4,-64,loc(unknown)\n\nlinalg.fi"),
            "linalg.fill [], result bytes 64, operand bytes 4\n"
            "lines that do not hold an operation, its bytes and its location: left out x 2\n");
  EXPECT_THAT(sizes("arith.addf,8,4,loc(unknown)\n"),
              HasSubstr("sizes.txt: has no operation on tensors of known sizes"));
  EXPECT_FALSE(looks_like_tensor_sizes("conv1,12,13,location\n"));
  EXPECT_FALSE(looks_like_tensor_sizes(""));
}

// Segments 1 and 2 share addresses.
constexpr std::string_view of_model =
    R"({"module": "cnn", "dispatches": [{"name": "cnn_dispatch_0", "segments": [)"
    R"({"index": 0, "initialized": true, "size": 72, "address": 1000},)"
    R"({"index": 1, "initialized": false, "size": 64, "address": 2000},)"
    R"({"index": 2, "initialized": false, "size": 100, "address": 2000}],)"
    R"("bindings": [)"
    R"({"index": 0, "id": 0, "address": 9000, "offset": 16, "size": 3072, "is_read_only": true},)"
    R"({"index": 1, "id": 1, "address": 9500, "offset": 0, "size": 10, "is_read_only": false},)"
    R"({"index": 2, "id": 2, "address": -1, "size": 10}]}, {"segments": []}]})";

// What of a dispatch was left out is unknown, not less.
TEST(DispatchMemory, CountsSharedAddressesOnce) {
  EXPECT_TRUE(looks_like_dispatch_memory(of_model));
  EXPECT_EQ(memory(of_model),
            "cnn_dispatch_0 [], code and constants 72, scratch 100\n"
            "bindings without an address and a size: left out x 1\n"
            "dispatches without a name: left out x 1\n");
}

TEST(DispatchMemory, OfBindingsThatAreAllThere) {
  const std::string whole(of_model.substr(0, of_model.find(",{\"index\": 2, \"id\"")));
  EXPECT_EQ(memory(whole + "]}]}"),
            "cnn_dispatch_0 [], code and constants 72, scratch 100, inputs 3072, outputs 10\n");
}

TEST(DispatchMemory, OfAnotherFileIsRefused) {
  EXPECT_THAT(memory(of_model.substr(0, 300)), HasSubstr("dispatches.json: is not whole JSON"));
  EXPECT_THAT(memory(R"({"dispatches": [{"segments": []}]})"), HasSubstr("has no dispatch"));
  EXPECT_FALSE(looks_like_dispatch_memory(R"({"dispatches": []})"));
}

}  // namespace
}  // namespace npuscope::torq::memory_test
