// Sequences of tensors, whose number is known when the model is compiled.
#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::sequences_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Graph> import_model(const test::GraphText& text) {
  return import_onnx(as_byte_span(test::model(text)), "m.onnx", {});
}

std::string error_of(const test::GraphText& text) {
  const auto graph = import_model(text);
  return graph ? "no error" : graph.error().message;
}

// Operators, and shapes of outputs; or the error.
std::vector<std::string> made(const test::GraphText& text) {
  const auto graph = import_model(text);
  if (!graph) return {graph.error().message};
  std::vector<std::string> made;
  for (const Node& node : graph->nodes) made.push_back(node.op);
  for (const TensorId id : graph->outputs) {
    std::string shape;
    for (const std::int64_t extent : (*graph)[id].shape) shape += "x" + std::to_string(extent);
    made.push_back(shape.substr(shape.empty() ? 0 : 1));
  }
  return made;
}

test::GraphText start() {
  test::GraphText text;
  text.input("x", {6, 4}).input("y", {6, 4}).input("some", {}, test::onnx_int64);
  text.scalar("one", 1).scalar("last", -1).scalar("four", 4).integers("parts", {1, 5});
  return text;
}

TEST(Sequences, AreSplitIntoTheirElements) {
  EXPECT_THAT(made(start()
                       .node({"SplitToSequence", {"x", "four"}, {"s"}})
                       .node({"SequenceAt", {"s", "last"}, {"a"}})
                       .node({"Relu", {"a"}, {"b"}})
                       .output("b")),
              ElementsAre("Split", "Relu", "2x4"));
  EXPECT_THAT(made(start().node({"SplitToSequence", {"x", "parts"}, {"s"}}).output("s")),
              ElementsAre("Split", "1x4", "5x4"));
  EXPECT_THAT(made(start()
                       .node({"SplitToSequence", {"x"}, {"s"}, {{"axis", std::int64_t{-1}}}})
                       .output("s")),
              ElementsAre("Split", "6x1", "6x1", "6x1", "6x1"));
  EXPECT_THAT(made(start()
                       .node({"SplitToSequence",
                              {"x"},
                              {"s"},
                              {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}})
                       .output("s")),
              ElementsAre("Gather", "Gather", "Gather", "Gather", "6", "6", "6", "6"));
}

TEST(Sequences, AreJoinedFromTheirElements) {
  const auto joined = [](std::int64_t new_axis) {
    return made(start()
                    .node({"SequenceEmpty", {}, {"s0"}})
                    .node({"SequenceInsert", {"s0", "x"}, {"s1"}})
                    .node({"SequenceInsert", {"s1", "y", "last"}, {"s2"}})
                    .node({"ConcatFromSequence",
                           {"s2"},
                           {"z"},
                           {{"axis", std::int64_t{0}}, {"new_axis", new_axis}}})
                    .output("z"));
  };
  EXPECT_THAT(joined(0), ElementsAre("Concat", "12x4"));
  EXPECT_THAT(joined(1), ElementsAre("Unsqueeze", "Unsqueeze", "Concat", "2x6x4"));
  EXPECT_THAT(made(start()
                       .node({"SequenceConstruct", {"x", "y", "x"}, {"s"}})
                       .node({"SequenceErase", {"s", "one"}, {"t"}})
                       .node({"Identity", {"t"}, {"u"}})
                       .node({"SequenceLength", {"u"}, {"n"}})
                       .node({"Range", {"one", "n", "one"}, {"r"}})
                       .node({"ConcatFromSequence", {"u"}, {"z"}, {{"axis", std::int64_t{1}}}})
                       .output("z")
                       .output("r")),
              ElementsAre("Range", "Concat", "6x8", "1"));
}

// What exporters write of a list that a loop fills.
TEST(Sequences, GrowInLoops) {
  test::GraphText body, text = start();
  body.input("i", {}, test::onnx_int64).input("c", {}, test::onnx_bool).input("s", {});
  body.node({"Relu", {"x"}, {"r"}}).node({"SequenceInsert", {"s", "r"}, {"t"}});
  body.node({"Identity", {"c"}, {"d"}}).output("d").output("t");
  text.node({"SequenceEmpty", {}, {"none"}});
  text.node({"Loop", {"four", "", "none"}, {"all"}, {{"body", test::Graphs{body.bytes()}}}});
  text.node({"ConcatFromSequence", {"all"}, {"z"}, {{"axis", std::int64_t{0}}}}).output("z");
  const auto ops = made(text);
  EXPECT_EQ(std::ranges::count(ops, "Relu"), 4);
  EXPECT_EQ(ops.back(), "24x4");
}

TEST(Sequences, OfOneTensorThatMayBeLeftOutAreIt) {
  EXPECT_THAT(made(start()
                       .node({"Optional", {"x"}, {"o"}})
                       .node({"OptionalHasElement", {"o"}, {"has"}})
                       .node({"OptionalGetElement", {"o"}, {"e"}})
                       .node({"Where", {"has", "e", "y"}, {"z"}})
                       .output("z")),
              ElementsAre("Where", "6x4"));
}

TEST(Sequences, SayWhatIsWrongWithThem) {
  EXPECT_THAT(error_of(start()
                           .node({"SequenceConstruct", {"x", "y"}, {"s"}})
                           .node({"SequenceAt", {"s", "some"}, {"a"}, {}, "", "pick"})
                           .output("a")),
              HasSubstr("node 'pick' (SequenceAt): its position is only known at run time"));
  EXPECT_THAT(error_of(start()
                           .node({"SequenceConstruct", {"x", "y"}, {"s"}})
                           .node({"SequenceAt", {"s", "four"}, {"a"}})
                           .output("a")),
              HasSubstr("position 4 is not one of 2 elements"));
  EXPECT_THAT(error_of(start()
                           .node({"SequenceEmpty", {}, {"s"}})
                           .node({"SequenceAt", {"s", "last"}, {"a"}})
                           .output("a")),
              HasSubstr("position -1 is not one of 0 elements"));
  EXPECT_THAT(error_of(start().node({"SequenceAt", {"x", "one"}, {"a"}}).output("a")),
              HasSubstr("its input 0 is not a sequence"));
  EXPECT_THAT(error_of(start()
                           .node({"SequenceConstruct", {"x", "y"}, {"s"}})
                           .node({"Relu", {"s"}, {"a"}, {}, "", "act"})
                           .output("a")),
              HasSubstr("node 'act' (Relu) reads the sequence 's'"));
  EXPECT_THAT(error_of(start().node({"SplitToSequence", {"x", "some"}, {"s"}}).output("s")),
              HasSubstr("its sizes are only known at run time"));
  EXPECT_THAT(error_of(start()
                           .node({"SequenceEmpty", {}, {"s"}})
                           .node({"ConcatFromSequence", {"s"}, {"a"}, {{"axis", std::int64_t{0}}}})
                           .output("a")),
              HasSubstr("joins an empty sequence"));
  test::GraphText wide;
  wide.input("x", {std::int64_t{1} << 40}).node({"SplitToSequence", {"x"}, {"s"}}).output("s");
  EXPECT_THAT(error_of(wide), HasSubstr("simplify the model"));
}

}  // namespace
}  // namespace npuscope::npu::sequences_test
