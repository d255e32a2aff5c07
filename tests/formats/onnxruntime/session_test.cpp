#include "formats/onnxruntime/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "formats/chrome/trace_text.hpp"
#include "formats/onnxruntime/node_tensors.hpp"

namespace npuscope::onnxruntime::session_test {
namespace {

using testing::ElementsAre;

// An event as ONNX Runtime writes it, one a line.
std::string session(std::string_view name, int begin, int duration, int thread = 1) {
  return fmt::format(
      R"({{"cat" : "Session","pid" :9,"tid" :{},"dur" :{},"ts" :{},"ph" : "X","name" :"{}","args" : {{}}}})",
      thread, duration, begin, name);
}
std::string node(std::string_view name, std::string_view type, std::string_view provider, int begin,
                 int duration, int thread = 1) {
  return fmt::format(
      R"({{"cat" : "Node","pid" :9,"tid" :{},"dur" :{},"ts" :{},"ph" : "X","name" :"{}","args" : {{"op_name" : "{}","provider" : "{}","node_index" : "0"}}}})",
      thread, duration, begin, name, type, provider);
}

// With tensors, as they are pasted: input_type_shape, output_type_shape and counts of bytes.
std::string tensor_node(std::string_view name, std::string_view type, std::string_view inputs,
                        std::string_view outputs, int parameters, int begin) {
  return fmt::format(
      R"({{"cat" : "Node","pid" :9,"tid" :1,"dur" :5,"ts" :{},"ph" : "X","name" :"{}","args" : {{"input_type_shape" : [{}],"op_name" : "{}","activation_size" : "128","parameter_size" : "{}","output_type_shape" : [{}],"output_size" : "40","provider" : "CPUExecutionProvider"}}}})",
      begin, name, inputs, type, parameters, outputs);
}

Profile profile_of(const std::vector<std::string>& events) {
  Profile profile = chrome::make_profile(
      chrome::test_support::read_text(fmt::format("[\n{}\n]\n", fmt::join(events, ",\n"))));
  EXPECT_TRUE(is_session(profile));
  if (is_session(profile)) make_session(profile);
  return profile;
}

// "conv Conv in 0 +40 host", a line for each span.
std::vector<std::string> spans_of(const Profile& profile) {
  std::vector<std::string> lines;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Op& op = profile.ops[index_of(spans.op[row])];
    const std::uint32_t run = spans.instance.empty() ? every_instance : spans.instance[row];
    lines.push_back(fmt::format("{} {} in {} +{} {}", profile.text(op.name),
                                profile.text(op.node_kind),
                                run == every_instance ? "-" : std::to_string(run),
                                spans.duration[row] / 1000, int(spans.kind[row])));
  }
  return lines;
}

std::string kind(SpanKind of) { return std::to_string(int(of)); }

constexpr std::string_view cpu = "CPUExecutionProvider", qnn = "QNNExecutionProvider";

TEST(OnnxRuntime, InitialisationWasNineTenthsOfTheWork) {
  const Profile profile = profile_of(
      {session("model_loading_uri", 0, 500), session("session_initialization", 600, 33'000),
       node("conv_nchwc_kernel_time", "Conv", cpu, 50'010, 80),
       session("SequentialExecutor::Execute", 50'005, 90), session("model_run", 50'000, 100),
       node("conv_nchwc_kernel_time", "Conv", cpu, 60'010, 40),
       session("SequentialExecutor::Execute", 60'005, 50), session("model_run", 60'000, 60)});
  EXPECT_THAT(spans_of(profile),
              ElementsAre("model_loading_uri  in - +500 " + kind(SpanKind::activation),
                          "session_initialization  in - +33000 " + kind(SpanKind::activation),
                          "conv_nchwc Conv in 0 +80 " + kind(SpanKind::host),
                          "SequentialExecutor::Execute  in 0 +90 " + kind(SpanKind::annotation),
                          "model_run  in 0 +100 " + kind(SpanKind::inference),
                          "conv_nchwc Conv in 1 +40 " + kind(SpanKind::host),
                          "SequentialExecutor::Execute  in 1 +50 " + kind(SpanKind::annotation),
                          "model_run  in 1 +60 " + kind(SpanKind::inference)));
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(profile.provenance.device, cpu);
  const Op& conv = profile.ops[index_of(profile.spans.op[2])];
  EXPECT_EQ(profile.text(conv.node), "conv");
}

TEST(OnnxRuntime, NodesOfOtherProvidersAreWorkOfADevice) {
  const Profile profile = profile_of({node("QNN_0_0_kernel_time", "QNN_0_0", qnn, 10, 900),
                                      node("Resize_12_kernel_time", "Resize", cpu, 910, 420),
                                      node("Resize_12_fence_before", "Resize", cpu, 909, 1),
                                      session("model_run", 0, 1400)});
  EXPECT_THAT(spans_of(profile),
              ElementsAre("QNN_0_0 QNN_0_0 in 0 +900 " + kind(SpanKind::kernel),
                          "Resize_12 Resize in 0 +420 " + kind(SpanKind::host),
                          "Resize_12_fence_before  in 0 +1 " + kind(SpanKind::runtime_call),
                          "model_run  in 0 +1400 " + kind(SpanKind::inference)));
  EXPECT_EQ(profile.ops[index_of(profile.spans.op[0])].engine, Engine::compute);
  EXPECT_EQ(profile.ops[index_of(profile.spans.op[1])].engine, Engine::host);
}

// Their time was in no inference: the node lost what they took, and the CPU's share rose.
TEST(OnnxRuntime, OperatorsWithinANodeOfAProviderWereWithoutWork) {
  const auto within = [](std::string_view name, std::string_view type, int begin, int duration) {
    return fmt::format(
        R"({{"cat" : "Kernel","pid" :9,"tid" :1,"dur" :{},"ts" :{},"ph" : "X","name" :"{}","args" : {{"op_name" : "{}","node_name" : "/model/{}"}}}})",
        duration, begin, name, type, name);
  };
  const Profile profile = profile_of(
      {node("QNN_0_0_kernel_time", "QNN_0_0", qnn, 10, 900), within("conv1", "Conv", 20, 500),
       within("relu1", "Relu", 520, 300), session("model_run", 0, 1000)});
  EXPECT_THAT(spans_of(profile), ElementsAre("QNN_0_0 QNN_0_0 in 0 +900 " + kind(SpanKind::kernel),
                                             "conv1 Conv in 0 +500 " + kind(SpanKind::kernel),
                                             "relu1 Relu in 0 +300 " + kind(SpanKind::kernel),
                                             "model_run  in 0 +1000 " + kind(SpanKind::inference)));
  EXPECT_EQ(profile.text(profile.ops[index_of(profile.spans.op[1])].node), "/model/conv1");
  EXPECT_EQ(profile.ops[index_of(profile.spans.op[1])].engine, Engine::compute);
}

// The executor of a Loop's body has the session's name, and body's nodes are within the Loop's.
TEST(OnnxRuntime, TurnsOfALoopAreNotInferences) {
  std::vector<std::string> events;
  for (int turn = 0; turn < 3; ++turn) {
    events.push_back(node("body/MatMul_kernel_time", "MatMul", cpu, 20 + 20 * turn, 10));
    events.push_back(session("SequentialExecutor::Execute", 18 + 20 * turn, 15));
  }
  events.push_back(node("the loop_kernel_time", "Loop", cpu, 10, 80));
  events.push_back(session("SequentialExecutor::Execute", 5, 90));
  events.push_back(session("model_run", 0, 100));
  const Profile profile = profile_of(events);
  EXPECT_EQ(profile.provenance.inferences, 1u);
  std::int64_t outermost = 0;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Op& op = profile.ops[index_of(profile.spans.op[row])];
    EXPECT_EQ(profile.spans.kind[row] == SpanKind::annotation,
              profile.text(op.name) == "SequentialExecutor::Execute");
    if (profile.text(op.node_kind) == "Loop") outermost += profile.spans.duration[row];
  }
  EXPECT_EQ(outermost, 80'000);
}

// Up to 1.20.1 each node has two, which mostly take no time.
TEST(OnnxRuntime, FencesWithoutATimeWereOpsWithoutWork) {
  const Profile profile =
      profile_of({node("a_fence_before", "", cpu, 10, 0), node("a_kernel_time", "Add", cpu, 10, 5),
                  node("a_fence_after", "", cpu, 15, 0), session("model_run", 0, 100)});
  EXPECT_EQ(profile.spans.kind[0], SpanKind::annotation);
  EXPECT_EQ(profile.spans.kind[1], SpanKind::host);
  EXPECT_EQ(profile.spans.kind[2], SpanKind::annotation);
}

// Each thread that runs the session has runs of its own; a thread of a pool works for that of its
// time.
TEST(OnnxRuntime, RunsOfSeveralThreadsInterleave) {
  const Profile profile = profile_of(
      {session("model_run", 0, 100, 1), node("a_kernel_time", "Add", cpu, 10, 5, 1),
       session("model_run", 50, 100, 2), node("a_kernel_time", "Add", cpu, 60, 6, 2),
       node("a_kernel_time", "Add", cpu, 70, 7, 1), node("a_kernel_time", "Add", cpu, 120, 8, 3)});
  std::vector<std::uint32_t> instances(profile.spans.instance.begin(),
                                       profile.spans.instance.end());
  EXPECT_THAT(instances, ElementsAre(0u, 0u, 1u, 1u, 0u, 1u));
}

TEST(OnnxRuntime, ACutRunIsCountedNowhere) {
  const Profile profile = profile_of(
      {node("a_kernel_time", "Add", cpu, 10, 5), session("model_run", 0, 100),
       node("a_kernel_time", "Add", cpu, 210, 50), session("profile_truncated", 300, 0)});
  EXPECT_EQ(profile.spans.kind[2], SpanKind::profiler);
  std::vector<std::string> warnings;
  for (const Note& note : profile.notes) {
    if (note.severity == Severity::warning) warnings.push_back(note.message);
  }
  EXPECT_THAT(warnings,
              ElementsAre("the recorder was full (profile_truncated): later runs are missing; "
                          "record fewer",
                          "nodes of a run whose end was not recorded; they are counted nowhere"));
}

TEST(OnnxRuntime, ARunThatFailedCountedWithoutAWord) {
  std::vector<std::string> events{session("session_initialization", 0, 100)};
  for (int run = 0; run < 4; ++run) {
    const int begin = 1000 * (run + 1);
    events.push_back(node("a_kernel_time", "Relu", cpu, begin + 10, 20));
    if (run != 2) events.push_back(node("b_kernel_time", "Add", cpu, begin + 40, 20));
    events.push_back(session("model_run", begin, 100));
  }
  const Profile profile = profile_of(events);
  const auto found = std::ranges::find_if(profile.notes, [](const Note& note) {
    return note.message.starts_with("runs without 'b', with which the others end");
  });
  ASSERT_NE(found, profile.notes.end());
  EXPECT_EQ(found->count, 1u);
  EXPECT_EQ(found->severity, Severity::warning);
}

TEST(OnnxRuntime, AFullRecorderSaysWhatItDropped) {
  const Profile profile = profile_of(
      {node("a_kernel_time", "Add", cpu, 10, 5), session("model_run", 0, 100),
       R"({"cat" : "Session","pid" :9,"tid" :1,"dur" :0,"ts" :300,"ph" : "X","name" :"profile_truncated","args" : {"max_num_events" : "1000000","dropped_event_count" : "32062"}})"});
  ASSERT_EQ(profile.measures.size(), 1u);
  EXPECT_EQ(profile.text(profile.measures[0].what), "events dropped");
  EXPECT_EQ(profile.measures[0].meaning.role, NumberRole::lost_events);
  EXPECT_EQ(profile.measures[0].value, 32062);
}

TEST(OnnxRuntime, NamesLoseWhatTheOptimizerAdded) {
  const Profile profile =
      profile_of({node("relu1_nchwc_kernel_time", "Conv", cpu, 10, 5),
                  node("/l/MatMul/MatMulAddFusion_kernel_time", "Gemm", cpu, 20, 5),
                  node("x_token_12_kernel_time", "Reorder", cpu, 30, 5),
                  node("_token__kernel_time", "Add", cpu, 40, 5), session("model_run", 0, 100)});
  std::vector<std::string> nodes;
  for (const Op& op : profile.ops) nodes.emplace_back(profile.text(op.node));
  EXPECT_THAT(nodes, ElementsAre("relu1", "/l/MatMul", "x", "_token_", ""));
}

// "Gemm [1,10] float, 40 bytes: in float [1,32] | out ...; parameters 40; product of [..] [..]".
std::string tensors_of(const Profile& profile, std::string_view name) {
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Op& op = profile.ops[index_of(profile.spans.op[row])];
    if (profile.text(op.name) != name) continue;
    std::string text =
        fmt::format("{} {} {}:", profile.text(op.shape), profile.text(op.types), op.output.value);
    for (const char c : profile.text(op.operands)) text += c == '\n' ? '|' : c;
    for (const MeasureColumn& column : profile.spans.measures) {
      const bool known = column.values[row] != MeasureColumn::missing;
      text += fmt::format("; {} {}", profile.text(column.what),
                          known ? std::to_string(column.values[row]) : "unknown");
    }
    text += "; product";
    for (const Operand& operand : profile.operand_lists[op.operand_list]) {
      text += fmt::format(" {}x{}", fmt::join(profile.shapes[operand.shape], "."), operand.bits);
    }
    return text;
  }
  return "none";
}

TEST(OnnxRuntime, ShapesBytesAndProductsComeFromTheArguments) {
  const Profile profile = profile_of(
      {tensor_node("conv_kernel_time", "Conv",
                   R"({"float":[1,3,8,8]},{"float":[16,3,3,3]},{"float":[16]})",
                   R"({"float":[1,16,8,8]})", 1792, 10),
       tensor_node("qk_kernel_time", "MatMul", R"({"float16":[4,64,16]},{"float16":[4,16,64]})",
                   R"({"float16":[4,64,64]})", 0, 20),
       tensor_node("cast_kernel_time", "Cast", R"({"int64":[]})", R"({"float":[]})", 0, 30),
       session("model_run", 0, 100)});
  EXPECT_EQ(tensors_of(profile, "conv"),
            "[1,16,8,8] float 40:in float [1,3,8,8]|in float [16,3,3,3]|in float [16]|"
            "out float [1,16,8,8]; input bytes 128; parameter bytes 1792; "
            "product 1.3.8.8x32 16.3.3.3x32 1.16.8.8x32");
  EXPECT_EQ(tensors_of(profile, "qk"),
            "[4,64,64] float16 40:in float16 [4,64,16]|in float16 [4,16,64]|"
            "out float16 [4,64,64]; input bytes 128; parameter bytes 0; "
            "product 4.64.16x16 4.16.64x16 4.64.64x16");
  EXPECT_EQ(tensors_of(profile, "cast"),
            "[] int64, float 40:in int64 []|out float []; input bytes 128; parameter bytes 0; "
            "product");
}

// A weight that was packed in advance stands neither in the shapes nor in the bytes.
TEST(OnnxRuntime, WeightsOfProductsArePackedInAdvance) {
  const Profile profile = profile_of(
      {tensor_node("fc_kernel_time", "Gemm", R"({"float":[1,32]},{"float":[10]})",
                   R"({"float":[1,10]})", 40, 10),
       tensor_node("wide_bias_kernel_time", "Gemm", R"({"float":[1,32]},{"float":[1,10]})",
                   R"({"float":[1,10]})", 40, 20),
       tensor_node("whole_kernel_time", "Gemm", R"({"float":[1,32]},{"float":[10,32]})",
                   R"({"float":[1,10]})", 1280, 30),
       tensor_node("mm_kernel_time", "MatMul", R"({"float":[64,32]})", R"({"float":[64,10]})", 0,
                   40),
       session("model_run", 0, 100)});
  for (const char* packed : {"fc", "wide_bias", "mm"}) {
    EXPECT_THAT(tensors_of(profile, packed), testing::EndsWith("parameter bytes unknown; product"));
  }
  EXPECT_THAT(tensors_of(profile, "whole"),
              testing::EndsWith("parameter bytes 1280; product 1.32x32 10.32x32 1.10x32"));
  std::uint64_t packed = 0;
  for (const Note& note : profile.notes) {
    if (note.message.starts_with("nodes whose weights were packed")) packed = note.count;
  }
  EXPECT_EQ(packed, 3u);
}

TEST(OnnxRuntime, ShapesThatChangeAreNone) {
  const Profile profile = profile_of(
      {tensor_node("a_kernel_time", "Relu", R"({"float":[1,3]})", R"({"float":[1,3]})", 0, 10),
       tensor_node("a_kernel_time", "Relu", R"({"float":[1,4]})", R"({"float":[1,4]})", 0, 20),
       session("model_run", 0, 100)});
  EXPECT_EQ(tensors_of(profile, "a"), " float 0:; input bytes 128; parameter bytes 0; product");
}

TEST(OnnxRuntime, BrokenShapesAreRead) {
  for (const char* shapes : {R"({"float":[1,)", R"({"float":[9999999999999999999999,-1,0]})",
                             R"({"a)", R"({"a":[)", R"(7)", R"({"":[]})"}) {
    EXPECT_LE(tensors_in(shapes).size(), 1u) << shapes;
  }
}

// A part of the model that a provider took as a whole, and what says so.
TEST(OnnxRuntime, PartsOfTheModelAreCounted) {
  const Profile profile =
      profile_of({node("QNNExecutionProvider_QNN_77_0_kernel_time", "QNN_77_0", qnn, 10, 900),
                  node("own_kernel_time", "Conv", qnn, 910, 10), session("model_run", 0, 1400)});
  std::uint64_t parts = 0;
  for (const Note& note : profile.notes) {
    if (note.message.starts_with("nodes that are a part of the model")) parts = note.count;
  }
  EXPECT_EQ(parts, 1u);
}

// The optimizer's own nodes of one name stay apart.
TEST(OnnxRuntime, TokensOfSeveralNodesStay) {
  const Profile profile = profile_of({node("Gelu_kernel_time", "Gelu", cpu, 10, 5),
                                      node("Gelu_token_4_kernel_time", "Gelu", cpu, 20, 5),
                                      node("x_token_4_kernel_time", "Reorder", cpu, 30, 5),
                                      session("model_run", 0, 100)});
  std::vector<std::string> nodes;
  for (const Op& op : profile.ops) nodes.emplace_back(profile.text(op.node));
  EXPECT_THAT(nodes, ElementsAre("Gelu", "Gelu_token_4", "x", ""));
}

// A session that failed, or that nobody ran.
TEST(OnnxRuntime, SettingUpAloneIsNoWork) {
  const Profile profile = profile_of(
      {session("model_loading_uri", 0, 500), session("session_initialization", 600, 33'000)});
  EXPECT_THAT(spans_of(profile),
              ElementsAre("model_loading_uri  in - +500 " + kind(SpanKind::activation),
                          "session_initialization  in - +33000 " + kind(SpanKind::activation)));
  EXPECT_EQ(profile.provenance.inferences, 0u);
  EXPECT_EQ(profile.notes.back().message,
            "no run of the session was recorded, only that it was set up");
}

TEST(OnnxRuntime, OtherTracesStayWhatTheyAre) {
  const Profile profile = chrome::make_profile(chrome::test_support::read_text(
      R"([{"ph":"X","cat":"Node","pid":1,"tid":1,"ts":0,"dur":3,"name":"a_kernel_time"},
          {"ph":"X","cat":"step","pid":1,"tid":1,"ts":0,"dur":3,"name":"model_run"}])"));
  EXPECT_FALSE(is_session(profile));
  EXPECT_FALSE(is_session(Profile()));
}

}  // namespace
}  // namespace npuscope::onnxruntime::session_test
