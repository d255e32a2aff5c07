// Weights in MXFP6 and state in MXINT8: 6.25 and 8.25 bits a value in DDR, everything else as in
// float16.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/io_list.hpp"

namespace npuscope::npu::nsp::packed_test {
namespace {

using testing::HasSubstr;

std::uint64_t sum(const CompiledNetwork& network, std::uint64_t CoreMetrics::*figure) {
  std::uint64_t total = 0;
  for (const CoreMetrics& core : network.metrics.cores) total += core.*figure;
  return total;
}

Traffic traffic_of(const CompiledNetwork& network, TrafficPurpose purpose) {
  Traffic total;
  for (const CoreMetrics& core : network.metrics.cores) {
    total.read_bytes += core.by_purpose[purpose].read_bytes;
    total.write_bytes += core.by_purpose[purpose].write_bytes;
  }
  return total;
}

CompileOptions packing(std::uint32_t cores) {
  CompileOptions options = options_for(cores);
  options.mxfp6_matmul = true;
  options.mxint8_state = true;
  return options;
}

// A layer of Llama's: four products of 4096 by 4096, three of 4096 by 11,008.
constexpr std::uint64_t layer_weights = 4ull * 4096 * 4096 + 3ull * 4096 * 11'008;
constexpr std::uint64_t head_weights = 32'000ull * 4096;
// Keys and values of 32 heads, 128 tokens of 128.
constexpr std::uint64_t layer_state = 2ull * 32 * 128 * 128;

TEST(PackedWeights, TakeSixAndAQuarterBitsOfDdr) {
  const Graph graph = generated_model("amber-7b", {1, 1, 128}, 2);
  const CompiledNetwork plain = compiled(graph, options_for(14));
  const CompiledNetwork packed = compiled(graph, packing(14));
  const std::uint64_t weights = 2 * layer_weights + head_weights;
  ASSERT_EQ(packed.metrics.packed.size(), 2u);
  EXPECT_EQ(packed.metrics.packed[0].tensors, 2u * 7 + 1);
  EXPECT_EQ(packed.metrics.packed[0].bytes, weights * 2);
  EXPECT_EQ(packed.metrics.packed[0].ddr_bytes, weights * 25 / 32);
  const std::uint64_t saved = weights * 2 - weights * 25 / 32;
  EXPECT_EQ(packed.metrics.constant_bytes, plain.metrics.constant_bytes - saved);
  const auto read = [](const CompiledNetwork& network) {
    return sum(network, &CoreMetrics::ddr_read_constant_bytes) +
           sum(network, &CoreMetrics::hoisted_bytes);
  };
  EXPECT_NEAR(double(read(plain) - read(packed)), double(saved), 1e-5 * double(saved));
  EXPECT_EQ(packed.metrics.hmx_macs, plain.metrics.hmx_macs);
  EXPECT_TRUE(plain.metrics.packed.empty());
}

TEST(PackedWeights, AreThoseOfProductsAloneNotTablesOrConvolutions) {
  const CompiledNetwork network = compiled(repository_model("light_resnet50.onnx"), packing(2));
  ASSERT_EQ(network.metrics.packed.size(), 1u);
  EXPECT_EQ(network.metrics.packed[0].tensors, 1u);  // the classifier
  EXPECT_EQ(network.metrics.packed[0].bytes, 2048u * 1000 * 2);
}

TEST(PackedState, TakesEightAndAQuarterBitsOfDdr) {
  const Graph graph = generated_model("amber-7b", {1, 1, 128}, 2);
  const CompiledNetwork plain = compiled(graph, options_for(14));
  const CompiledNetwork packed = compiled(graph, packing(14));
  const std::uint64_t state = 2 * layer_state;
  EXPECT_EQ(packed.program.retained_bytes, state * 33 / 32);
  EXPECT_EQ(plain.program.retained_bytes, state * 2);
  const Traffic before = traffic_of(plain, TrafficPurpose::retained_state);
  const Traffic after = traffic_of(packed, TrafficPurpose::retained_state);
  EXPECT_EQ(before.read_bytes, state * 2);
  EXPECT_EQ(after.read_bytes, state * 33 / 32);
  EXPECT_EQ(after.write_bytes, state * 33 / 32);
  EXPECT_EQ(packed.metrics.host[TrafficPurpose::retained_state].read_bytes, state * 33 / 32);
}

TEST(PackedState, IsThatWhichIsNamed) {
  const Graph graph = generated_model("amber-7b", {1, 1, 128}, 2);
  std::string name;
  for (TensorId id : graph.outputs) {
    if (graph[id].name.ends_with("_RetainedState")) name = graph[id].name;
  }
  CompileOptions options = options_for(4);
  options.mxint8_names = {name};
  const CompiledNetwork network = compiled(graph, options);
  ASSERT_EQ(network.metrics.packed.size(), 1u);
  EXPECT_EQ(network.metrics.packed[0].tensors, 1u);
  EXPECT_EQ(network.program.retained_bytes, 2 * layer_state * 2 - layer_state / 2 * 31 / 32);
}

TEST(Packed, CollidesWithNothing) {
  for (const std::int64_t tokens : {1, 64}) {
    for (const std::uint32_t cores : {1u, 5u}) {
      const Graph graph = generated_model("qwen3-0.6b", {1, tokens, 512}, 1);
      const CollisionCheck check = check_collisions(graph, packing(cores), 100'000);
      EXPECT_EQ(check.collisions, 0u) << cores;
      EXPECT_EQ(check.early_ddr_reads, 0u) << cores;
    }
  }
}

TEST(Packed, IsOfNoTargetWithGraphsOfQnn) {
  const auto network = compile_network(generated_model("qwen3-0.6b", {1, 1, 128}, 1),
                                       *builtin_target("htp-v75"), packing(1));
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().message,
            "-mxfp6-matmul: htp-v75 compiles graphs of QNN, which have no such blocks; use aic100");
}

TEST(IoList, IsWhatExportersWrite) {
  const auto list = read_io_list(
      "# precision\n---\n - IOName: past_key.0\n   Precision: mxint8\n\n - IOName: 'ids'\n"
      "   Precision: float16\n   Scale: 1.0\n",
      "io.yaml");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].name, "past_key.0");
  EXPECT_EQ((*list)[0].precision, "mxint8");
  EXPECT_EQ((*list)[1].name, "ids");
  EXPECT_EQ((*list)[1].precision, "float16");
}

