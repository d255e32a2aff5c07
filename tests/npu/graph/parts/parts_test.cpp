// Operators that are several to a compiler, taken apart: as much work as loops count, between the
// same inputs and outputs.
#include "npu/graph/parts/parts.hpp"

#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::parts_test {
namespace {

using Inputs = std::vector<std::pair<std::string, Shape>>;

// Inputs with upper case names are weights; one named as a type ("int32") is of that.
Graph model_of(test::NodeText node, const Inputs& inputs, const std::vector<std::string>& outputs) {
  test::GraphText text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, shape] = inputs[i];
    node.inputs.push_back(name);
    if (name.empty()) continue;
    if (name[0] >= 'A' && name[0] <= 'Z') {
      text.weight(name, shape, name.starts_with("Uint8") ? test::onnx_uint8 : test::onnx_float);
    } else {
      text.input(name, {shape.begin(), shape.end()},
                 name.starts_with("int32")  ? test::onnx_int32
                 : name.starts_with("bool") ? test::onnx_bool
                                            : test::onnx_float);
    }
  }
  node.name = "whole";
  node.outputs = outputs;
  text.node(node);
  for (const std::string& output : outputs)
    if (!output.empty()) text.output(output);
  const std::string bytes = test::model(text, 24);
  const auto graph = import_onnx(as_byte_span(bytes), "m.onnx", {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

struct Work {
  std::uint64_t macs = 0;
  std::uint64_t softmax_elements = 0;
  bool operator==(const Work&) const = default;
};
void PrintTo(const Work& work, std::ostream* out) {
  *out << work.macs << " MACs, softmax of " << work.softmax_elements;
}

Work work_of(const Graph& graph) {
  Work work;
  for (const Node& node : graph.nodes) {
    work.macs += multiply_accumulates(graph, node);
    if (classify(graph, node) == OpClass::softmax)
      work.softmax_elements += graph[node.outputs[0]].elements();
  }
  return work;
}

// Every tensor that a node reads is there before it, and all outputs are made, of the same shapes.
void expect_sound(const Graph& before, const Graph& after) {
  std::vector<bool> there(after.tensors.size());
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = after.tensors[i].constant;
  for (const TensorId id : after.inputs) there[std::size_t(id)] = true;
  for (const Node& node : after.nodes) {
    for (const TensorId id : present(node.inputs))
      EXPECT_TRUE(there[std::size_t(id)]) << node.name << " reads " << after[id].name;
    for (const TensorId id : present(node.outputs)) there[std::size_t(id)] = true;
  }
  ASSERT_EQ(before.outputs, after.outputs);
  for (const TensorId id : after.outputs) {
    EXPECT_TRUE(there[std::size_t(id)]) << after[id].name;
    EXPECT_EQ(before[id].shape, after[id].shape);
  }
}

// One loop inside the other.
Work attention_by_loops(std::int64_t batch, std::int64_t heads, std::int64_t queries,
                        std::int64_t keys, std::int64_t size, std::int64_t value_size) {
  Work work;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t k = 0; k < keys; ++k) {
          for (std::int64_t d = 0; d < size; ++d) ++work.macs;
          for (std::int64_t d = 0; d < value_size; ++d) ++work.macs;
          ++work.softmax_elements;
        }
  return work;
}

struct Attention {
  std::string name;
  test::NodeText node;
  Inputs inputs;
  std::vector<std::string> outputs;
  Work work;
};

std::vector<Attention> attentions() {
  const auto of = [](std::string op, std::map<std::string, test::AttributeValue> attributes,
                     bool ours = true) {
    return test::NodeText{
        std::move(op), {}, {}, std::move(attributes), ours ? "com.microsoft" : ""};
  };
  const Work self = attention_by_loops(2, 4, 6, 6, 8, 8);
  const Work with_past = attention_by_loops(2, 4, 6, 11, 8, 8);
  Work projecting = with_past;
  projecting.macs += 2 * 6 * 20 * 96;
  return {
      {"heads",
       of("Attention", {}, false),
       {{"q", {2, 4, 6, 8}}, {"k", {2, 4, 6, 8}}, {"v", {2, 4, 6, 8}}},
       {"y"},
       self},
      {"joined heads with a causal mask and scores put out",
       of("Attention",
          {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"is_causal", 1}, {"softcap", 2.0}}, false),
       {{"q", {2, 6, 32}}, {"k", {2, 6, 16}}, {"v", {2, 6, 16}}, {"bool", {6, 6}}},
       {"y", "", "", "scores"},
       self},
      {"past keys",
       of("Attention", {}, false),
       {{"q", {2, 4, 6, 8}},
        {"k", {2, 2, 6, 8}},
        {"v", {2, 2, 6, 8}},
        {"mask", {2, 4, 6, 11}},
        {"past_k", {2, 2, 5, 8}},
        {"past_v", {2, 2, 5, 8}}},
       {"y", "present_k", "present_v"},
       with_past},
      {"other values",
       of("Attention", {{"qk_matmul_output_mode", 3}}, false),
       {{"q", {1, 2, 3, 8}}, {"k", {1, 2, 7, 8}}, {"v", {1, 2, 7, 5}}},
       {"y"},
       attention_by_loops(1, 2, 3, 7, 8, 5)},
      {"multi head",
       of("MultiHeadAttention", {{"num_heads", 4}}),
       {{"q", {2, 6, 32}}, {"k", {2, 6, 32}}, {"v", {2, 6, 32}}, {"B", {96}}, {"int32", {2, 6}}},
       {"y"},
       self},
      {"packed multi head with past",
       of("MultiHeadAttention", {{"num_heads", 4}}),
       {{"q", {2, 6, 4, 3, 8}}},
       {"y"},
       self},
      {"packed keys and values",
       of("MultiHeadAttention", {{"num_heads", 4}, {"unidirectional", 1}}),
       {{"q", {2, 6, 32}}, {"k", {2, 6, 4, 2, 8}}},
       {"y"},
       self},
      {"turned keys",
       of("MultiHeadAttention", {{"num_heads", 4}}),
       {{"q", {2, 6, 32}}, {"k", {2, 4, 11, 8}}, {"v", {2, 4, 11, 8}}},
       {"y"},
       with_past},
      {"grouped queries with room in the past",
       of("GroupQueryAttention", {{"num_heads", 4}, {"kv_num_heads", 2}, {"do_rotary", 1}}),
       {{"q", {2, 1, 32}},
        {"k", {2, 1, 16}},
        {"v", {2, 1, 16}},
        {"past_k", {2, 2, 64, 8}},
        {"past_v", {2, 2, 64, 8}},
        {"int32_lengths", {2, 1}},
        {"T", {}},
        {"C", {64, 4}},
        {"S", {64, 4}}},
       {"y", "present_k", "present_v"},
       attention_by_loops(2, 4, 1, 65, 8, 8)},
      {"packed grouped queries",
       of("GroupQueryAttention", {{"num_heads", 4}, {"kv_num_heads", 2}}),
       {{"q", {2, 6, 64}},
        {"", {}},
        {"", {}},
        {"past_k", {2, 2, 5, 8}},
        {"past_v", {2, 2, 5, 8}},
        {"int32_lengths", {2}}},
       {"y", "present_k", "present_v"},
       with_past},
      {"projections",
       of("Attention", {{"num_heads", 4}}),
       {{"x", {2, 6, 20}},
        {"W", {20, 96}},
        {"B", {96}},
        {"int32", {2, 11}},
        {"past", {2, 2, 4, 5, 8}}},
       {"y", "present"},
       projecting},
  };
}

