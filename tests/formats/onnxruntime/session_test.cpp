#include "formats/onnxruntime/session.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "formats/chrome/trace_text.hpp"

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

TEST(OnnxRuntime, OtherTracesStayWhatTheyAre) {
  const Profile profile = chrome::make_profile(chrome::test_support::read_text(
      R"([{"ph":"X","cat":"Node","pid":1,"tid":1,"ts":0,"dur":3,"name":"a_kernel_time"},
          {"ph":"X","cat":"step","pid":1,"tid":1,"ts":0,"dur":3,"name":"model_run"}])"));
  EXPECT_FALSE(is_session(profile));
  EXPECT_FALSE(is_session(Profile()));
}

}  // namespace
}  // namespace npuscope::onnxruntime::session_test
