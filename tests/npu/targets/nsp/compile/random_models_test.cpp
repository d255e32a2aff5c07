// Models that nobody wrote: whatever is in them, the compiler must finish, the program must be
// valid, and no two tasks may collide.

#include <map>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/random_models.hpp"
#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/told_operands.hpp"

namespace npuscope::npu::nsp::random_models_test {
namespace {

std::uint64_t bytes_put_out(const CompiledNetwork& network, std::string_view kind) {
  std::uint64_t bytes = 0;
  const qaic::StatsDescriptor& stats = network.descriptor.stats;
  for (const auto& core : stats.ops) {
    for (const auto& group : core) {
      for (const qaic::OpNameKind& op : group) {
        bytes += stats.texts[op.kind] == kind ? op.output_size : 0;
      }
    }
  }
  return bytes;
}

// The metrics left out what a core keeps of an exchange, 5 % of a squeezenet's multicasts; the
// vendor's log of a BERT has the sum of the operators (MC traffic write 83,190 KB, aicmulticastvtcm
// 83,188 KB).
std::uint64_t multicast_by_metrics(const CompiledNetwork& network) {
  std::uint64_t bytes = 0;
  for (const CoreMetrics& core : network.metrics.cores) bytes += core.multicast_bytes;
  return bytes;
}

TEST(RandomModels, CompileToValidProgramsWithoutCollisions) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < 150; ++seed) {
    const std::string text = RandomModel(seed).text();
    SCOPED_TRACE(text);
    const Graph graph = parsed(text);
    CompileOptions options = options_for(1 + random() % 16);
    options.convert_to_fp16 = random() % 4 != 0;
    options.op_stats_verbosity = 2;
    const auto network = compile_network(graph, aic100(), options);
    ASSERT_TRUE(network) << network.error().message;
    OperandCheck operands;
    operands.add(*network, "random");
    ASSERT_TRUE(operands.wrong.empty()) << operands.summary();
    ASSERT_EQ(bytes_put_out(*network, "aicmulticastvtcm"), multicast_by_metrics(*network));
    const auto again = qaic::read_program(qaic::write_program(network->program), "random");
    ASSERT_TRUE(again) << again.error().message;
    if (network->program.tasks.size() < 3000) {
      const CollisionCheck check = check_collisions(graph, options);
      ASSERT_EQ(check.collisions, 0u) << options.cores << " cores";
      ASSERT_EQ(check.early_ddr_reads, 0u) << options.cores << " cores";
    }
  }
}

std::map<std::string, int> kernels(const CompiledNetwork& network) {
  std::map<std::string, int> counts;
  for (const auto& task : network.program.tasks) ++counts[network.program.kernels[task.kernel]];
  counts.erase("aicendcyclestats");
  return counts;
}

TEST(Fusion, BiasNormalisationAndActivationVanishIntoTheConvolution) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      fused (float[1,32,16,16] x) => (float[1,32,16,16] y) {
        ws = Constant <value_ints = [32,32,3,3]> ()
        w = ConstantOfShape (ws)
        cs = Constant <value_ints = [32]> ()
        c = ConstantOfShape (cs)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
        b = BatchNormalization (a, c, c, c, c)
        y = Relu (b)
      })"),
                                options_for(1));
  EXPECT_EQ(kernels(network), (std::map<std::string, int>{{"aiccopytovtcm", 3},
                                                          {"aicconverttod32", 1},
                                                          {"aicconvolutiond32", 1},
                                                          {"aicconvertfromd32", 1},
                                                          {"aiccopyfromvtcm", 1},
                                                          {"aicinputsemaphoreinc", 1},
                                                          {"aicoutputsemaphoreinc", 1}}));
}