TEST(AttentionParts, DoTheWorkThatLoopsCount) {
  for (const Attention& each : attentions()) {
    SCOPED_TRACE(each.name);
    const Graph graph = model_of(each.node, each.inputs, each.outputs);
    const auto parts = taken_apart(graph);
    ASSERT_TRUE(parts);
    EXPECT_GT(parts->nodes.size(), 4u);
    EXPECT_EQ(work_of(*parts), each.work);
    expect_sound(graph, *parts);
  }
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name + " " + node.op);
  return names;
}

TEST(AttentionParts, HaveTheNamesOfWhatTheyDo) {
  const Attention plain = attentions()[0];
  const auto parts = taken_apart(model_of(plain.node, plain.inputs, plain.outputs));
  ASSERT_TRUE(parts);
  EXPECT_THAT(
      operators_of(*parts),
      testing::ElementsAre("whole/key_turned Transpose", "whole/scaled_query Mul",
                           "whole/scores MatMul", "whole/softmax Softmax", "whole/context MatMul"));
}

TEST(AttentionParts, AMaskOfFewerKeysLeavesTheNodeWhole) {
  const Graph graph = model_of(
      {"Attention", {}, {}},
      {{"q", {2, 4, 6, 8}}, {"k", {2, 4, 6, 8}}, {"v", {2, 4, 6, 8}}, {"mask", {6, 3}}}, {"y"});
  const auto parts = taken_apart(graph);
  ASSERT_TRUE(parts);
  EXPECT_THAT(operators_of(*parts), testing::ElementsAre("whole Attention"));
  expect_sound(graph, *parts);
}

TEST(AttentionParts, AreNotLookedForInOtherGraphs) {
  EXPECT_FALSE(taken_apart(model_of({"Relu", {}, {}}, {{"x", {3}}}, {"y"})));
}

