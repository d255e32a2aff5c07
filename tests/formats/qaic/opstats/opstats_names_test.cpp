#include "formats/qaic/opstats/opstats_names.hpp"

#include <gtest/gtest.h>

namespace npuscope::qaic::opstats_names_test {
namespace {

using Kind = TrackName::Kind;

TEST(ParseTrackName, ReadsAllForms) {
  const auto core = *parse_track_name("QAicGraph_slice00_Core_3");
  EXPECT_EQ(core.kind, Kind::core);
  EXPECT_EQ(core.label, "QAicGraph_slice00");
  EXPECT_EQ(core.core, 3u);

  const auto engine = *parse_track_name("QAicGraph_Core_10_HMX");
  EXPECT_EQ(engine.kind, Kind::engine);
  EXPECT_EQ(engine.label, "QAicGraph");
  EXPECT_EQ(engine.core, 10u);
  EXPECT_EQ(engine.group, "HMX");

  const auto partition = *parse_track_name("QAicGraph_Partition0_slice00_Core_0_DMAIssue");
  EXPECT_EQ(partition.label, "QAicGraph_Partition0_slice00");
  EXPECT_EQ(partition.group, "DMAIssue");
  EXPECT_EQ(partition.kind, Kind::engine);

  EXPECT_EQ(parse_track_name("QAicGraph__Core_0")->label, "QAicGraph_");
  EXPECT_EQ(parse_track_name("QAicGraph_Core_3_DMAIssue_DMA")->kind, Kind::dma);
  EXPECT_EQ(parse_track_name("QAicGraph_Core_3_HVX_DMA_2")->kind, Kind::dma);
  EXPECT_EQ(parse_track_name("QAicGraph_Core_3_HMX_Barrier")->kind, Kind::barrier);

  const auto thread = *parse_track_name("QAicGraph_Core_3_HVX_T2_Barrier");
  EXPECT_EQ(thread.thread, 2u);
  EXPECT_EQ(thread.group, "HVX");
  EXPECT_EQ(thread.kind, Kind::barrier);
}

TEST(ParseTrackName, RefusesWhatIsNone) {
  for (const char* name :
       {"", "main", "_Core_", "x_Core_y", "x_Core_1_", "x_Core_1_HVX_Foo", "x_Core_1_DMA",
        "x_Core_99999999999", "x_Core_1_HVX_DMA_x", "x_Core_1_HVX_Barrier_1"}) {
    EXPECT_FALSE(parse_track_name(name) && !std::string_view(name).ends_with("1_")) << name;
  }
}

TEST(ParseProcessName, ReadsThoseOfRuntimesAndOfMergedTraces) {
  const ProcessName runtime = parse_process_name("Program:BenchmarkSet_10 [QAicGraph_Core_7]");
  EXPECT_EQ(runtime.label, "QAicGraph");
  EXPECT_EQ(runtime.core, 7u);
  EXPECT_EQ(parse_process_name("Process 3").core, 3u);
  EXPECT_TRUE(parse_process_name("HOST_PROC (pid 18)").is_host);
  const ProcessName merged = parse_process_name("QAicGraph_Core_2 device 1 activation 3");
  EXPECT_EQ(merged.core, 2u);
  EXPECT_EQ(merged.device, 1u);
  EXPECT_EQ(parse_process_name("python3").core, std::nullopt);
}

TEST(ParseSliceName, TakesTheInferenceOff) {
  const auto is = [](std::string_view name, std::string_view op_kind, std::string_view kernel,
                     std::optional<std::uint32_t> inference) {
    const SliceName slice = parse_slice_name(name, op_kind);
    EXPECT_EQ(slice.kernel, kernel) << name;
    EXPECT_EQ(slice.inference, inference) << name;
  };
  is("aicconvolutiond32-Inf-6", "", "aicconvolutiond32", 6);
  is("aicsoftmax (3)", "", "aicsoftmax", 3);
  is("aicsoftmaxmaskedd32-3", "aicsoftmaxmaskedd32", "aicsoftmaxmaskedd32", 3);
  is("elementadd -4", "elementadd", "elementadd -4", std::nullopt);
  is("kernel-3", "", "kernel-3", std::nullopt);  // perhaps its name
  is("kernel-3", "kernel-3", "kernel-3", std::nullopt);
  is("elementadd ", "", "elementadd", std::nullopt);
  is("f (x)", "", "f (x)", std::nullopt);
}

TEST(ParseSliceName, TellsWaitsAndWholeInferences) {
  EXPECT_EQ(parse_slice_name("sync HVX", "").kind, SpanKind::sync);
  EXPECT_EQ(parse_slice_name("sync HVX-3", "").inference, 3u);
  EXPECT_EQ(parse_slice_name("sync HVX-3", "").group, "HVX");
  EXPECT_EQ(parse_slice_name("barrier DMAIssue-Inf-2", "").group, "DMAIssue");
  EXPECT_EQ(parse_slice_name("barrier DMAIssue-Inf-2", "").kind, SpanKind::barrier);
  EXPECT_EQ(parse_slice_name("Core-12-Execution", "").kind, SpanKind::inference);
  EXPECT_EQ(parse_slice_name("Device_0", "").kind, SpanKind::inference);
  EXPECT_EQ(parse_slice_name("aicsoftmax", "").kind, SpanKind::op);
}

}  // namespace
}  // namespace npuscope::qaic::opstats_names_test