TEST(Fusion, QuantizedConvolutionsRunInBytesAtTwiceTheRate) {
  const auto model = [](const char* type) {
    return parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      quantized ({0}[1,256,32,32] x) => ({0}[1,256,32,32] y) {{
        scale = Constant <value_float = 0.5> ()
        ws = Constant <value_ints = [256,256,3,3]> ()
        w = ConstantOfShape <value = {0}[1] {{1}}> (ws)
        zero = Constant <value = {0} {{0}}> ()
        xf = DequantizeLinear (x, scale, zero)
        wf = DequantizeLinear (w, scale, zero)
        yf = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (xf, wf)
        y = QuantizeLinear (yf, scale, zero)
      }})",
                              type));
  };
  const auto network = compiled(model("int8"), options_for(1));
  EXPECT_FALSE(kernels(network).contains("convertto"));
  EXPECT_EQ(network.metrics.constant_bytes, 256u * 256 * 9);
  std::uint64_t cycles = 0, macs = 0;
  for (const auto& task : network.program.tasks) {
    if (task.macs > 0) cycles += task.cycles;
    EXPECT_EQ(task.macs > 0, (task.flags & qaic::task_hmx_int8) != 0);
    macs += task.macs;
  }
  const Target target = aic100();
  EXPECT_NEAR(double(cycles),
              double(macs) / (target.hmx_macs_per_cycle_int8 * target.hmx_efficiency),
              0.02 * double(cycles));
}

TEST(EmptyTensors, MultiplyToNothing) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      empty (float[0,32] x) => (float[0,64] y) {
        ws = Constant <value_ints = [32,64]> ()
        w = ConstantOfShape (ws)
        y = MatMul (x, w)
      })"),
                                options_for(4));
  EXPECT_EQ(network.metrics.hmx_macs, 0u);
}

TEST(Kernels, OnlyDivisionByAScalarIsAMultiplication) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      division (float[1,32,64] x) => (float[1,32,64] y) {
        two = Constant <value_float = 2.0> ()
        a = Div (x, two)
        y = Div (two, a)
      })"),
                                options_for(1));
  EXPECT_EQ(kernels(network)["aicmulsplat"], 1);
  EXPECT_EQ(kernels(network)["elementdiv"], 1);
}

Graph depthwise(const char* type) {
  return parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      depthwise ({0}[1,96,28,28] x) => ({1}[1,96,28,28] y) {{
        ws = Constant <value_ints = [96,1,3,3]> ()
        w = {2}
        y = {3} <kernel_shape = [3,3], pads = [1,1,1,1], group = 96> (x, w)
      }})",
                            type, std::string_view(type) == "float" ? "float" : "int32",
                            std::string_view(type) == "float"
                                ? "ConstantOfShape (ws)"
                                : "ConstantOfShape <value = int8[1] {1}> (ws)",
                            std::string_view(type) == "float" ? "Conv" : "ConvInteger"));
}

// The estimate of an HTP has those of float on the HMX, some of integers on HVX.
TEST(Depthwise, RanOnHvxWhereTheHmxIsFasterThoughItPads) {
  const auto network = compiled(depthwise("float"), options_for(4));
  EXPECT_EQ(kernels(network)["aicdepthwiseconvd32"], 0);
  EXPECT_EQ(network.metrics.hmx_macs, 96u * round_up(28u * 28, 32u) * 9 * 32);
  EXPECT_EQ(network.metrics.non_hmx_macs, 0u);
  const auto integers = compiled(depthwise("int8"), options_for(4));
  EXPECT_EQ(kernels(integers)["aicdepthwiseconvd32"], 4);
  EXPECT_EQ(integers.metrics.hmx_macs, 0u);
  EXPECT_EQ(integers.metrics.non_hmx_macs, 96u * 28 * 28 * 9);
}

TEST(LargeTensors, ThatNoDeviceCouldHoldAreRefusedBeforeTheyFillTheMemory) {
  const auto network = compile_network(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      huge (float[16777216,1048576] x) => (float[16777216,1048576] y) { y = Sigmoid (x) })"),
                                       aic100(), options_for(1));
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().kind, ErrorKind::input);
  EXPECT_NE(network.error().message.find("over 4194304 tasks"), std::string::npos)
      << network.error().message;
}