std::uint64_t recurrent_by_loops(std::int64_t directions, std::int64_t steps, std::int64_t batch,
                                 std::int64_t depth, std::int64_t hidden, std::int64_t gates) {
  std::uint64_t macs = 0;
  for (std::int64_t d = 0; d < directions; ++d)
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t unit = 0; unit < hidden * gates; ++unit) {
          for (std::int64_t i = 0; i < depth; ++i) ++macs;
          for (std::int64_t i = 0; i < hidden; ++i) ++macs;
        }
  return macs;
}

TEST(RecurrentParts, DoTheWorkThatLoopsCountStepAfterStep) {
  for (const auto& [op, gates] : {std::pair{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
    for (const bool both : {false, true}) {
      for (const std::int64_t layout : {0, 1}) {
        for (const std::int64_t option : {0, 1}) {
          const std::int64_t directions = both ? 2 : 1;
          SCOPED_TRACE(fmt::format("{} {} layout {} {}", op, directions, layout, option));
          test::NodeText node{op, {}, {}, {{"hidden_size", 8}, {"layout", layout}}};
          node.attributes["direction"] = std::string(both          ? "bidirectional"
                                                     : option != 0 ? "reverse"
                                                                   : "forward");
          if (gates == 3) node.attributes["linear_before_reset"] = option;
          Inputs inputs{{"x", layout != 0 ? Shape{2, 5, 6} : Shape{5, 2, 6}},
                        {"W", {directions, gates * 8, 6}},
                        {"R", {directions, gates * 8, 8}},
                        {"B", {directions, 2 * gates * 8}}};
          if (option != 0) {
            inputs.push_back({"", {}});
            inputs.push_back(
                {"state", layout != 0 ? Shape{2, directions, 8} : Shape{directions, 2, 8}});
          }
          const Graph graph = model_of(node, inputs,
                                       gates == 4 ? std::vector<std::string>{"y", "h", "c"}
                                                  : std::vector<std::string>{"y", "h"});
          const auto parts = taken_apart(graph);
          ASSERT_TRUE(parts);
          EXPECT_EQ(work_of(*parts).macs, recurrent_by_loops(directions, 5, 2, 6, 8, gates));
          expect_sound(graph, *parts);
        }
      }
    }
  }
}

TEST(RecurrentParts, OfUnknownWeightsStayWhole) {
  const auto parts =
      taken_apart(model_of({"RNN", {}, {}, {{"hidden_size", 8}}},
                           {{"x", {5, 2, 6}}, {"w", {1, 8, 6}}, {"R", {1, 8, 8}}}, {"y"}));
  ASSERT_TRUE(parts);
  EXPECT_THAT(operators_of(*parts), testing::ElementsAre("whole RNN"));
}

// Four heads of queries share two of keys, 8 by 6. The product of key and value is one of HVX.
TEST(StateSpaceParts, ATokenOfLinearAttentionReadsAndWritesItsState) {
  for (const auto& [rule, of_keys] :
       {std::pair("linear", 0u), std::pair("gated", 0u), std::pair("gated_delta", 2u)}) {
    SCOPED_TRACE(rule);
    const Graph graph = model_of({"LinearAttention",
                                  {},
                                  {},
                                  {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"update_rule", rule}}},
                                 {{"q", {2, 1, 32}},
                                  {"k", {2, 1, 16}},
                                  {"v", {2, 1, 12}},
                                  {"state", {2, 2, 8, 6}},
                                  {"decay", {2, 1, 16}},
                                  {"rate", {2, 1, 2}}},
                                 {"y", "present"});
    const auto parts = taken_apart(graph);
    ASSERT_TRUE(parts);
    EXPECT_GT(parts->nodes.size(), 4u);
    EXPECT_EQ(work_of(*parts).macs, 2u * (4 + of_keys) * 8 * 6);
    expect_sound(graph, *parts);
  }
}

TEST(StateSpaceParts, SeveralTokensOfLinearAttentionStayWhole) {
  const auto parts =
      taken_apart(model_of({"LinearAttention",
                            {},
                            {},
                            {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"update_rule", "linear"}}},
                           {{"q", {2, 3, 32}}, {"k", {2, 3, 16}}, {"v", {2, 3, 12}}}, {"y"}));
  ASSERT_TRUE(parts);
  EXPECT_THAT(operators_of(*parts), testing::ElementsAre("whole LinearAttention"));
}

// Every token to each of its experts, one loop inside the other.
std::uint64_t experts_by_loops(std::int64_t tokens, std::int64_t of_each, std::int64_t hidden,
                               std::int64_t first_columns, std::int64_t inner) {
  std::uint64_t macs = 0;
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t e = 0; e < of_each; ++e)
      for (std::int64_t h = 0; h < hidden; ++h) macs += std::uint64_t(first_columns + inner);
  return macs;
}

std::uint64_t weight_bytes_read(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const Node& node : graph.nodes) {
    if (matrix_product(graph, node).constant_weights) bytes += graph[node.inputs[1]].bytes();
  }
  return bytes;
}

