#include "npuscope/npu/nsp/compile/build.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "formats/qaic/qpc/qpc.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::nsp::build_test {
namespace {

TEST(ParsePmuEvents, ReadsHexadecimalWithAndWithoutPrefix) {
  EXPECT_EQ(*parse_pmu_events("3F,70,200"), (std::vector<std::uint32_t>{0x3F, 0x70, 0x200}));
  EXPECT_EQ(*parse_pmu_events("0x3f"), (std::vector<std::uint32_t>{0x3F}));
  EXPECT_EQ(*parse_pmu_events("TASKS,3f"), (std::vector<std::uint32_t>{0x90, 0x3F}));
  for (const char* bad : {"", "3F,", "G", "1,2,3,4,5,6,7,8,9", "0x", "100000000"}) {
    EXPECT_FALSE(parse_pmu_events(bad)) << bad;
  }
}

class Specializations : public testing::Test {
 protected:
  void SetUp() override {
    ArchitectureChanges changes;
    changes.layers = 1;
    GenerateOptions symbolic;
    symbolic.symbolic = true;
    const auto model = generate_onnx(*make_architecture("qwen3-0.6b", changes), {}, symbolic);
    ASSERT_TRUE(model);
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("npuscope-build-test-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(write_file_atomically(folder_ / "model.onnx", as_byte_span(model->bytes)));
    request_.options.cores = 4;
    request_.options.convert_to_fp16 = true;
    request_.specializations = (folder_ / "specializations.json").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write_list(std::string_view json) {
    ASSERT_TRUE(write_file_atomically(request_.specializations, as_byte_span(json)));
  }

  std::filesystem::path folder_;
  BuildRequest request_;
};

TEST_F(Specializations, BecomeANetworkEach) {
  write_list(R"({"specializations": [
      {"batch_size": "1", "seq_len": "32", "ctx_len": "128"},
      {"batch_size": "1", "seq_len": "1", "ctx_len": "128"}]})");
  const auto built = build(folder_ / "model.onnx", request_);
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_EQ(built->networks->size(), 2u);
  EXPECT_EQ((*built->networks)[0].program.network_name, "QAicGraph_spec0");
  EXPECT_EQ((*built->networks)[1].program.network_name, "QAicGraph_spec1");
  EXPECT_GT((*built->networks)[0].metrics.original_macs,
            (*built->networks)[1].metrics.original_macs);
  EXPECT_EQ(qaic::find_programs(built->qpc, "built")->size(), 2u);
}

TEST_F(Specializations, OfOneIsThePlainNetwork) {
  write_list(R"({"specializations": [{"batch_size": "1", "seq_len": "1", "ctx_len": "128"}]})");
  const auto built = build(folder_ / "model.onnx", request_);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ((*built->networks)[0].program.network_name, "QAicGraph");
}

TEST_F(Specializations, ThatLeaveASymbolOpenAreRefusedByItsName) {
  write_list(R"({"specializations": [{"batch_size": "1", "seq_len": "1"}]})");
  const auto built = build(folder_ / "model.onnx", request_);
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().message.find("ctx_len"), std::string::npos) << built.error().message;
}

TEST_F(Specializations, WereAllOverruledByADefinitionOfTheirSymbol) {
  write_list(R"({"specializations": [
      {"batch_size": "1", "seq_len": "32", "ctx_len": "128"},
      {"batch_size": "1", "seq_len": "1", "ctx_len": "128"}]})");
  request_.import.symbols = {{"ctx_len", 128}};
  EXPECT_TRUE(build(folder_ / "model.onnx", request_));
  request_.import.symbols = {{"seq_len", 32}};
  const auto built = build(folder_ / "model.onnx", request_);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, fmt::format("-onnx-define-symbol=seq_len,32 but {} gives it 1; "
                                               "give it one value",
                                               request_.specializations));
}

TEST_F(Specializations, OnSeveralDevicesHaveANetworkForEach) {
  write_list(R"({"specializations": [
      {"batch_size": "1", "seq_len": "32", "ctx_len": "128"},
      {"batch_size": "1", "seq_len": "1", "ctx_len": "128"}]})");
  request_.partition.devices = {0, 1};
  request_.partition.cores = 2;
  const auto built = build(folder_ / "model.onnx", request_);
  ASSERT_TRUE(built) << built.error().message;
  std::vector<std::string> names;
  for (const CompiledNetwork& network : *built->networks) {
    names.push_back(network.program.network_name);
    EXPECT_EQ(network.program.cores, 2u);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"QAicGraph_spec0_slice00", "QAicGraph_spec0_slice01",
                                      "QAicGraph_spec1_slice00", "QAicGraph_spec1_slice01"}));
  const auto qpc = qaic::read_qpc(built->qpc, "built");
  ASSERT_TRUE(qpc);
  const qaic::QpcSegment* partition = qpc->find(qaic::segment_partition);
  ASSERT_NE(partition, nullptr);
  EXPECT_EQ(read_partition_config(partition->bytes, "mdp_meta_info")->devices,
            request_.partition.devices);
  EXPECT_EQ(qaic::find_programs(built->qpc, "built")->size(), 4u);
}

// Amber 7B in float32 is 25 GiB of constants: too much for one card, and for two whose share
// is 12.6 GiB and the whole table of embeddings, not.
TEST(DeviceMemory, IsNotOverfilled) {
  const auto model = generate_onnx(*make_architecture("amber-7b", {}), {1, 1, 128}, {});
  ASSERT_TRUE(model);
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("npuscope-memory-test-{}.onnx", ::getpid());
  ASSERT_TRUE(write_file_atomically(path, as_byte_span(model->bytes)));
  BuildRequest request;
  request.options.cores = 16;
  request.options.stats_level = 40;
  const auto one = build(path, request);
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message.find("device 0 of 1 needs 25."), std::string::npos)
      << one.error().message;
  EXPECT_NE(one.error().message.find("aic100 has 16.00 GiB"), std::string::npos)
      << one.error().message;
  EXPECT_EQ(one.error().kind, ErrorKind::input);
  // What it is made of adds up to what it needs.
  double needed = 0, constants = 0, state = 0, buffers = 0, spilled = 0;
  const std::size_t numbers = one.error().message.find("needs ");
  ASSERT_EQ(std::sscanf(one.error().message.c_str() + numbers,
                        "needs %lf GiB of DDR (%lf of constants, %lf of retained state, %lf of "
                        "input, output and statistics buffers, %lf spilled)",
                        &needed, &constants, &state, &buffers, &spilled),
            5)
      << one.error().message;
  EXPECT_NEAR(needed, constants + state + buffers + spilled, 0.03);
  EXPECT_NEAR(constants, 6'738'415'616 * 4.0 / (1 << 30), 0.1);  // parameters of the model
  request.partition.devices = {0, 1};
  const auto two = build(path, request);
  EXPECT_TRUE(two) << two.error().message;
  std::filesystem::remove(path);
}

TEST(PmuRecipes, AreThoseOfTheTarget) {
  BuildRequest request;
  request.pmu_recipe = "Nothing";
  const auto built =
      build(std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx", request);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message,
            "-aic-pmu-recipe=Nothing: aic100 has AxiRd, AxiRdWr, AxiWr, HmxMacs, KernelUtil");
}

}  // namespace
}  // namespace npuscope::npu::nsp::build_test