TEST(LargeTensors, AreStreamedThroughVtcmAndReadOnce) {
  // 48 MB of activation on one core with 8 MB of VTCM.
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      large (float[24,64,128,128] x) => (float[24,64,128,128] y) { y = Sigmoid (x) })"),
                                options_for(1));
  const std::uint64_t bytes = 24ull * 64 * 128 * 128 * 2;
  const CoreMetrics& core = network.metrics.cores[0];
  EXPECT_EQ(core.ddr_read_bytes, bytes);
  EXPECT_GE(core.ddr_write_bytes, bytes);
  EXPECT_LT(core.ddr_write_bytes, bytes + 100'000);  // and the statistics
  EXPECT_GT(kernels(network)["elementsigmoid"], 10);
}

TEST(LargeTensors, GoThroughARowOfElementwiseOperatorsTileByTile) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      large (float[24,64,128,128] x) => (float[24,64,128,128] y) {
        a = Sigmoid (x)
        b = Mul (a, a)
        c = Add (x, b)
        y = Mul (x, c) })"),
                                options_for(1));
  const std::uint64_t bytes = 24ull * 64 * 128 * 128 * 2;
  const CoreMetrics& core = network.metrics.cores[0];
  EXPECT_EQ(core.ddr_read_bytes, bytes);
  EXPECT_LT(core.ddr_write_bytes, bytes + 100'000);  // and the statistics
  EXPECT_EQ(kernels(network)["elementmul"], 2 * kernels(network)["elementsigmoid"]);
}

// Each of the twenty is needed until the last: as many tiles lie in VTCM at once.
TEST(LargeTensors, GoThroughARowThatKeepsManyTiles) {
  std::string body, sum = "a0";
  for (int i = 0; i < 20; ++i) body += fmt::format("a{} = Sigmoid (x)\n", i);
  for (int i = 1; i < 20; ++i) {
    body += fmt::format("s{} = Add ({}, a{})\n", i, sum, i);
    sum = fmt::format("s{}", i);
  }
  const auto network =
      compiled(parsed("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                      "large (float[24,64,128,128] x) => (float[24,64,128,128] y) {\n" +
                      body + "y = Relu (" + sum + ") }"),
               options_for(1));
  EXPECT_EQ(network.metrics.cores[0].ddr_read_bytes, 24ull * 64 * 128 * 128 * 2);
}

// It went to DDR, came back for the row, and went there again.
TEST(LargeTensors, GoFromAProductThroughTheRowBehindItBeforeTheyLeave) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      product (float[2048,512] x) => (float[2048,4096] y) {
        ws = Constant <value_ints = [512,4096]> ()
        w = ConstantOfShape (ws)
        m = MatMul (x, w)
        a = Sigmoid (m)
        y = Mul (m, a) })"),
                                options_for(1));
  const std::uint64_t result = 2048ull * 4096 * 2;
  const CoreMetrics& core = network.metrics.cores[0];
  EXPECT_EQ(core.ddr_read_bytes, (2048ull * 512 + 512 * 4096) * 2);
  EXPECT_GE(core.ddr_write_bytes, result);
  EXPECT_LT(core.ddr_write_bytes, result + 100'000);  // and the statistics
  for (const char* kind : {"aicconvolutiond32", "elementsigmoid", "elementmul"}) {
    EXPECT_EQ(bytes_put_out(network, kind), result) << kind;
  }
  EXPECT_EQ(kernels(network)["elementsigmoid"], kernels(network)["aicconvolutiond32"]);
  EXPECT_GT(kernels(network)["elementsigmoid"], 10);
}

