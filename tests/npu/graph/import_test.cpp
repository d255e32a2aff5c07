// What an importer has to get right beyond single shapes: order, names, symbols, functions,
// branches, unknown operators; and what it says about files that are wrong.
#include "npu/graph/import_onnx.hpp"

#include <gmock/gmock.h>
#include <algorithm>
#include <set>

#include "npu/graph/loop_models.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::import_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Ints = std::vector<std::int64_t>;

Result<Graph> import_model(const std::string& bytes, const ImportOptions& options = {}) {
  return import_onnx(as_byte_span(bytes), "m.onnx", options);
}

std::string error_of(const Result<Graph>& result) {
  return result ? "no error" : result.error().message;
}

std::vector<std::string> node_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

Shape output_shape(const Graph& graph) { return graph[graph.outputs.at(0)].shape; }

test::GraphText relu_chain(std::size_t length) {
  test::GraphText graph;
  graph.input("x0", {1, 8});
  for (std::size_t i = 0; i < length; ++i) {
    graph.node({"Relu", {"x" + std::to_string(i)}, {"x" + std::to_string(i + 1)}});
  }
  return graph.output("x" + std::to_string(length));
}

TEST(Import, KeepsTheGraphAsItIs) {
  test::GraphText text;
  text.input("x", {1, 4}).weight("w", {4, 3});
  text.node({"MatMul", {"x", "w"}, {"y"}, {}, "", "product"}).node({"Relu", {"y"}, {"z"}});
  const auto graph = import_model(test::model(text.output("z")));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(node_names(*graph), ElementsAre("product", "Relu_1"));
  ASSERT_EQ(graph->inputs.size(), 1U);
  const Tensor& x = (*graph)[graph->inputs[0]];
  EXPECT_EQ(x.name, "x");
  EXPECT_FALSE(x.constant);
  EXPECT_EQ(x.producer, NodeId::none);
  EXPECT_THAT(x.consumers, ElementsAre(NodeId{0}));
  const Tensor& w = (*graph)[graph->nodes[0].inputs[1]];
  EXPECT_TRUE(w.constant);
  EXPECT_EQ(w.bytes(), 48U);
  const Tensor& y = (*graph)[graph->nodes[0].outputs[0]];
  EXPECT_EQ(y.producer, NodeId{0});
  EXPECT_FALSE(y.constant);
  EXPECT_EQ(output_shape(*graph), (Shape{1, 3}));
}

TEST(Import, TakesNodesInAnyOrder) {
  test::GraphText text;
  text.input("x", {2}).node({"Neg", {"b"}, {"c"}, {}, "", "last"});
  text.node({"Abs", {"a"}, {"b"}, {}, "", "middle"}).node({"Relu", {"x"}, {"a"}, {}, "", "first"});
  const auto graph = import_model(test::model(text.output("c")));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(node_names(*graph), ElementsAre("first", "middle", "last"));
}

TEST(Import, GivesNodesUniqueNames) {
  test::GraphText text;
  text.input("x", {2}).node({"Neg", {"x"}, {"a"}, {}, "", "n"});
  text.node({"Neg", {"a"}, {"b"}, {}, "", "n"}).node({"Neg", {"b"}, {"c"}, {}, "", "n"});
  const auto graph = import_model(test::model(text.output("c")));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(node_names(*graph), ElementsAre("n", "n_1", "n_2"));
}

TEST(Import, CountsInitializersThatAreListedAsInputsAsConstants) {
  test::GraphText text;
  text.input("x", {1, 4}).input("w", {4, 3}).weight("w", {4, 3});
  const auto graph =
      import_model(test::model(text.node({"MatMul", {"x", "w"}, {"y"}}).output("y")));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(graph->inputs.size(), 1U);
  EXPECT_TRUE((*graph)[graph->nodes[0].inputs[1]].constant);
}

