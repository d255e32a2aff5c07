// Every operator that the importer knows, with operands that nobody would choose: whatever imports
// must compile, on any number of cores, to a program that can be read back and in which no two
// tasks collide.
#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "npu/graph/one_operator_models.hpp"
#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/told_operands.hpp"
#include "sanitized.hpp"

namespace npuscope::npu::nsp::every_operator_test {
namespace {

// A model of one node: up to nine inputs, some missing, some constant; attributes at random; up to
// three outputs, each read by a Relu. In half of the models all dimensions are the same, so that
// operators which want theirs to match import too.
class RandomNode {
 public:
  RandomNode(std::string_view qualified_op, std::uint32_t seed)
      : random_(seed),
        same_size_(size()),
        same_rank_(between(0, 5)),
        alike_(one_in(2)),
        node_(test::node_of(qualified_op)) {}

  std::string model() {
    const Shape shared = shape();
    const std::int64_t inputs = one_in(3) ? between(1, 9) : between(1, 3);
    for (std::int64_t index = 0; index < inputs; ++index) {
      add_input(index, one_in(2) ? shared : shape());
    }
    add_attributes(shared);
    test::GraphText graph = inputs_;
    for (std::int64_t index = 0, count = between(1, 3); index < count; ++index) {
      node_.outputs.push_back(fmt::format("output{}", index));
    }
    graph.node(node_);
    for (const std::string& output : node_.outputs) {
      graph.node({"Relu", {output}, {"after_" + output}}).output("after_" + output);
    }
    return test::model(graph, between(1, 23));
  }

  CompileOptions options() {
    CompileOptions options = options_for(std::uint32_t(between(1, 16)));
    options.convert_to_fp16 = !one_in(4);
    options.op_stats_verbosity = 2;
    return options;
  }

 private:
  std::int64_t between(std::int64_t min, std::int64_t max) {
    return min + std::int64_t(random_() % std::uint32_t(max - min + 1));
  }
  bool one_in(std::int64_t chances) { return between(1, chances) == 1; }

  std::int64_t size() {
    constexpr std::array<std::int64_t, 7> sizes{1, 2, 3, 8, 17, 64, 130};
    return one_in(16) ? 0 : sizes[std::size_t(between(0, 6))];
  }

  Shape shape() {
    if (alike_) {
      Shape shape(std::size_t(one_in(4) ? between(0, 5) : same_rank_), same_size_);
      // Packed queries, keys and values; a region's corners and its image.
      if (!shape.empty() && one_in(6)) shape.back() = one_in(2) ? 3 * same_size_ : 5;
      return shape;
    }
    Shape shape;
    for (std::int64_t rank = between(0, 5); rank > 0; --rank) shape.push_back(size());
    return shape;
  }

  void add_input(std::int64_t index, const Shape& shape) {
    const std::string name = fmt::format("input{}", index);
    node_.inputs.push_back(one_in(10) ? "" : name);
    const std::int64_t kind = between(1, 12);
    if (kind <= 2) {
      std::vector<std::int64_t> values(std::size_t(between(1, 5)));
      for (std::int64_t& value : values) value = between(0, 3);
      inputs_.integers(name, values);
    } else if (kind <= 4) {
      inputs_.scalar(name, between(0, 3));
    } else if (kind <= 6) {
      inputs_.weight(name, shape);
    } else {
      inputs_.input(name, std::vector<test::Dimension>(shape.begin(), shape.end()), type());
    }
  }

  int type() {
    constexpr int string = 8, int4 = 22;
    constexpr std::array<int, 6> others{
        test::onnx_int64, test::onnx_float16, test::onnx_int8, test::onnx_bool, int4, string};
    return one_in(2) ? test::onnx_float : others[std::size_t(between(0, 5))];
  }