// Products of all sizes, with rows of all forms behind them, on some cores: whatever is tiled
// together, all of it is computed once and no two tasks collide.
TEST(LargeTensors, GoThroughRandomRowsBehindRandomProducts) {
  std::mt19937 random(4);
  const auto pick = [&](std::initializer_list<int> choices) {
    return *(choices.begin() + random() % choices.size());
  };
  for (int round = 0; round < 200; ++round) {
    const int rows = pick({100, 1000, 4096, 9000}), depth = pick({64, 500, 2048});
    const int columns = pick({96, 1000, 4096});
    std::vector<std::string> made{"m"};
    std::string body;
    for (int i = 0, operators = pick({1, 2, 5}); i < operators; ++i) {
      const std::string name = i + 1 == operators ? "y" : fmt::format("v{}", i);
      const std::string& last = made.back();
      const std::string& other = made[random() % made.size()];
      body += random() % 2 == 0 ? fmt::format("{} = Sigmoid ({})\n", name, last)
                                : fmt::format("{} = Add ({}, {})\n", name, last, other);
      made.push_back(name);
    }
    const std::string text = fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      product (float[{0},{1}] x) => (float[{0},{2}] y) {{
        ws = Constant <value_ints = [{1},{2}]> ()
        w = ConstantOfShape (ws)
        m = MatMul (x, w)
        {3} }})",
                                         rows, depth, columns, body);
    const CompileOptions options = options_for(1 + random() % 4);
    SCOPED_TRACE(fmt::format("{} cores\n{}", options.cores, text));
    const Graph graph = parsed(text);
    const auto network = compiled(graph, options);
    const std::uint64_t result = std::uint64_t(rows) * std::uint64_t(columns) * 2;
    const std::uint64_t elementwise =
        bytes_put_out(network, "elementsigmoid") + bytes_put_out(network, "elementadd");
    EXPECT_EQ(elementwise, result * (made.size() - 1));
    const CollisionCheck check = check_collisions(graph, options);
    EXPECT_EQ(check.collisions, 0u);
    EXPECT_EQ(check.early_ddr_reads, 0u);
  }
}

// Somebody else needs what the product makes, so it has to be there whole.
TEST(LargeTensors, StayWholeForOthersBehindAProduct) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      product (float[2048,512] x) => (float[2048,4096] y) {
        ws = Constant <value_ints = [512,4096]> ()
        w = ConstantOfShape (ws)
        m = MatMul (x, w)
        a = Sigmoid (m)
        s = Softmax (a)
        y = Add (m, s) })"),
                                options_for(1));
  const std::uint64_t result = 2048ull * 4096 * 2;
  EXPECT_GE(network.metrics.cores[0].ddr_read_bytes, (2048ull * 512 + 512 * 4096) * 2 + 2 * result);
  EXPECT_EQ(bytes_put_out(network, "elementsigmoid"), result);
}

// The depth is cut: the row takes what has been added up, not each of the sums.
TEST(LargeTensors, GoThroughTheRowBehindAVeryDeepProductOnce) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      product (float[32,40960] x) => (float[32,65536] y) {
        ws = Constant <value_ints = [40960,65536]> ()
        w = ConstantOfShape (ws)
        m = MatMul (x, w)
        a = Sigmoid (m)
        y = Mul (m, a) })"),
                                options_for(1));
  const std::uint64_t result = 32ull * 65536 * 2;
  EXPECT_GT(bytes_put_out(network, "aicconvolutiond32"), result);
  EXPECT_EQ(bytes_put_out(network, "elementsigmoid"), result);
}

// The HMX writes d32, the host takes flat tensors, however large they are.
TEST(LargeTensors, LeaveFlat) {
  for (const char* rows : {"128", "65536"}) {
    for (const char* body : {"y = MatMul (a, b)", "m = MatMul (a, b)\n y = Sigmoid (m)"}) {
      const auto network = compiled(parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      product (float[{0},512] a, float[512,512] b) => (float[{0},512] y) {{ {1} }})",
                                                       rows, body)),
                                    options_for(2));
      EXPECT_EQ(bytes_put_out(network, "aicconvertfromd32"), std::stoull(rows) * 512 * 2);
    }
  }
}

TEST(Residency, CountsAnOperatorThatTakesATensorTwiceOnce) {
  const auto network = compiled(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      square (float[1,32,32,32] x) => (float[1,32,32,32] y) {
        a = Relu (x)
        b = Mul (a, a)
        c = Softmax (b)
        y = Add (a, c) })"),
                                options_for(1));
  EXPECT_EQ(network.metrics.cores[0].ddr_read_bytes, 32ull * 32 * 32 * 2);
  EXPECT_EQ(network.metrics.spill_bytes, 0u);
}

}  // namespace
}  // namespace npuscope::npu::nsp::random_models_test