// Two of four experts a token: two tokens or more can reach all of them.
TEST(ExpertParts, AsManyExpertsAreReadAsTokensReach) {
  for (const std::int64_t tokens : {1, 2, 5}) {
    SCOPED_TRACE(tokens);
    const Graph graph =
        model_of({"MoE", {}, {}, {{"k", 2}, {"activation_type", "swiglu"}}, "com.microsoft"},
                 {{"x", {tokens, 16}},
                  {"r", {tokens, 4}},
                  {"W1", {4, 48, 16}},
                  {"B1", {4, 48}},
                  {"W2", {4, 16, 24}},
                  {"B2", {4, 16}}},
                 {"y"});
    const auto parts = taken_apart(graph);
    ASSERT_TRUE(parts);
    EXPECT_GT(parts->nodes.size(), 10u);
    expect_sound(graph, *parts);
    EXPECT_EQ(work_of(*parts).macs, experts_by_loops(tokens, 2, 16, 48, 24));
    EXPECT_EQ(work_of(graph).macs, work_of(*parts).macs);
    EXPECT_EQ(weight_bytes_read(*parts),
              std::min<std::uint64_t>(4, std::uint64_t(tokens) * 2) * 16 * 72 * 4);
    EXPECT_THAT(graph.warnings,
                testing::ElementsAre(testing::HasSubstr(
                    "here " + std::to_string(std::min<std::int64_t>(4, 2 * tokens)) + " of 4")));
  }
}

// 4 bits: half a byte for each multiplication of one token by one expert.
TEST(ExpertParts, PackedWeightsOfExpertsStayPacked) {
  const Graph graph = model_of(
      {"QMoE", {}, {}, {{"k", 1}, {"activation_type", "silu"}, {"block_size", 8}}, "com.microsoft"},
      {{"x", {1, 16}},
       {"r", {1, 4}},
       {"Uint8_1", {4, 24, 8}},
       {"S1", {4, 24, 2}},
       {"", {}},
       {"Uint8_2", {4, 16, 12}},
       {"S2", {4, 16, 3}},
       {"", {}},
       {"Uint8_3", {4, 24, 8}},
       {"S3", {4, 24, 2}}},
      {"y"});
  const auto parts = taken_apart(graph);
  ASSERT_TRUE(parts);
  expect_sound(graph, *parts);
  EXPECT_EQ(work_of(*parts).macs, experts_by_loops(1, 1, 16, 24 + 24, 24));
  EXPECT_EQ(weight_bytes_read(*parts), 3u * 16 * 24 / 2);
}

TEST(ExpertParts, ABlockLongerThanTheRowsIsOne) {
  const Graph graph = model_of(
      {"QMoE", {}, {}, {{"block_size", std::numeric_limits<std::int64_t>::max()}}, "com.microsoft"},
      {{"x", {1, 16}},
       {"r", {1, 4}},
       {"Uint8_1", {4, 24, 8}},
       {"S1", {4, 24, 1}},
       {"", {}},
       {"Uint8_2", {4, 16, 12}},
       {"S2", {4, 16, 1}}},
      {"y"});
  const auto parts = taken_apart(graph);
  ASSERT_TRUE(parts);
  expect_sound(graph, *parts);
  EXPECT_EQ(weight_bytes_read(*parts), 2u * 16 * 24 / 2);
}

TEST(ExpertParts, ExpertsWhoseWeightsComeWhenTheModelRunsStayWhole) {
  const auto parts = taken_apart(model_of(
      {"MoE", {}, {}, {{"k", 2}}, "com.microsoft"},
      {{"x", {3, 16}}, {"r", {3, 4}}, {"w1", {4, 24, 16}}, {"", {}}, {"w2", {4, 16, 24}}}, {"y"}));
  ASSERT_TRUE(parts);
  EXPECT_THAT(operators_of(*parts), testing::ElementsAre("whole MoE"));
}

TEST(StateSpaceParts, ACausalConvolutionJoinsItsStateAndKeepsTheLastPlaces) {
  for (const bool has_state : {false, true}) {
    Inputs inputs{{"x", {2, 6, 9}}, {"W", {6, 1, 4}}, {"B", {6}}};
    if (has_state) inputs.push_back({"state", {2, 6, 3}});
    const Graph graph = model_of({"CausalConvWithState", {}, {}, {{"activation", "silu"}}}, inputs,
                                 {"y", "present"});
    const auto parts = taken_apart(graph);
    ASSERT_TRUE(parts);
    EXPECT_GT(parts->nodes.size(), 4u);
    EXPECT_EQ(work_of(*parts).macs, 2u * 6 * 9 * 4);
    expect_sound(graph, *parts);
  }
}

}  // namespace
}  // namespace npuscope::npu::parts_test