  void add_attributes(const Shape& shape) {
    for (const char* name :
         {"N", "K", "axis", "bits", "block_size", "blocksize", "group", "hidden_size", "k",
          "kv_num_heads", "num_heads", "output_height", "pooled_shape", "size", "to", "transB"}) {
      if (one_in(3)) node_.attributes[name] = one_in(3) ? same_size_ : between(0, 4);
    }
    const std::size_t spatial = shape.size() > 2 ? shape.size() - 2 : 1;
    for (const char* name : {"kernel_shape", "pooled_shape", "strides", "dilations"}) {
      if (one_in(4)) node_.attributes[name] = Shape(spatial, between(1, 3));
    }
    if (one_in(4)) node_.attributes["pads"] = Shape(2 * spatial, between(0, 2));
    if (one_in(3)) node_.attributes["axes"] = Shape{between(0, 2)};
    if (node_.op == "Constant") node_.attributes["value_ints"] = shape;
    if (node_.op == "Einsum") node_.attributes["equation"] = std::string("ab,bc->ac");
  }

  std::mt19937 random_;
  const std::int64_t same_size_, same_rank_;
  const bool alike_;
  test::NodeText node_;
  test::GraphText inputs_;
};

// Far larger ones take more tasks than a program may have, and time.
bool is_of_usual_size(const Graph& graph) {
  constexpr std::uint64_t limit_bytes = std::uint64_t{1} << 28;
  return std::all_of(graph.tensors.begin(), graph.tensors.end(),
                     [](const Tensor& tensor) { return tensor.bytes() < limit_bytes; });
}

const Target& htp() {
  static const Target target = *builtin_target("htp-v73");
  return target;
}

void expect_program_for_htp(const Graph& graph, CompileOptions options) {
  options.cores = 1;
  const auto network = compile_network(graph, htp(), options);
  ASSERT_TRUE(network) << network.error().message;
  const auto again = qaic::read_program(qaic::write_program(network->program), "program");
  ASSERT_TRUE(again) << again.error().message;
}

void expect_sound_program(const Graph& graph, const CompileOptions& options) {
  ASSERT_NO_FATAL_FAILURE(expect_program_for_htp(graph, options));
  const auto network = compile_network(graph, aic100(), options);
  ASSERT_TRUE(network) << network.error().message;
  const auto again = qaic::read_program(qaic::write_program(network->program), "program");
  ASSERT_TRUE(again) << again.error().message;
  OperandCheck operands;
  operands.add(*network, graph.name);
  ASSERT_TRUE(operands.wrong.empty()) << operands.summary();
  if (network->program.tasks.size() > 200) return;  // the check takes all pairs
  const CollisionCheck check = check_collisions(graph, options);
  ASSERT_EQ(check.collisions, 0u);
  ASSERT_EQ(check.early_ddr_reads, 0u);
}

TEST(EveryOperator, CompilesToASoundProgramWheneverItImports) {
  const int wanted = int(test_support::rounds(12));  // models of each operator that compile
  constexpr int attempts = 1000;                     // of which most do not import
  constexpr int first_attempts = 40'000;             // until one does
  std::vector<std::string> never;
  std::uint32_t first_seed = 100'000'000;  // one that reaches every operator
  for (const Operator& op : every_operator()) {
    const std::string name(op.name);
    std::uint32_t seed = first_seed += 10'000;
    int compiled = 0;
    for (int attempt = 0; attempt < (compiled > 0 ? attempts : first_attempts); ++attempt) {
      if (compiled == wanted) break;
      RandomNode node(name, ++seed);
      const std::string model = node.model();
      const CompileOptions options = node.options();
      const auto graph = import_onnx(as_byte_span(model), name, {});
      if (!graph || !is_of_usual_size(*graph)) continue;
      SCOPED_TRACE(fmt::format("{}, seed {}, {} cores", name, seed, options.cores));
      expect_sound_program(*graph, options);
      if (testing::Test::HasFatalFailure()) return;
      ++compiled;
    }
    if (compiled == 0) never.push_back(name);
  }
  // Their inputs must fit one another, which chance does not give: shapes_test.cpp and
  // parts_test.cpp have them.
  EXPECT_THAT(
      never, testing::ElementsAre("com.microsoft.MoE", "com.microsoft.QMoE", "TRT.EfficientNMS_TRT",
                                  "LinearAttention", "com.microsoft.LinearAttention"));
}

TEST(EveryOperator, OfAnyTypesRanksAndAttributesCompilesOrIsRefused) {
  test::OneOperatorModels models(21);
  for (const Operator& op : every_operator()) {
    for (std::uint64_t round = 0; round < test_support::rounds(60); ++round) {
      const std::string model = models.next(op.name);
      const auto graph = import_onnx(as_byte_span(model), "one.onnx",
                                     {.symbols = {}, .allow_unknown = false, .batch = 1});
      if (!graph || !is_of_usual_size(*graph)) continue;
      for (const Target& target : {aic100(), htp()}) {
        const auto cores = target.cores == 1 ? 1 : 1 + std::uint32_t(round % 4);
        const auto network = compile_network(*graph, target, options_for(cores));
        if (!network) {
          ASSERT_FALSE(network.error().message.empty()) << op.name;
        }
      }
    }
  }
}

// Its second operand is a vector, whose elements the cores shared as if they were the result's
// columns: transfers of parts of elements.
TEST(EveryOperator, AProductWithAVectorReportedOperandsOfOtherSizes) {
  for (const char* op : {"MatMul", "com.microsoft.FusedMatMul"}) {
    test::NodeText node = test::node_of(op);
    node.inputs = {"x", "w"};
    node.outputs = {"y"};
    test::GraphText graph;
    graph.input("x", {17, 5}).weight("w", {5}).node(node).output("y");
    const std::string model = test::model(graph, 18);
    const auto imported = import_onnx(as_byte_span(model), "one.onnx", {});
    ASSERT_TRUE(imported) << imported.error().message;
    for (const std::uint32_t cores : {1, 2, 6, 16}) {
      CompileOptions options = options_for(cores);
      options.op_stats_verbosity = 2;
      expect_sound_program(*imported, options);
    }
  }
}

TEST(EveryOperator, ExpertsCompileOnAnyNumberOfCores) {
  for (const std::int64_t tokens : {1, 6}) {
    test::NodeText node = test::node_of("com.microsoft.MoE");
    node.inputs = {"x", "r", "w1", "b1", "w2", "b2", "w3"};
    node.outputs = {"y"};
    node.attributes = {{"k", std::int64_t{2}}, {"activation_type", std::string("silu")}};
    test::GraphText graph;
    graph.input("x", {tokens, 64}).input("r", {tokens, 4}).weight("w1", {4, 96, 64});
    graph.weight("b1", {4, 96}).weight("w2", {4, 64, 96}).weight("b2", {4, 64});
    graph.weight("w3", {4, 96, 64}).node(node).output("y");
    const std::string model = test::model(graph, 18);
    const auto imported = import_onnx(as_byte_span(model), "one.onnx", {});
    ASSERT_TRUE(imported) << imported.error().message;
    for (const std::uint32_t cores : {1, 3, 16}) {
      CompileOptions options = options_for(cores);
      options.op_stats_verbosity = 2;
      expect_sound_program(*imported, options);
    }
  }
}

// The axis was counted one up.
TEST(EveryOperator, ASoftmaxOverTheLargestAxisOverflowed) {
  test::GraphText graph;
  graph.input("x", {2, 3}).output("y");
  graph.node({"Softmax", {"x"}, {"y"}, {{"axis", std::numeric_limits<std::int64_t>::max()}}});
  const std::string model = test::model(graph, 12);
  const auto imported = import_onnx(as_byte_span(model), "one.onnx", {});
  if (!imported) return;  // refused
  const auto network = compile_network(*imported, aic100(), options_for(1));
  EXPECT_TRUE(network || !network.error().message.empty());
}

}  // namespace
}  // namespace npuscope::npu::nsp::every_operator_test