TEST(Import, TakesChainsOfAHundredThousandNodes) {
  const auto graph = import_model(test::model(relu_chain(100'000)));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(graph->nodes.size(), 100'000U);
  EXPECT_EQ(graph->nodes.back().name, "Relu_99999");
}

TEST(Import, SortsChainsOfAHundredThousandNodes) {
  test::GraphText text;
  text.input("x0", {1, 8});
  for (std::size_t i = 100'000; i-- > 0;) {
    text.node({"Relu", {"x" + std::to_string(i)}, {"x" + std::to_string(i + 1)}});
  }
  const auto graph = import_model(test::model(text.output("x100000")));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(graph->nodes.front().name, "Relu_99999");
}

// Symbols

test::GraphText symbolic(const std::vector<test::Dimension>& shape) {
  test::GraphText text;
  return text.input("ids", shape).node({"Relu", {"ids"}, {"y"}}).output("y");
}

struct SymbolCase {
  std::vector<test::Dimension> input;
  Symbols symbols;
  std::int64_t batch;
  Shape expected;
};

class ImportSymbols : public testing::TestWithParam<SymbolCase> {};

TEST_P(ImportSymbols, GiveDimensionsTheirValues) {
  const auto graph = import_model(test::model(symbolic(GetParam().input)),
                                  {GetParam().symbols, false, GetParam().batch});
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(output_shape(*graph), GetParam().expected);
}

const SymbolCase symbol_cases[] = {
    {{"batch", "seq"}, {{"batch", 2}, {"seq", 32}}, 0, {2, 32}},
    {{"batch", 8}, {}, 4, {4, 8}},              // the batch option
    {{"batch", 8}, {{"batch", 2}}, 4, {2, 8}},  // the symbol wins
    {{1, "past + seq"}, {{"past", 100}, {"seq", 28}}, 0, {1, 128}},
    {{1, "past + seq"}, {{"past + seq", 7}}, 0, {1, 7}},  // the whole text is a name too
    {{1, "2*(a - 1)//3"}, {{"a", 10}}, 0, {1, 6}},
    {{1, ""}, {{"ids.1", 5}}, 0, {1, 5}},  // a dimension without a name
    {{1, "seq-len/4"}, {{"seq", 40}, {"len", 8}}, 0, {1, 38}},
    {{1, "s"}, {{"s", 0}}, 0, {1, 0}},
};
INSTANTIATE_TEST_SUITE_P(Each, ImportSymbols, testing::ValuesIn(symbol_cases));

TEST(ImportWarnings, ASymbolThatTheModelDoesNotHaveWasIgnoredInSilence) {
  const auto graph = import_model(test::model(symbolic({1, "past + seq"})),
                                  {{{"past", 1}, {"seq", 2}, {"batch", 3}}, false, 0});
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(graph->warnings,
            (std::vector<std::string>{"-onnx-define-symbol=batch,3 has no effect: no input of the "
                                      "model has an open dimension of that name, or is one whole "
                                      "number or truth value of it, and no If or Loop has it"}));
}

TEST(ImportErrors, NameTheMissingSymbolAndHowToDefineIt) {
  EXPECT_EQ(error_of(import_model(test::model(symbolic({1, "seq_len"})))),
            "m.onnx: dimension 1 of its input 'ids' is 'seq_len' without a value; give it one with "
            "-onnx-define-symbol=seq_len,value");
  EXPECT_THAT(error_of(import_model(test::model(symbolic({1, "past + seq"})), {{{"past", 1}}})),
              HasSubstr("'past + seq' without a value; give it one with -onnx-define-symbol=seq,"));
  EXPECT_THAT(
      error_of(import_model(test::model(symbolic({1, ""})))),
      HasSubstr("is open without a value; give it one with -onnx-define-symbol=ids.1,value"));
  EXPECT_EQ(
      error_of(import_model(test::model(symbolic({"batch", "height", "batch", ""})))),
      "m.onnx: dimension 0 of its input 'ids' is 'batch' without a value; give it one, and the "
      "other open ones, with -onnx-define-symbol=batch,value -onnx-define-symbol=height,value "
      "-onnx-define-symbol=ids.3,value");
  const auto negative = import_model(test::model(symbolic({1, "s"})), {{{"s", -4}}});
  EXPECT_EQ(error_of(negative), "symbol 's' has the value -4; give one from 0 on");
  EXPECT_EQ(negative.error().kind, ErrorKind::usage);
}

TEST(ImportErrors, RefuseAbsurdSizes) {
  const std::int64_t large = std::int64_t(1) << 40;
  EXPECT_THAT(error_of(import_model(test::model(symbolic({large, large})))),
              HasSubstr("its input 'ids' is [1099511627776x1099511627776] and would have more than "
                        "2^56 bytes"));
}

// Files that are not what they should be

TEST(ImportErrors, SayWhatIsNoModel) {
  EXPECT_EQ(error_of(import_model("")), "m.onnx: not an ONNX model; name a .onnx file");
  EXPECT_THAT(error_of(import_model("<!DOCTYPE html><html>")),
              StartsWith("m.onnx: not an ONNX model"));
  EXPECT_THAT(error_of(import_model("version https://git-lfs.github.com/spec/v1\noid sha256:0")),
              HasSubstr("run git lfs pull"));
  EXPECT_THAT(error_of(import_onnx_file("/nowhere/m.onnx", {})), HasSubstr("/nowhere/m.onnx"));
}

TEST(ImportErrors, NameTheNodesOfACycle) {
  test::GraphText text;
  text.input("x", {2}).node({"Add", {"x", "c"}, {"a"}, {}, "", "first"});
  text.node({"Relu", {"a"}, {"b"}, {}, "", "second"}).node({"Neg", {"b"}, {"c"}, {}, "", "third"});
  EXPECT_EQ(
      error_of(import_model(test::model(text.output("c")))),
      "m.onnx: its nodes form a cycle: 'second' -> 'third' -> 'first' -> 'second'; export the "
      "model again");
}

TEST(ImportErrors, NameWhatIsMissingOrMadeTwice) {
  test::GraphText missing;
  missing.input("x", {2}).node({"Add", {"x", "ghost"}, {"y"}, {}, "", "sum"}).output("y");
  EXPECT_EQ(error_of(import_model(test::model(missing))),
            "m.onnx: node 'sum' (Add) reads 'ghost', which nothing makes; export the model again");
  test::GraphText twice;
  twice.input("x", {2}).node({"Neg", {"x"}, {"y"}}).node({"Abs", {"x"}, {"y"}}).output("y");
  EXPECT_EQ(error_of(import_model(test::model(twice))),
            "m.onnx: 'y' is made by both node 'Neg_0' and node 'Abs_1'; export the model again");
  test::GraphText output;
  output.input("x", {2}).node({"Neg", {"x"}, {"y"}}).output("z");
  EXPECT_EQ(error_of(import_model(test::model(output))),
            "m.onnx: its output 'z' is made by no node; export the model again");
}

TEST(ImportErrors, NameTheUnknownOperator) {
  test::GraphText text;
  text.input("x", {2}).node({"Frobnicate", {"x"}, {"y"}, {}, "com.microsoft", "odd"}).output("y");
  EXPECT_EQ(
      error_of(import_model(test::model(text))),
      "m.onnx: node 'odd' has the operator Frobnicate of domain com.microsoft (opset 1), which "
      "npuscope does not know; pass --allow-unknown to cost it as an elementwise operation");
}

TEST(ImportErrors, SayWhatToDoAboutOperatorsThatNoNpuRuns) {
  for (const auto& [op, domain, what] :
       {std::tuple{"StringSplit", "", "works on texts; leave it to the host"},
        {"TreeEnsemble", "ai.onnx.ml", "is classical machine learning for a host"},
        {"WhisperBeamSearch", "com.microsoft", "compile its decoder, a model of its own, alone"},
        {"NhwcConv", "com.microsoft", "compile the model that it was made from"}}) {
    test::GraphText text;
    text.input("x", {2}).node({op, {"x"}, {"y"}, {}, domain, "odd"}).output("y");
    const std::string said = error_of(import_model(test::model(text)));
    EXPECT_THAT(said, HasSubstr(what));
    EXPECT_THAT(said, HasSubstr(std::string("node 'odd' has the operator ") + op));
  }
}

TEST(ImportErrors, ATruthValueWasTakenAsASize) {
  test::GraphText text;
  text.input("x", {"n", 4}).node({"Relu", {"x"}, {"y"}}).output("y");
  for (const std::string name : {"n", "x.0"}) {
    for (const std::int64_t value : {0, 1}) {
      EXPECT_THAT(
          error_of(import_model(test::model(text), {.symbols = {{name, value}}, .truths = {name}})),
          HasSubstr("gives '" + name + "' a truth value; give it a number"));
    }
  }
}

TEST(ImportErrors, EscapeNamesFromTheFile) {
  test::GraphText text;
  text.input("x", {2}).node({"Bad\x1b[31m", {"x"}, {"y"}}).output("y");
  EXPECT_THAT(error_of(import_model(test::model(text))), HasSubstr("operator Bad\\x1b[31m of"));
}

TEST(Import, CostsAllowedUnknownOperatorsAsElementwise) {
  test::GraphText text;
  text.input("x", {4, 1}).input("b", {3});
  text.node({"Mystery", {"x", "b"}, {"y"}, {}, "org.example", "one"});
  text.node({"Mystery", {"y"}, {"z"}, {}, "org.example", "two"}).output("z");
  const auto graph = import_model(test::model(text), {{}, true});
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(output_shape(*graph), (Shape{4, 3}));
  EXPECT_TRUE(graph->nodes[0].unknown);
  EXPECT_EQ(classify(*graph, graph->nodes[0]), OpClass::elementwise);
  EXPECT_THAT(
      graph->warnings,
      ElementsAre("operator Mystery of domain org.example (opset 1) is not known; 2 nodes are "
                  "costed as elementwise, e.g. 'one'"));
}

TEST(Import, TakesShapesThatTheFileStatesWhereItCannotKnowThem) {
  test::GraphText text;
  text.input("boxes", {1, 9, 4}).input("scores", {1, 2, 9});
  text.stated("chosen", {"boxes_kept", 3}, test::onnx_int64);
  text.node({"NonMaxSuppression", {"boxes", "scores"}, {"chosen"}}).output("chosen");
  const auto graph = import_model(test::model(text), {{{"boxes_kept", 6}}});
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(output_shape(*graph), (Shape{6, 3}));
  EXPECT_THAT(error_of(import_model(test::model(text))), HasSubstr("depends on data"));
}

TEST(Import, SizesOfOutputsThatTheFileStatesWereNotUsed) {
  test::GraphText text;
  text.input("x", {2, 3}).input("shape", {2}, test::onnx_int64);
  text.node({"Reshape", {"x", "shape"}, {"y"}}).output("y", {3, 2});
  const auto graph = import_model(test::model(text));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(output_shape(*graph), (Shape{3, 2}));
}

// As detectors are deployed: the device has room for so many boxes.
TEST(Import, TakesTheMostThatAnOperatorCanFind) {
  const auto found = [](const test::NodeText& node) -> Shape {
    test::GraphText text;
    text.input("x", {2, 3})
        .input("keep", {2}, test::onnx_bool)
        .input("keep4", {4}, test::onnx_bool);
    const auto graph = import_model(test::model(text.node(node).output("y")));
    if (!graph) return {-1};
    EXPECT_THAT(graph->warnings, ElementsAre(HasSubstr("compiled for the most")));
    return output_shape(*graph);
  };
  EXPECT_EQ(found({"NonZero", {"x"}, {"y"}}), (Shape{2, 6}));
  EXPECT_EQ(found({"Compress", {"x", "keep"}, {"y"}, {{"axis", std::int64_t{1}}}}), (Shape{2, 2}));
  EXPECT_EQ(found({"Compress", {"x", "keep4"}, {"y"}}), Shape{4});
  EXPECT_EQ(found({"Unique", {"x"}, {"y", "", "", "n"}}), Shape{6});
  EXPECT_EQ(found({"Unique", {"x"}, {"", "y"}, {{"axis", std::int64_t{-1}}}}), Shape{3});
}

TEST(Import, TakesTheMostBoxesThatASuppressionCanChoose) {
  test::GraphText text;
  text.input("boxes", {2, 9, 4}).input("scores", {2, 5, 9}).scalar("most", 4);
  text.node({"NonMaxSuppression", {"boxes", "scores", "most"}, {"chosen"}}).output("chosen");
  const auto graph = import_model(test::model(text));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(output_shape(*graph), (Shape{40, 3}));
  EXPECT_THAT(graph->warnings,
              ElementsAre("node 'NonMaxSuppression_0' (NonMaxSuppression, ai.onnx opset 18): the "
                          "size of its output depends on data that is only known at run time; "
                          "compiled for the most, [40x3]"));
}

TEST(Import, WarnsWhenTheFileStatesOtherOutputs) {
  test::GraphText text;
  text.input("x", {2, 3}).node({"Relu", {"x"}, {"y"}}).output("y", {2, 4});
  const auto graph = import_model(test::model(text));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(graph->warnings, ElementsAre("output 'y' is [2x3], but the file states [2x4]"));
}

// Functions and branches

const test::FunctionText scaled_relu{
    "my.ops",
    "ScaledRelu",
    {"a", "bias"},
    {"out"},
    {{"Relu", {"a"}, {"r"}},
     {"Clip", {"r", "bias"}, {"c"}},
     {"ReduceSum", {"c"}, {"out"}, {{"keepdims", test::Reference{"keep"}}}, "", "sum"}},
    {{"keep", std::int64_t{1}}}};

TEST(Import, PutsFunctionsInPlaceOfTheirCalls) {
  test::GraphText text;
  text.input("x", {2, 3}).node({"ScaledRelu", {"x"}, {"y"}, {}, "my.ops", "call"});
  text.node({"ScaledRelu", {"y"}, {"z"}, {{"keep", std::int64_t{0}}}, "my.ops"}).output("z");
  const auto graph = import_model(test::model(text, 18, {scaled_relu}));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(node_names(*graph),
              ElementsAre("call/Relu_0", "call/Clip_1", "call/sum", "ScaledRelu_1/Relu_0",
                          "ScaledRelu_1/Clip_1", "ScaledRelu_1/sum"));
  const Node& first_sum = graph->nodes[2];
  EXPECT_EQ((*graph)[first_sum.outputs[0]].name, "y");
  EXPECT_EQ((*graph)[first_sum.outputs[0]].shape, (Shape{1, 1}));
  EXPECT_EQ(output_shape(*graph), Shape{});
  EXPECT_EQ((*graph)[graph->nodes[0].outputs[0]].name, "call/r");
  EXPECT_EQ(graph->nodes[1].inputs[1], TensorId::none);  // the call leaves `bias` out
}

TEST(ImportErrors, RefuseFunctionsWithoutEnd) {
  const test::FunctionText endless{
      "my.ops", "F", {"a"}, {"b"}, {{"F", {"a"}, {"b"}, {}, "my.ops"}}};
  test::GraphText text;
  text.input("x", {2}).node({"F", {"x"}, {"y"}, {}, "my.ops"}).output("y");
  EXPECT_THAT(error_of(import_model(test::model(text, 18, {endless}))),
              HasSubstr("nest deeper than 32"));
  std::vector<test::FunctionText> doubling;  // each calls the next twice: 2^30 nodes
  for (int i = 0; i < 30; ++i) {
    const std::string next = i == 29 ? "Relu" : "F" + std::to_string(i + 1);
    const std::string domain = i == 29 ? "" : "my.ops";
    doubling.push_back({"my.ops",
                        "F" + std::to_string(i),
                        {"a"},
                        {"b"},
                        {{next, {"a"}, {"m"}, {}, domain}, {next, {"m"}, {"b"}, {}, domain}}});
  }
  test::GraphText many;
  many.input("x", {2}).node({"F0", {"x"}, {"y"}, {}, "my.ops"}).output("y");
  EXPECT_THAT(error_of(import_model(test::model(many, 18, doubling))),
              HasSubstr("simplify the model"));
}

// x is squeezed when its second dimension is 1, as exporters write it.
std::string squeeze_if(std::int64_t dimension) {
  test::GraphText then_branch, else_branch, text;
  then_branch.node({"Squeeze", {"x", "axis"}, {"s"}, {}, "", "squeeze"}).output("s");
  else_branch.node({"Identity", {"x"}, {"i"}}).output("i");
  text.input("x", {4, dimension}).integers("axis", {1}).scalar("one", 1);
  text.node({"Shape", {"x"}, {"shape"}}).node({"Gather", {"shape", "one"}, {"d"}});
  text.node({"Equal", {"d", "one"}, {"is_one"}});
  text.node({"If",
             {"is_one"},
             {"y"},
             {{"then_branch", test::Graphs{then_branch.bytes()}},
              {"else_branch", test::Graphs{else_branch.bytes()}}},
             "",
             "decide"});
  return test::model(text.node({"Relu", {"y"}, {"z"}}).output("z"));
}

TEST(Import, TakesTheBranchThatAConstantDecides) {
  const auto squeezed = import_model(squeeze_if(1));
  ASSERT_TRUE(squeezed) << error_of(squeezed);
  EXPECT_EQ(output_shape(*squeezed), Shape{4});
  EXPECT_THAT(node_names(*squeezed),
              ElementsAre("Shape_0", "Gather_1", "Equal_2", "decide/squeeze", "Relu_4"));
  const auto kept = import_model(squeeze_if(5));
  ASSERT_TRUE(kept) << error_of(kept);
  EXPECT_EQ(output_shape(*kept), (Shape{4, 5}));
}

TEST(ImportErrors, ExplainUndecidedBranchesAndLoops) {
  test::GraphText branch, text;
  branch.node({"Identity", {"x"}, {"b"}}).output("b");
  text.input("x", {2}).input("c", {}, test::onnx_bool);
  text.node({"If",
             {"c"},
             {"y"},
             {{"then_branch", test::Graphs{branch.bytes()}},
              {"else_branch", test::Graphs{branch.bytes()}}},
             "",
             "decide"})
      .output("y");
  EXPECT_THAT(error_of(import_model(test::model(text))),
              StartsWith("m.onnx: node 'decide' (If): its condition is only known at run time"));
}

// Which of two branches runs depends on data: one is a product, the other a few elements.
std::string undecided_if(const std::vector<test::NodeText>& other = {{"Relu", {"x"}, {"r"}}}) {
  test::GraphText one, two, text;
  one.node({"MatMul", {"x", "w"}, {"m"}, {}, "", "product"}).output("m");
  for (const test::NodeText& node : other) two.node(node);
  two.output("r");
  text.input("x", {4, 8}).weight("w", {8, 16}).integers("zero", {0});
  text.node({"ReduceMax", {"x"}, {"top"}, {{"keepdims", std::int64_t{0}}}});
  text.node({"ReduceMin", {"x"}, {"low"}, {{"keepdims", std::int64_t{0}}}});
  text.node({"Greater", {"top", "low"}, {"c"}});
  text.node(
      {"If",
       {"c"},
       {"y"},
       {{"then_branch", test::Graphs{two.bytes()}}, {"else_branch", test::Graphs{one.bytes()}}},
       "",
       "decide"});
  return test::model(text.node({"Relu", {"y"}, {"z"}, {}, "", "after"}).output("z"));
}

TEST(Import, CompilesTheDearerBranchWhereNothingDecides) {
  const auto graph = import_model(undecided_if());
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(node_names(*graph),
              ElementsAre("ReduceMax_0", "ReduceMin_1", "Greater_2", "decide/product", "after"));
  EXPECT_EQ(output_shape(*graph), (Shape{4, 16}));
  EXPECT_THAT(
      graph->warnings,
      ElementsAre("node 'decide' (If): its condition is only known at run time; compiled for its "
                  "else branch, the dearer one (512 multiply-accumulates and 256 bytes made, "
                  "against 0 and 128); -onnx-define-symbol=decide,true compiles the other one"));
  // What was tried and left leaves nothing.
  for (const Tensor& tensor : graph->tensors) {
    EXPECT_NE(tensor.name, "decide/r");
    for (const NodeId consumer : tensor.consumers)
      EXPECT_THAT((*graph)[consumer].inputs, Contains(TensorId(&tensor - graph->tensors.data())));
  }
}

TEST(Import, CompilesTheBranchThatTheCallerNames) {
  for (const bool branch : {true, false}) {
    const auto graph = import_model(undecided_if(), {.symbols = {{"decide", branch}}});
    ASSERT_TRUE(graph) << error_of(graph);
    EXPECT_EQ(output_shape(*graph), branch ? (Shape{4, 8}) : (Shape{4, 16}));
    EXPECT_TRUE(graph->warnings.empty());
  }
}

TEST(Import, ABranchThatCannotBeCompiledLeavesTheOther) {
  const auto graph = import_model(undecided_if({{"Mystery", {"x"}, {"r"}, {}, "", "odd"}}));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_THAT(graph->warnings,
              ElementsAre(HasSubstr("else branch, since the other one cannot be: node 'decide/odd' "
                                    "has the operator Mystery")));
}

// Each level of undecided branches is tried and then taken, with those in it.
TEST(ImportErrors, RefuseUndecidedBranchesInEachOtherWithoutEnd) {
  test::GraphText branch;
  branch.node({"MatMul", {"x", "x"}, {"r"}}).output("r");
  for (const std::size_t levels : {4U, 30U}) {
    std::string deepest = branch.bytes();
    for (std::size_t i = 0; i < levels; ++i) {
      test::GraphText other, around;
      other.node({"Relu", {"x"}, {"r"}}).output("r");
      around.node(
          {"If",
           {"c"},
           {"r"},
           {{"then_branch", test::Graphs{deepest}}, {"else_branch", test::Graphs{other.bytes()}}}});
      deepest = around.output("r").bytes();
    }
    test::GraphText text;
    text.input("x", {2, 2}).input("b", {2}, test::onnx_bool).scalar("zero", 0);
    text.node({"Gather", {"b", "zero"}, {"c"}});
    text.node(
        {"If",
         {"c"},
         {"y"},
         {{"then_branch", test::Graphs{deepest}}, {"else_branch", test::Graphs{branch.bytes()}}}});
    const auto graph = import_model(test::model(text.output("y")));
    if (levels == 4) {
      ASSERT_TRUE(graph) << error_of(graph);
      EXPECT_EQ(graph->nodes.size(), 2u);
      EXPECT_EQ(graph->warnings.size(), 5u);
    } else {
      EXPECT_THAT(error_of(graph), HasSubstr("simplify the model"));
    }
  }
}

// Merged decoders of exporters choose by an input whether there is a cache.
TEST(Import, TakesTheBranchThatAGivenInputDecides) {
  test::GraphText one, other, text;
  one.node({"Relu", {"x"}, {"a"}}).output("a");
  other.node({"Sigmoid", {"x"}, {"b"}}).output("b");
  text.input("x", {2}).input("use_cache", {1}, test::onnx_bool);
  text.node({"Not", {"use_cache"}, {"no_cache"}});
  text.node(
      {"If",
       {"no_cache"},
       {"y"},
       {{"then_branch", test::Graphs{one.bytes()}}, {"else_branch", test::Graphs{other.bytes()}}},
       "",
       "choose"});
  const std::string model = test::model(text.output("y"));
  EXPECT_THAT(
      error_of(import_model(model)),
      HasSubstr("give its input 'use_cache' a value (-onnx-define-symbol=use_cache,true), or"));
  for (const std::int64_t given : {0, 1}) {
    const auto graph = import_model(model, {.symbols = {{"use_cache", given}}});
    ASSERT_TRUE(graph) << error_of(graph);
    EXPECT_EQ(graph->nodes.back().op, given == 0 ? "Relu" : "Sigmoid");
    EXPECT_TRUE(graph->warnings.empty());
    EXPECT_EQ(graph->inputs.size(), 2u);
  }
}

std::size_t trips_of(const Result<Graph>& graph) {
  if (!graph) return 0;
  return std::size_t(std::ranges::count(graph->nodes, "Relu", &Node::op));
}

TEST(Import, MakesAsManyTripsAsTheCallerSaysOfTheNode) {
  const ImportOptions seven{.symbols = {{"again", 7}}};
  EXPECT_EQ(trips_of(import_model(test::loop_of("some", "", "same"), seven)), 7u);
  EXPECT_EQ(trips_of(import_model(test::loop_of("", "asked", "same"), seven)), 7u);
}

TEST(Import, MakesAsManyTripsAsAGivenInputSays) {
  EXPECT_EQ(trips_of(import_model(test::loop_of("some", "", "same"), {.symbols = {{"some", 3}}})),
            3u);
}

// Loops: the body once for each trip.

TEST(Import, WritesOutAScanTripByTrip) {
  const auto graph = import_model(test::scan_over(3, {}));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(graph->tensors[std::uint32_t(graph->outputs[0])].name, "last");
  EXPECT_EQ(output_shape(*graph), Shape{2});
  EXPECT_EQ((*graph)[graph->outputs[1]].shape, (Shape{3, 2}));
  std::vector<std::string> sums;
  std::set<TensorId> weights;
  for (const Node& node : graph->nodes) {
    if (node.op == "Add") sums.push_back(node.name);
    if (node.op == "Mul") weights.insert(node.inputs[1]);
  }
  EXPECT_THAT(sums, ElementsAre("cell/0/add", "cell/1/add", "cell/2/add"));
  EXPECT_EQ(weights.size(), 1u) << "trips share what the body weighs with";
}

TEST(Import, JoinsWhatAScanMakesBackwardsAndAlongAnotherAxis) {
  const auto graph = import_model(test::scan_over(3, {{"scan_output_axes", Ints{1}},
                                                      {"scan_input_directions", Ints{1}},
                                                      {"scan_output_directions", Ints{1}}}));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ((*graph)[graph->outputs[1]].shape, (Shape{2, 3}));
  std::vector<std::int64_t> read;
  for (const Node& node : graph->nodes)
    if (node.op == "Gather") read.push_back((*graph)[node.inputs[1]].values->front());
  EXPECT_THAT(read, ElementsAre(2, 1, 0));
}

TEST(Import, WritesOutALoopAsLongAsItIsKnownToGoOn) {
  EXPECT_EQ(trips_of(import_model(test::loop_of("five", "", "same"))), 5u);
  EXPECT_EQ(trips_of(import_model(test::loop_of("five", "", "early"))), 4u) << "i < 3 goes on";
  EXPECT_EQ(trips_of(import_model(test::loop_of("", "", "early"))), 4u);
  const auto graph = import_model(test::loop_of("five", "asked", "same"));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ(trips_of(graph), 5u);
  EXPECT_EQ((*graph)[graph->outputs[1]].shape, (Shape{5, 2}));
  EXPECT_THAT(graph->warnings, Contains(HasSubstr("'again' (Loop) may end before its 5 trips")));
}

TEST(ImportErrors, ExplainLoopsWithoutAnEnd) {
  EXPECT_THAT(error_of(import_model(test::loop_of("some", "", "same"))),
              StartsWith("m.onnx: node 'again' (Loop): its number of trips is only known at run"));
  EXPECT_THAT(error_of(import_model(test::loop_of("", "asked", "same"))),
              HasSubstr("ends when a condition says so that is only known at run time"));
  for (const char* trips : {"many", ""}) {
    EXPECT_THAT(error_of(import_model(test::loop_of(trips, "", "same"))),
                HasSubstr("more than the 4096 that the compiler writes out"));
  }
  EXPECT_THAT(error_of(import_model(test::scan_over(0, {}))), HasSubstr("in no trips at all"));
}

TEST(Import, ReducesTheShortestAxesWhereThoseAreOnlyKnownAtRunTime) {
  for (const std::int64_t keep : {0, 1}) {
    test::GraphText text;
    text.input("x", {8, 2, 4}).input("axes", {1}, test::onnx_int64);
    text.node({"ReduceSum", {"x", "axes"}, {"y"}, {{"keepdims", keep}}}).output("y");
    const auto graph = import_model(test::model(text));
    ASSERT_TRUE(graph) << error_of(graph);
    EXPECT_EQ(output_shape(*graph), keep ? (Shape{8, 1, 4}) : (Shape{8, 4}));
    EXPECT_THAT(graph->warnings, Contains(HasSubstr("compiled for the most, [8x")));
  }
}

// Constants

TEST(Import, KnowsWhatIsConstant) {
  test::GraphText text;
  text.input("x", {2, 3}).weight("w", {3, 4}).integers("fill", {5, 5});
  text.node({"Transpose", {"w"}, {"wt"}, {{"perm", Ints{1, 0}}}});
  text.node({"ConstantOfShape", {"fill"}, {"zeros"}});
  text.node({"Shape", {"x"}, {"shape"}});
  text.node({"RandomNormal", {}, {"noise"}, {{"shape", Ints{2, 3}}}});
  text.node({"Gemm", {"x", "wt"}, {"y"}, {{"transB", std::int64_t{1}}}}).output("y");
  const auto graph = import_model(test::model(text));
  ASSERT_TRUE(graph) << error_of(graph);
  std::vector<OpClass> classes;
  for (const Node& node : graph->nodes) classes.push_back(classify(*graph, node));
  EXPECT_THAT(classes, ElementsAre(OpClass::folded, OpClass::folded, OpClass::folded,
                                   OpClass::elementwise, OpClass::matmul));
}

TEST(Import, TakesWeightsInAllTheirForms) {
  std::string external = test::tensor("external", test::onnx_float, {1000, 1000});
  protozero::pbf_writer(external).add_int32(14, 1);  // data lies in another file
  std::string raw = test::tensor("raw", test::onnx_int64, {2});
  const std::int64_t shape[] = {6, -1};
  protozero::pbf_writer(raw).add_bytes(9, reinterpret_cast<const char*>(shape), sizeof(shape));
  test::GraphText text;
  text.input("x", {2, 3}).initializer(external).initializer(raw);
  text.node({"Reshape", {"x", "raw"}, {"y"}}).output("y");
  const auto graph = import_model(test::model(text));
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ((*graph)[TensorId{0}].bytes(), 4'000'000U);
  EXPECT_EQ(output_shape(*graph), (Shape{6, 1}));
  test::GraphText wrong;
  protozero::pbf_writer(raw).add_bytes(9, "short");
  wrong.initializer(raw).node({"Neg", {"raw"}, {"y"}}).output("y");
  EXPECT_EQ(error_of(import_model(test::model(wrong))),
            "m.onnx: tensor 'raw' needs 16 bytes of data but has 5; export the model again");
}

}  // namespace
}  // namespace npuscope::npu::import_test