TEST(IoList, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, error] : {
           std::pair("- IOName: a\n- IOName: b\n  Precision: x\n",
                     "line 2: the input or output before has no precision"),
           std::pair("Precision: mxint8\n", "line 1: a key before the first IOName"),
           std::pair("- Precision: mxint8\n", "line 1: an entry must begin with its IOName"),
           std::pair("nonsense\n", "line 1: not a key with its value"),
           std::pair("- IOName: a\n  Precision: x\n- IOName: a\n  Precision: x\n",
                     "line 3: a name that was given before"),
           std::pair("- IOName: a\n", "line 1: the last input or output has no precision"),
       }) {
    const auto list = read_io_list(text, "io.yaml");
    ASSERT_FALSE(list) << text;
    EXPECT_THAT(list.error().message, HasSubstr(error));
  }
}

class IoListFile : public testing::Test {
 protected:
  IoListFile() {
    std::filesystem::create_directories(folder_);
    ArchitectureChanges changes;
    changes.layers = 1;
    const auto model = generate_onnx(*make_architecture("qwen3-0.6b", changes), {1, 1, 128}, {});
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << model->bytes;
  }
  ~IoListFile() override { std::filesystem::remove_all(folder_); }

  Result<BuildResult> build_with(const std::string& list) {
    std::ofstream(folder_ / "io.yaml") << list;
    BuildRequest request;
    request.options = options_for(2);
    request.io_list = (folder_ / "io.yaml").string();
    return build(folder_ / "model.onnx", request);
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "npuscope-io-list-file";
};

TEST_F(IoListFile, MakesStateMxint8AndWarnsOfWhatItDoesNot) {
  const auto plain = build_with("");
  ASSERT_TRUE(plain) << plain.error().message;
  const qaic::NetworkDescriptor& descriptor = plain->networks->front().descriptor;
  std::string list;
  std::size_t states = 0;
  for (const qaic::IoBinding& input : descriptor.inputs) {
    const bool is_state = input.initial.dims.size() == 4;
    states += is_state;
    list +=
        "- IOName: " + input.name + "\n  Precision: " + (is_state ? "mxint8" : "float16") + "\n";
  }
  ASSERT_EQ(states, 2u);
  const auto built = build_with(list);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->networks->front().program.retained_bytes * 64,
            plain->networks->front().program.retained_bytes * 33);
  ASSERT_EQ(built->warnings.size(), 1u);
  EXPECT_THAT(built->warnings[0], HasSubstr("has no effect on"));
  // It said index64, as kernels print it.
  EXPECT_THAT(built->warnings[0], HasSubstr("stays int64, not float16"));
}

TEST_F(IoListFile, RefusesANameThatTheModelLacks) {
  const auto built = build_with("- IOName: nobody\n  Precision: mxint8\n");
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message,
              testing::EndsWith("io.yaml: 'nobody' is neither an input nor an output of the model; "
                                "name one"));
}

}  // namespace
}  // namespace npuscope::npu::nsp::packed_test
